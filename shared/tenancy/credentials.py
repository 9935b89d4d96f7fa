"""Secrets of keys: 256 random bits behind a prefix that scanners can find; only their hash is ever stored."""

from __future__ import annotations

import secrets
from hashlib import sha256

PREFIX = "lsk_"


def new_secret() -> str:
    """Return a new secret: `lsk_` and 43 characters of base64url."""
    return PREFIX + secrets.token_urlsafe(32)


def digest_of(secret: str) -> str:
    """Return the SHA-256 of a secret in hexadecimal, whatever characters a caller sent."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
