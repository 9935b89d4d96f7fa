"""Probes of project memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.hostile.holdings import PROJECTS
from tests.hostile.probing.registry import probe

if TYPE_CHECKING:
    from infra.local.events import Request
    from tests.hostile.holdings import Names, Party


def _task(other: Names) -> str:
    return f"{PROJECTS}/tasks/{other.task}"


def _turn(other: Names) -> str:
    return f"{_task(other)}/turns/1"


def _artifact(other: Names) -> str:
    return f"{_turn(other)}/artifacts/{other.artifact}"


@probe
def read_digest(p: Party, own: Names, other: Names) -> list[Request]:
    return [p.request("GET", f"{PROJECTS}/project.md", headers={"if-none-match": other.digest_etag})]


@probe
def list_tasks(p: Party, own: Names, other: Names) -> list[Request]:
    return [p.request("GET", f"{PROJECTS}/tasks", query={"limit": 5, "cursor": other.tasks_cursor})]


@probe
def read_task(p: Party, own: Names, other: Names) -> list[Request]:
    return [
        p.request("GET", _task(other)),
        p.request("GET", _task(other), query={"limit": 1, "cursor": other.turns_cursor}),
        p.request("GET", _task(own), query={"limit": 1, "cursor": other.turns_cursor}),
        p.request("GET", _task(own), query={"cursor": other.tasks_cursor}),
    ]


@probe
def delete_task(p: Party, own: Names, other: Names) -> list[Request]:
    return [p.request("DELETE", _task(other))]


@probe
def read_turn(p: Party, own: Names, other: Names) -> list[Request]:
    tag = {"if-none-match": other.turn_etag}
    return [p.request("GET", _turn(other)), p.request("GET", _turn(other), headers=tag)]


@probe
def put_turn(p: Party, own: Names, other: Names) -> list[Request]:
    body = {"meta": {"exit_code": 0}, "summary_md": "mine"}
    new = f"{PROJECTS}/tasks/new-{other.task}/turns/1"
    return [
        p.request("PUT", _turn(other), json_body=body, headers={"if-match": other.turn_etag}),
        p.request("PUT", _turn(own), json_body=body, headers={"if-match": other.turn_etag}),
        p.request("PUT", new, json_body=body, headers={"if-none-match": "*"}),
    ]


@probe
def patch_turn(p: Party, own: Names, other: Names) -> list[Request]:
    body = {"meta": {"exit_code": 0}, "summary_md": "mine"}
    return [
        p.request("PATCH", _turn(other), json_body=body),
        p.request("PATCH", _turn(other), json_body=body, headers={"if-match": other.turn_etag, "if-none-match": '"x"'}),
    ]


@probe
def read_artifact(p: Party, own: Names, other: Names) -> list[Request]:
    tags = {"if-none-match": other.artifact_etag}
    part = {"range": "bytes=0-3", "if-range": other.artifact_etag}
    return [p.request("GET", _artifact(other), headers=how) for how in ({}, tags, part)]


@probe
def describe_artifact(p: Party, own: Names, other: Names) -> list[Request]:
    return [p.request("HEAD", _artifact(other), headers={"if-none-match": other.artifact_etag})]


@probe
def put_artifact(p: Party, own: Names, other: Names) -> list[Request]:
    guarded = {"if-match": other.artifact_etag}
    new = f"{PROJECTS}/tasks/art-{other.task}/turns/1/artifacts/{other.artifact}"
    return [
        p.request("PUT", _artifact(other), body=b"mine", headers=guarded),
        p.request("PUT", _artifact(own), body=b"mine", headers=guarded),
        p.request("PUT", new, body=b"mine", headers={"if-none-match": "*"}),
    ]


@probe
def start_upload(p: Party, own: Names, other: Names) -> list[Request]:
    body = {"size": 4, "content_type": "text/plain", "sha256": other.content_hash}
    return [p.request("POST", f"{_artifact(other)}/upload", json_body=body)]


@probe
def complete_upload(p: Party, own: Names, other: Names) -> list[Request]:
    theirs, tags = {"upload_id": other.upload}, {"if-match": other.artifact_etag, "if-none-match": other.artifact_etag}
    return [
        p.request("POST", f"{_artifact(other)}/complete", json_body=theirs),
        p.request("POST", f"{_artifact(own)}/complete", json_body=theirs, headers=tags),
    ]
