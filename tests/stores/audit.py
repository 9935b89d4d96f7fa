"""What must hold of memory stores' rows and objects, whatever happened."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from shared.aws.items import decode_item
from shared.stores import records

if TYPE_CHECKING:
    from tests.stores.world import World


def audit(world: World, only: str = "") -> None:
    """Hold every store's (or one's) heads, places, versions, gates, count and objects to each other."""
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    stored = [item for item in world.cloud.items() if only in item["pk"]["S"] + item["sk"]["S"]]
    for item in map(decode_item, stored):
        kind, _, name = item["pk"].partition("#")
        if kind == "M":
            rows[f"{name}#{item['sk']}"].append(item)
        elif kind in {"H", "N", "V"}:
            rows[name].append(item)
    deleted = {i["store"]["S"] for i in stored if i.get("kind") == {"S": "remove_memory_store"}}
    for name, found in rows.items():
        if name.rpartition("#")[2] not in deleted:
            _audit_store(name, found, world)


def _audit_store(name: str, rows: list[dict[str, Any]], world: World) -> None:
    by_kind: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by_kind[row["kind"]].append(row)
    (store,) = by_kind["memory_store"]
    heads = {row["sk"]: row for row in by_kind["memory"]}
    versions = {row["sk"]: row for row in by_kind["memory_version"]}
    gates = {(row["pk"], row["sk"]) for row in by_kind["gate"]}
    assert len(gates) == (records.GATES if "archived_at" in store else 0)
    assert store["memories"] == len(heads), f"{name} counts {store['memories']} of {len(heads)}"
    files = {row["sk"]: row["memory_id"] for row in by_kind["file"]}
    assert files == {head["l1"]: head["sk"] for head in heads.values()}
    assert {row["sk"]: row["children"] for row in by_kind["directory"]} == _directories(files)
    for head in heads.values():
        version = versions[head["version"]]
        assert (version["memory_id"], version["path"]) == (head["sk"], head["l1"])
        assert version["object"] == head["content"]
        assert (version["size"], version["sha256"]) == (head["size"], head["sha256"])
        assert version["created_at"] == head["updated_at"]
        mine = [v for v in versions.values() if v["memory_id"] == head["sk"]]
        assert max(v["sk"] for v in mine) == head["version"]
    for version in versions.values():
        assert ("object" in version) == ("redacted_at" not in version and version["operation"] != "deleted")
        if "object" in version:
            assert world.objects.head(version["object"]).metadata["owner"] == f"{version['pk']}|{version['sk']}"


def _directories(files: dict[str, str]) -> dict[str, int]:
    """Return the directories that files need, with the number of places directly in each."""
    children: dict[str, set[str]] = defaultdict(set)
    for path in files:
        parts = path.split("/")
        for end in range(2, len(parts)):
            children["/".join(parts[:end])].add(parts[end])
    return {path: len(names) for path, names in children.items()}


def orphans(world: World) -> set[str]:
    """Return the objects that no record owns, the erasure log apart."""
    owned = {item["object"]["S"] for item in world.cloud.items() if "object" in item}
    return {key for key in world.cloud.object_keys() if not key.startswith("keep/erasures/")} - owned
