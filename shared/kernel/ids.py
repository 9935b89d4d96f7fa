"""Identifiers: ULIDs (time-ordered, 80 random bits), with a prefix where the contract asks for one."""

from __future__ import annotations

import re
import secrets
import time
import uuid

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's base 32
_ULID = re.compile(f"[0-7][{_ALPHABET}]{{25}}")


def ulid(now_ms: int | None = None) -> str:
    """Return a new ULID of 26 characters, for the given moment or for now."""
    moment = time.time_ns() // 1_000_000 if now_ms is None else now_ms
    value = (moment << 80) | secrets.randbits(80)
    return "".join(_ALPHABET[(value >> shift) & 31] for shift in range(125, -1, -5))


def is_ulid(text: str) -> bool:
    """Tell whether `text` has the form of a ULID."""
    return _ULID.fullmatch(text) is not None


def ulid_ms(text: str) -> int:
    """Return the moment (ms) at which a ULID was made."""
    return sum(_ALPHABET.index(letter) << 5 * place for place, letter in enumerate(reversed(text[:10])))


def prefixed(prefix: str, now_ms: int | None = None) -> str:
    """Return a new id such as `apikey_01J…`."""
    return f"{prefix}_{ulid(now_ms)}"


def ulid_uuid(text: str) -> str:
    """Return the 128 bits of a ULID as a UUID."""
    value = sum(_ALPHABET.index(letter) << 5 * place for place, letter in enumerate(reversed(text)))
    return str(uuid.UUID(int=value))
