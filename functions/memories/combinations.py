"""Which fields of an Add go together, and how much they may bring in all (seed, Add input combinations)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from functions.memories.abilities import NO_DOCUMENTS
from shared.memories.files.rows import extension_of

if TYPE_CHECKING:
    from functions.memories.abilities import Abilities
    from functions.memories.fields import Fields
    from functions.memories.limits import Limits
    from functions.memories.messages import Given
    from shared.memories.models import Add

CODE_SOURCE = "memorax-code"


@dataclass(frozen=True)
class Combination:
    """A whole body: its fields, its messages, what was made of them, and whether it may take its time."""

    body: Fields
    messages: list[Given]
    add: Add
    in_background: bool

    def check(self, limits: Limits, abilities: Abilities) -> None:
        """Note every combination that is not allowed, and raise for what is too much, or not enabled.

        Raises:
            TooLarge: over one of the limits.
            InvalidInput: a rule is broken.
        """
        self._check_code()
        self._check_files()
        self._check_images()
        self.body.check()
        self._check_sizes(limits)
        self._check_enabled(abilities)
        self.body.check()

    def _rule(self, field: str, message: str, *, holds: bool) -> None:
        # What is no value at all goes with nothing: its own rule says so, and a second one would only mislead.
        if not holds and not self.body.is_refused(field):
            self.body.refuse(field, message, "combination")

    def _check_code(self) -> None:
        add = self.add
        code, default = add.content_type == "code", add.mode == "default"
        if code:
            self._rule("session_id", "content_type code needs a session_id", holds=add.session_id is not None)
            needs = f'content_type code needs metadata.source "{CODE_SOURCE}"'
            self._rule("metadata", needs, holds=add.metadata.get("source") == CODE_SOURCE)
        self._rule("mode", "pre_summarized needs content_type code", holds=code or add.mode != "pre_summarized")
        only = "is only for content_type code with mode default"
        self._rule(
            "code_extraction_instructions",
            f"code_extraction_instructions {only}",
            holds=add.instructions is None or (code and default),
        )
        self._rule("chunk", f"chunk {only}", holds=add.chunk is None or (code and default))

    def _check_files(self) -> None:
        files = [given for given in self.messages if given.parts.of("file")]
        kind = self.add.content_type
        self._rule("content_type", "content_type document needs a file part", holds=bool(files) or kind != "document")
        ids = [each.attachment.file_id for given in self.messages for each in given.parts.attached]
        named = [identifier for identifier in ids if identifier]
        self._rule("messages", "A file_id may be named once a request", holds=len(set(named)) == len(named))
        if not files:
            return
        self._rule("content_type", "A file needs content_type work, auto or document", holds=kind != "code")
        self._rule("mode", "A file needs mode default", holds=self.add.mode == "default")
        self._rule("async_mode", "A file needs async_mode true", holds=self.in_background)
        for given in self.messages:
            if given.message.sender_id is not None:
                given.fields.refuse("sender_id", "A request with files takes no sender_id", "combination")
        for given in files:
            if given.message.role != "user":
                given.fields.refuse("content", "Only a user's message may have files", "combination")

    def _check_images(self) -> None:
        if any(given.parts.of("image") for given in self.messages):
            kind = self.add.content_type
            self._rule("content_type", "An image needs content_type work or code", holds=kind in ("work", "code"))
            self._rule("mode", "An image needs mode default", holds=self.add.mode == "default")

    def _check_sizes(self, limits: Limits) -> None:
        long = self.add.content_type == "code" and self.add.mode == "default"
        most = limits.code_message_characters if long else limits.message_characters
        for given in self.messages:
            if len(given.message.text) > most:
                given.fields.too_large("content", f"At most {most} characters a message")
            if len(given.parts.of("image")) > limits.images_a_message:
                given.fields.too_large("content", f"At most {limits.images_a_message} images a message")
        if sum(len(given.parts.of("image")) for given in self.messages) > limits.images:
            self.body.too_large("messages", f"At most {limits.images} images a request")
        if sum(len(given.parts.of("file")) for given in self.messages) > limits.files:
            self.body.too_large("messages", f"At most {limits.files} files a request")
        summaries = self.add.mode == "pre_summarized"
        if summaries and sum(len(m.text.strip()) for m in self.add.messages) > limits.summaries_characters:
            self.body.too_large("messages", f"At most {limits.summaries_characters} characters of summaries a request")

    def _check_enabled(self, abilities: Abilities) -> None:
        for given in self.messages:
            if given.parts.of("file") and not abilities.documents:
                given.fields.refuse("content", NO_DOCUMENTS, "not_enabled")
            for file in given.parts.of("file"):
                name = file.attachment.filename
                abilities.check_file(file.fields, "filename", name and extension_of(name))
            for image in given.parts.of("image"):
                if image.attachment.caption is None:
                    abilities.check_uncaptioned(image.fields, in_background=self.in_background)
