"""Files of memories over an emulated stack: uploads, readings as the pipeline leaves them, and what is left of both."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote, urlsplit

from shared.aws.writes import Put
from shared.memories.files.rows import document_name
from shared.memories.files.unfiling import Unfiling
from shared.memories.files.views import file_id_of
from shared.memories.records import UserAddress, by_origin, document_key, erasure_key, file_key
from tests.memories.shelf import USER, Reader

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.aws.items import Item
    from tests.clients.events import Answer
    from tests.memories.shelf import Shelf

T = TypeVar("T")

FILES = "/v1/files"
BYTES = b"Cedars grow slowly."
SHA256 = hashlib.sha256(BYTES).hexdigest()


def body(**fields: Any) -> dict[str, Any]:
    """Return the body that announces a file."""
    return {"user_id": USER, "filename": "trees.txt", "size": len(BYTES), **fields}


@dataclass
class Filer(Reader):
    """A client that knows the paths of files."""

    def announced(self, **fields: Any) -> dict[str, Any]:
        """Announce a file, and return what is told of it."""
        answer = self.post(FILES, json_body=body(**fields))
        assert answer.status == 200, answer.content
        told: dict[str, Any] = answer.json["data"]
        return told

    def refused(self, status: int = 422, **fields: Any) -> dict[str, str]:
        """Announce what must be refused, and return what is said of each field."""
        answer = self.post(FILES, json_body=body(**fields))
        assert answer.status == status, (answer.status, answer.content)
        return {told["field"]: told["message"] for told in answer.json["error"]["details"]}

    def complete(self, file_id: str, **how: Any) -> Answer:
        return self.post(f"{FILES}/{file_id}/complete", **how)

    def uploaded(self, shelf: Shelf, content: bytes = BYTES, **fields: Any) -> str:
        """Upload a file, and return its id."""
        told = self.announced(**{"size": len(content), **fields})
        bring(shelf, told, content)
        answer = self.complete(told["id"])
        assert answer.status == 200, answer.content
        return str(told["id"])

    def file(self, file_id: str, **how: Any) -> Answer:
        return self.get(f"{FILES}/{file_id}", **how)

    def content_of(self, file_id: str, **how: Any) -> Answer:
        return self.get(f"{FILES}/{file_id}/content", **how)

    def unfile(self, file_id: str) -> str:
        """Delete a file, and return the erasure's id."""
        answer = self.delete(f"{FILES}/{file_id}")
        assert answer.status == 202, answer.content
        assert answer.json["data"]["status"] == "accepted"
        task_id: str = answer.json["data"]["task_id"]
        return task_id

    def files(self, user: str = USER, **query: Any) -> list[dict[str, Any]]:
        """Return the files of every page of a list."""
        found: list[dict[str, Any]] = []
        while True:
            answer = self.get(FILES, query={"user_id": user, **query})
            assert answer.status == 200, answer.content
            found += answer.json["data"]["data"]
            if answer.json["data"]["next_cursor"] is None:
                return found
            query["cursor"] = answer.json["data"]["next_cursor"]


def filer(shelf: Shelf, **key: Any) -> Filer:
    """Return a client with a new key and an instance of its own."""
    return Filer(shelf.handler(), shelf.key(**key))


def key_in(upload: dict[str, Any]) -> str:
    """Return the key of the object that an upload's URL is for."""
    path = unquote(urlsplit(upload["upload"]["url"]).path)
    return path[path.index("up/") :]


def bring(shelf: Shelf, upload: dict[str, Any], content: bytes = BYTES) -> None:
    """Put the bytes where the URL says, as S3 would on a PUT to it."""
    shelf.cloud.aws.s3.put_object(Bucket=shelf.cloud.bucket_name, Key=key_in(upload), Body=content, IfNoneMatch="*")


def row_of(shelf: Shelf, file_id: str) -> Item | None:
    """Return a file's row."""
    found: Item | None = shelf.table.get(file_key(shelf.address().scope, file_id))
    return found


def read(shelf: Shelf, file_id: str, *texts: str, of_image: bool = False, address: UserAddress | None = None) -> str:
    """Leave what a reading of a file leaves: its chunks, and the document that names them. Return the token."""
    address = address or shelf.address()
    row = shelf.table.get(file_key(address.scope, file_id))
    document_id = address.document_id(file_id if of_image else document_name(row["filename"]))
    token = address.memory_id("task of", file_id, document_id, shelf.clock.now_ms())
    for n, text in enumerate(texts):
        shelf.store(chunk(shelf, address, token, n, text=text, document_id=document_id), text)
    pk, sk = document_key(address.scope, document_id)
    told = {"user": address.user, "user_id": address.user_id, "generation": row["generation"]}
    document = {"pk": pk, "sk": sk, **told, "of": "image" if of_image else "file", "file": file_id_of(row)}
    more = {"filename": row["filename"], "digest": row["sha256"], "revision": 1, "chunks": len(texts)}
    l2 = by_origin(address.user, "a task", sk)
    shelf.table.write(Put({**document, **more, "token": token, "task": "a task", "positions": [0], "l2": l2}))
    return token


def chunk(shelf: Shelf, address: UserAddress, token: str, number: int, *, text: str, document_id: str) -> Item:
    """Return the row of a chunk, as the pipeline writes it."""
    told = {"content_type": "document", "source": "document", "modes": ["summary", "facts", "raw"]}
    row = shelf.row(
        text, address=address, kind="chunk", number=number, task=token, document_id=document_id, **told, token=token
    )
    return {**row, "task": "a task"}


def done_beside_completion(shelf: Shelf, client: Filer, act: Callable[[str], T]) -> T:
    """Do something that ends an upload while it is completed: whichever is first, it is out of sight afterwards."""
    told = client.announced()
    bring(shelf, told)
    with ThreadPoolExecutor(1) as pool:
        completing = pool.submit(client.complete, told["id"])
        done = act(told["id"])
    assert completing.result().status in {200, 404}
    assert client.file(told["id"]).status == 404
    return done


def unfiled(shelf: Shelf, task_id: str, *, late: bool = False, **means: Any) -> bool:
    """Do the worker's part of a deletion; False: not all yet."""
    scope = shelf.address().scope
    receipt = shelf.table.get(erasure_key(scope, task_id))
    told = {"tenant": scope.tenant, "project": scope.project, "user_id": receipt.get("user_id", "")}
    unfiling = Unfiling(replace(shelf.composed.means, **means))
    return unfiling.unfile({"work": "unfile", **told, "erasure": task_id}, lambda: late)


def objects_of(shelf: Shelf) -> list[str]:
    """Return the keys of all objects but those of the erasure log."""
    return [key for key in shelf.cloud.object_keys() if not key.startswith("keep/erasures")]
