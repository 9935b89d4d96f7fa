"""Files and images as the parts of an add."""

from __future__ import annotations

import base64
from typing import Any

from shared.memories.files.rows import document_name
from shared.memories.records import UserAddress
from tests.documents.drawing import png
from tests.memories.front import SCOPE, message

ANN = UserAddress(SCOPE, "ann")
PIXEL = png(1, 1)


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def image(content: bytes = PIXEL, caption: str | None = "A pixel", *, kind: str = "png", **fields: Any) -> Any:
    """Return the part of an image, with a caption unless that is None."""
    told = {} if caption is None else {"caption": caption}
    return {"type": "input_image", "image_url": f"data:image/{kind};base64,{encoded(content)}", **told, **fields}


def file(name: str = "a.txt", content: bytes = b"Hello") -> Any:
    return {"type": "file", "file": {"filename": name, "file_data": encoded(content)}}


def named_file(file_id: str) -> Any:
    return {"type": "file", "file": {"file_id": file_id}}


def named_image(file_id: str, caption: str | None = "A pixel") -> Any:
    return {"type": "input_image", "file_id": file_id, **({} if caption is None else {"caption": caption})}


def asking(*parts: Any, **fields: Any) -> dict[str, Any]:
    """Return what adds parts as one message of work."""
    return {"messages": [message(list(parts))], "content_type": "work", **fields}


def document_id(name: str) -> str:
    return ANN.document_id(document_name(name))
