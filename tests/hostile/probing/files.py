"""Probes of files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.hostile.holdings import FILES
from tests.hostile.probing.registry import probe

if TYPE_CHECKING:
    from infra.local.events import Request
    from tests.hostile.holdings import Names, Party


def _file(own: Names, other: Names) -> list[tuple[str, dict[str, Any]]]:
    """Return the ways to name a file: by its id, and with the user it is of, or another."""
    path = f"{FILES}/{other.file}"
    return [(path, {}), (path, {"user_id": other.user}), (path, {"user_id": own.user})]


@probe
def start_file(p: Party, own: Names, other: Names) -> list[Request]:
    body = {"user_id": other.user, "filename": other.filename, "size": 4, "sha256": other.content_hash}
    return [p.request("POST", FILES, json_body=body)]


@probe
def complete_file(p: Party, own: Names, other: Names) -> list[Request]:
    return [p.request("POST", f"{path}/complete", query=query) for path, query in _file(own, other)]


@probe
def list_files(p: Party, own: Names, other: Names) -> list[Request]:
    users = (other.user, own.user)
    pages = [{"user_id": user, "limit": 1, "cursor": other.files_cursor} for user in users]
    return [p.request("GET", FILES, query=query) for query in ({"user_id": other.user}, *pages)]


@probe
def get_file(p: Party, own: Names, other: Names) -> list[Request]:
    return [p.request("GET", path, query=query) for path, query in _file(own, other)]


@probe
def read_file(p: Party, own: Names, other: Names) -> list[Request]:
    headers = {"if-none-match": other.file_etag}
    part = {"range": "bytes=0-3", "if-range": other.file_etag}
    return [
        p.request("GET", f"{path}/content", query=query, headers=how)
        for path, query in _file(own, other)
        for how in ({}, headers, part)
    ]


@probe
def describe_file(p: Party, own: Names, other: Names) -> list[Request]:
    headers = {"if-none-match": other.file_etag}
    return [p.request("HEAD", f"{path}/content", query=query, headers=headers) for path, query in _file(own, other)]


@probe
def delete_file(p: Party, own: Names, other: Names) -> list[Request]:
    return [p.request("DELETE", path, query=query) for path, query in _file(own, other)]
