"""The process that reads one file: `python -m shared.documents.child ORDER`, started by `shared/documents/process.py`.

It confines itself before it opens the file, and answers with JSON lines on the pipe that the order names: a first one
that it is ready, then what its work yields, and at last null, or why it failed.
"""

from __future__ import annotations

import json
import os
import select
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shared.documents.confining import confine
from shared.documents.limits import ParseLimits
from shared.documents.port import IMAGES, DocumentFailed
from shared.documents.process import READY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Order = Mapping[str, Any]

_PICTURED = IMAGES | {"pdf"}


def main(argument: str) -> None:
    """Carry out an order."""
    order = json.loads(argument)
    limits = ParseLimits(**order["limits"])
    pictures = order["work"] == "picture" or (order["ocr"] and order["extension"] in _PICTURED)
    confine(limits.picture_memory if pictures else limits.memory, limits.seconds)
    threading.Thread(target=_end_with_the_parent, args=(order["pipe"],), daemon=True).start()
    with os.fdopen(order["pipe"], "wb") as pipe:
        pipe.write(READY)
        pipe.flush()
        for each in _told(_WORKS[order["work"]](order, limits)):
            pipe.write(each if isinstance(each, bytes) else _line(each))


def _end_with_the_parent(pipe: int) -> None:
    """Wait until nobody is there to read, which is all that is left of a parent that was killed."""
    reader = select.poll()
    reader.register(pipe, 0)
    reader.poll()
    os._exit(1)


def _line(told: Any) -> bytes:
    return json.dumps(told, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _told(work: Iterator[Any]) -> Iterator[Any]:
    """Yield what a work does and null, or as the last why it failed."""
    try:
        yield from work
        yield None
    except DocumentFailed as failed:
        yield {"code": failed.code, "message": failed.message}
    except (MemoryError, RecursionError):
        yield {"code": "too_complex", "message": "Reading it took more memory or time than one file may."}
    except ImportError:
        yield {"code": "not_readable_here", "message": "Nothing in this deployment reads files of its kind."}
    except BaseException:  # noqa: BLE001 - a library's panic is none of Exception, and the file led to it
        yield {"code": "damaged", "message": "It can't be read: it is damaged, or not the whole of it is there."}


def _parse(order: Order, limits: ParseLimits) -> Iterator[Any]:
    from shared.documents.chunking import chunks_of  # noqa: PLC0415 - whatever is imported here is confined
    from shared.documents.formats import sections_of  # noqa: PLC0415
    from shared.documents.sniffing import check  # noqa: PLC0415

    path, extension = Path(order["path"]), order["extension"]
    check(path, extension, limits)
    for chunk in chunks_of(sections_of(path, extension, limits, ocr=order["ocr"])):
        yield [chunk.text, chunk.heading, chunk.page, chunk.sheet]


def _picture(order: Order, limits: ParseLimits) -> Iterator[Any]:
    from shared.documents.redrawing import redrawn  # noqa: PLC0415

    content, form = redrawn(Path(order["path"]), limits, order["most_pixels"], most_bytes=order["most_bytes"])
    yield {"form": form, "size": len(content)}
    yield content


_WORKS: Mapping[str, Callable[[Order, ParseLimits], Iterator[Any]]] = {"parse": _parse, "picture": _picture}

if __name__ == "__main__":
    main(sys.argv[1])
