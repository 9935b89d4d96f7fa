"""Who uploads files during a soak, has documents read of them, and deletes them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from tests.soak.actors import Actor, words_in
from tests.soak.history import ABSENT, Reply, Thing
from tests.soak.memory_actor import MEMORIES

if TYPE_CHECKING:
    from tests.soak.actors import Ask

FILES = "/v1/files"
MOST = 6
"""Files at a time: each that becomes a document is read by a process of its own."""


@dataclass
class Upload:
    """A file: its bytes, what may be there of it, and the task of the document that was asked for."""

    content: bytes
    thing: Thing = field(default_factory=Thing)
    sent: dict[str, Any] | None = None
    task: str | None = None
    asked: bool = False


@dataclass
class Files(Actor):
    """One user's files."""

    uploads: dict[str, Upload] = field(default_factory=dict)

    @property
    def is_under_way(self) -> bool:
        return any(upload.task for upload in self.uploads.values())

    def step(self) -> None:
        live = [name for name, upload in self.uploads.items() if upload.thing.possible != [ABSENT] or upload.sent]
        if len(live) < MOST and self.draw.random() < 0.5:
            self.announce()
        elif live:
            name = self.draw.choice(live)
            kinds = (self.complete, self.read_content, self.learn, self.delete)
            self.draw.choices(kinds, (6, 3, 2, 1))[0](name)

    def announce(self) -> None:
        content = f"{self.name} wrote that {self.word()} is in the cellar.\n".encode() * 3
        wish = {"user_id": self.name, "filename": f"f{self.serial}.txt", "size": len(content)}
        reply = self.ask("POST", FILES, json=wish)
        if reply.acknowledged:
            told = reply.json["data"]
            self.uploads[told["id"]] = Upload(content, sent=told["upload"])

    def complete(self, name: str) -> None:
        upload = self.uploads[name]
        if upload.sent is None:
            return
        url = urlsplit(upload.sent["url"])
        # The signature is for the address that was told: the server keeps its port through every start.
        put = self.ask("PUT", f"{url.path}?{url.query}", data=upload.content, signed=upload.sent["headers"])
        if put.status not in {200, 412}:
            return
        reply = self.ask("POST", f"{FILES}/{name}/complete")
        upload.thing.write(upload.content, reply)
        upload.sent = None if reply.acknowledged else upload.sent

    def read_content(self, name: str, ask: Ask | None = None) -> None:
        upload = self.uploads[name]
        reply = (ask or self.ask)("GET", f"{FILES}/{name}/content")
        if reply.status == 409:  # announced, and its bytes have not come
            reply = Reply(404)
        value = reply.body if reply.acknowledged else ABSENT
        self.read("a file is what was uploaded, until it is deleted", upload.thing, reply, value)

    def learn(self, name: str) -> None:
        upload = self.uploads[name]
        if upload.asked or upload.thing.possible != [upload.content]:
            return
        upload.asked = True
        part = {"type": "file", "file": {"file_id": name}}
        messages = [{"role": "user", "content": [part], "timestamp": -1}]
        body = {"user_id": self.name, "content_type": "document", "messages": messages}
        reply = self.ask("POST", f"{MEMORIES}/add", json=body, headers={"Idempotency-Key": name})
        upload.task = reply.json["data"]["task_id"] if reply.acknowledged else None

    def delete(self, name: str) -> None:
        upload = self.uploads[name]
        if upload.thing.possible == [upload.content]:
            upload.thing.write(ABSENT, self.ask("DELETE", f"{FILES}/{name}"))

    # ---- In the end --------------------------------------------------------------------------------------------

    def check(self, ask: Ask) -> None:
        for name in self.uploads:
            self.read_content(name, ask)
        listed = {told["id"] for told in self._listed(ask) if told["status"] == "ready"}
        there = {name for name, upload in self.uploads.items() if upload.thing.possible != [ABSENT]}
        told = (self.name, sorted(listed ^ there))
        self.history.hold("the list has every file there is", holds=listed == there, told=told)
        for name, upload in self.uploads.items():
            self._check_document(ask, name, upload)

    def gone(self) -> set[str]:
        """Return the words of files that were deleted; what was never completed waits for the bucket's rule."""
        deleted = [each for each in self.uploads.values() if each.thing.possible == [ABSENT] and each.sent is None]
        return {word for upload in deleted for word in words_in(upload.content)}

    def _listed(self, ask: Ask) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        cursor = ""
        while True:
            told = ask("GET", f"{FILES}?user_id={quote(self.name)}&limit=100{cursor}").json["data"]
            found += told["data"]
            if not told["next_cursor"]:
                return found
            cursor = f"&cursor={told['next_cursor']}"

    def _check_document(self, ask: Ask, name: str, upload: Upload) -> None:
        (word,) = words_in(upload.content)
        body = {"user_id": self.name, "query": word, "sources": ["document"], "k_dense": 0, "k_sparse": 5}
        reply = ask("POST", f"{MEMORIES}/search", json=body)
        texts = [hit["memory"] for hit in reply.json["data"]["data"]]
        found = any(word in text for text in texts)
        if upload.thing.possible == [ABSENT]:
            told: Any = (name, word, texts)
            self.history.hold("nothing is found of a file that was deleted", holds=not found, told=told)
        elif upload.task:
            status = ask("GET", f"{MEMORIES}/add/status/{upload.task}").json
            told = (name, word, texts, json.dumps(status)[:600])
            self.history.hold("every task is settled", holds=status["status"] in {"success", "failed"}, told=told)
            self.history.hold("a document that was read is found", holds=found, told=told)
