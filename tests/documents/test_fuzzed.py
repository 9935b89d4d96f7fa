"""A thousand broken documents: each is read or refused for a reason that is known, and nothing else happens."""

import random
import resource
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import get_args

import pytest

from shared.documents.picturing import prepared
from shared.documents.port import EXTENSIONS, IMAGES, DocumentFailed, FailureCode
from tests.documents.formats import sample
from tests.documents.minimal import zipped
from tests.documents.reading import bounded, outcome

SEED = 20_260_731
CASES = 1_000
TENTHS = range(1, 10)
LIMITS = bounded()
CODES = set(get_args(FailureCode)) - {"not_readable_here"}
WHOLE: Mapping[str, bytes] = {
    extension: sample(extension, "en") for extension in sorted(EXTENSIONS - {"jpeg", "markdown"})
}
CUT = [(extension, tenth) for extension in WHOLE for tenth in TENTHS]
ROUNDS = -(-(CASES - len(CUT)) // len(WHOLE))


def broken(content: bytes, dice: random.Random) -> bytes:
    """Return a document with a few of its bytes changed, doubled, moved, or left out."""
    found = bytearray(content)
    for _ in range(dice.choice((1, 1, 2, 5, 30))):
        place, size = dice.randrange(len(found)), dice.choice((1, 1, 2, 4, 40))
        piece = bytes(found[place : place + size])
        change = dice.randrange(5)
        if change == 0:
            found[place : place + size] = dice.randbytes(size)
        elif change == 1:
            found[place : place + size] = dice.choice((b"\0", b"\xff", b"\x7f")) * size
        elif change == 2:
            found[place:place] = piece * dice.choice((1, 3, 100))
        elif change == 3 and len(found) > 2 * size:
            del found[place : place + size]
        else:
            target = dice.randrange(len(found))
            found[target : target + size] = piece
    return bytes(found)


def cases(extension: str) -> Iterator[bytes]:
    dice = random.Random(f"{SEED} {extension}")
    for _ in range(ROUNDS):
        content = WHOLE[extension]
        yield _within(content, dice) if dice.random() < 0.5 else broken(content, dice)


def _within(content: bytes, dice: random.Random) -> bytes:
    """Break what is packed in a container, and pack it right again, so that it comes to those who read it."""
    if not content.startswith(b"PK"):
        return broken(content, dice)

    with zipfile.ZipFile(BytesIO(content)) as package:
        parts = {name: package.read(name) for name in package.namelist()}
    name = dice.choice(list(parts))
    return zipped({**parts, name: broken(parts[name], dice)})


def come_of(folder: Path, content: bytes, extension: str) -> object:
    """What comes of a document, or of looking at a picture: reading each would take its models a minute's work."""
    if extension not in IMAGES:
        return outcome(folder, content, extension, LIMITS)
    try:
        return [prepared(content, limits=LIMITS)]
    except DocumentFailed as failed:
        return failed.code


def is_known(found: object) -> bool:
    return isinstance(found, list) or found in CODES


@pytest.mark.parametrize("extension", WHOLE)
def test_a_document_that_is_cut_off_fails_or_is_read(tmp_path: Path, extension: str) -> None:
    content = WHOLE[extension]
    for tenth in TENTHS:
        found = come_of(tmp_path, content[: len(content) * tenth // 10], extension)
        assert is_known(found)
        if extension in WHOLE.keys() - {"txt", "md", "html", "rtf"}:
            assert found in {"damaged", "unsupported"}, tenth


@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("extension", WHOLE)
def test_a_document_with_broken_bytes_is_read_or_fails_for_a_known_reason(
    tmp_path: Path, extension: str, part: int
) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number, content in enumerate(cases(extension)):
        if number % 4 == part:
            found = come_of(tmp_path, content, extension)
            assert is_known(found), (number, zlib.crc32(content), found)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024


def test_it_is_a_thousand_cases() -> None:
    assert len(CUT) + ROUNDS * len(WHOLE) >= CASES
