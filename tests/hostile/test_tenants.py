"""Nobody reads, changes, or learns of the existence of what is another's: every operation is tried with every name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest

from shared.kernel.scope import Role
from tests.clients.whole import whole
from tests.hostile.document import EVERYWHERE, operations, used_by
from tests.hostile.holdings import Names, Party, held_by, nobodys
from tests.hostile.probes import PROBES
from tests.hostile.sameness import Seen, seen_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from infra.local.events import Request
    from tests.clients.whole import Whole

READING = ("GET", "HEAD")
NAMES = sorted(PROBES, key=lambda name: (operations()[name].method not in READING, name))
"""Those that read come first: what those that write leave behind is in an intruder's own lists from then on."""

TENANT, PROJECT, STRANGER = "acme", "project-a", "globex"


@dataclass
class Later:
    """Writes beside requests: made at once, or not at all, so that no call but a request's own is seen."""

    held: bool = False

    def __call__(self, call: Callable[[], None]) -> None:
        if not self.held:
            call()


@dataclass(frozen=True)
class Scene:
    """One stack: what `acme` holds in its project, and everybody who has no business there."""

    stack: Whole
    theirs: Names
    admin: Party
    intruders: dict[str, tuple[Party, Names]]

    def state(self) -> tuple[dict[str, Any], set[str]]:
        """Return the rows that are of `acme`'s project, and the keys of all objects that there are."""
        own = f"{TENANT}#{self.theirs.project}"
        rows = {f"{i['pk']['S']} {i['sk']['S']}": i for i in self.stack.items() if own in i["pk"]["S"] + i["sk"]["S"]}
        return rows, set(self.stack.object_keys())


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    later = Later()
    with whole(tmp_path_factory.mktemp("index")) as stack, patch("shared.tenancy.background.later", later):
        admin = Party(stack, stack.key(Role.TENANT_ADMIN, tenant=TENANT), PROJECT)
        theirs = held_by(admin, TENANT, PROJECT, "a", documents=True)
        foreign = Party(stack, stack.key(Role.TENANT_ADMIN, tenant=STRANGER), "project-b")
        beside = Party(stack, stack.key(Role.TENANT_ADMIN, tenant=TENANT), "project-c")
        strangers, neighbours = held_by(foreign, STRANGER, "project-b", "b"), held_by(beside, TENANT, "project-c", "c")
        later.held = True
        bound = {"tenant": TENANT, "project": "project-c"}
        yield Scene(
            stack,
            theirs,
            admin,
            {
                "another tenant's admin": (foreign, strangers),
                "another tenant's member": (Party(stack, stack.key(tenant=STRANGER), "project-b"), strangers),
                "a member of another project": (Party(stack, stack.key(**bound)), neighbours),
                "an admin of another project": (Party(stack, stack.key(Role.PROJECT_ADMIN, **bound)), neighbours),
                "an operator": (Party(stack, stack.key(Role.OPERATOR, tenant=None)), strangers),
            },
        )


INTRUDERS = (
    "another tenant's admin",
    "another tenant's member",
    "a member of another project",
    "an admin of another project",
)


def _probed(scene: Scene, asker: Party, own: Names, other: Names, name: str) -> list[tuple[Request, Seen]]:
    requests = PROBES[name](asker, own, other)
    return [(request, seen_of(scene.stack, request, other)) for request in requests]


def test_every_operation_has_a_probe() -> None:
    needing_a_key = {name for name, operation in operations().items() if not operation.is_open}
    assert needing_a_key <= PROBES.keys(), "an operation has come: give it its probe in tests/hostile/probing"
    assert PROBES.keys() <= needing_a_key, "a probe of an operation that is not there"


@pytest.mark.parametrize("name", NAMES)
def test_a_probe_uses_every_parameter_and_field_of_its_operation(scene: Scene, name: str) -> None:
    operation = operations()[name]
    requests = PROBES[name](scene.admin, scene.theirs, scene.theirs)
    assert all(operation.is_asked_by(request) for request in requests)
    assert operation.parameters | operation.fields <= used_by(requests)


# ---- Headers that say who one is ------------------------------------------------------------------------------------

HEADERS = ("x-sandbox-tenant-id", "x-sandbox-project-id", "anthropic-workspace-id", "x-correlation-id")


def test_every_header_that_all_operations_take_is_forged() -> None:
    assert set(HEADERS) == EVERYWHERE


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("name", [name for name in NAMES if operations()[name].method in READING])
def test_a_header_that_names_another_opens_nothing(scene: Scene, name: str, header: str) -> None:
    for who in INTRUDERS:
        asker, own = scene.intruders[who]
        unbound = Party(scene.stack, asker.secret)
        seen = []
        for names in (_nobodys(scene, own, 1), _nobodys(scene, own, 2), scene.theirs):
            named = {"x-sandbox-tenant-id": names.tenant, "x-correlation-id": names.correlation}
            forged = header, named.get(header, names.project)
            seen.append([_forged(scene, request, forged, names) for request in PROBES[name](unbound, own, names)])
        assert seen[1] == seen[2], (who, header)


def _forged(scene: Scene, request: Request, header: tuple[str, str], names: Names) -> Seen:
    name, value = header[0].encode(), header[1].encode()
    return seen_of(scene.stack, replace(request, headers=[*request.headers, (name, value)]), names)


# ---- Names of what is another's -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_what_is_anothers_answers_as_what_is_nobodys(scene: Scene, name: str) -> None:
    before = scene.state()
    for who in INTRUDERS:
        for request, something, nothing in _met(scene, name, *scene.intruders[who]):
            assert something == nothing, (who, request.method, request.raw_path, request.query)
            assert something.status < 500
            assert scene.theirs.text not in something.told
    rows, objects = scene.state()
    assert rows == before[0]
    assert before[1] <= objects


def _met(scene: Scene, name: str, asker: Party, own: Names) -> Iterator[tuple[Request, Seen, Seen]]:
    """Yield each request of a probe with what is seen where it names the other's, and where it names nobody's."""
    _probed(scene, asker, own, _nobodys(scene, own, 1), name)  # from here on keys and projects are remembered
    expected = _probed(scene, asker, own, _nobodys(scene, own, 2), name)
    for (request, something), (_, nothing) in zip(
        _probed(scene, asker, own, scene.theirs, name), expected, strict=True
    ):
        yield request, something, nothing


def _nobodys(scene: Scene, own: Names, seed: int) -> Names:
    made = nobodys(scene.theirs, seed)
    return replace(made, tenant=own.tenant) if own.tenant == scene.theirs.tenant else made


# ---- Keys of the tenant that may not do it, and none at all ---------------------------------------------------------


def _refused(scene: Scene, secret: str | None, name: str, status: int) -> None:
    """See a key refused whatever it asks for, before anything is looked up."""
    asker = Party(scene.stack, secret, PROJECT if secret else None)
    for names in (_nobodys(scene, scene.theirs, 3), scene.theirs):
        for request in PROBES[name](asker, scene.theirs, names):
            seen = seen_of(scene.stack, request, names)
            assert seen.status == status, (request.method, request.raw_path)
            assert not {call for call in seen.calls if "GetItem" not in call}
            assert scene.theirs.text not in seen.told


READ_ALIKE = {"search_memories"}
"""Asked for by POST, and a reading."""

WRITES = [name for name in NAMES if operations()[name].method not in READING and name not in READ_ALIKE]


@pytest.mark.parametrize("name", WRITES)
def test_a_key_that_may_only_read_changes_nothing(scene: Scene, name: str) -> None:
    secret = scene.stack.key(Role.TENANT_ADMIN, tenant=TENANT, permissions=("read",))
    before = scene.state()
    _refused(scene, secret, name, 403)
    assert scene.state() == before


@pytest.mark.parametrize("name", sorted(set(NAMES) - set(WRITES)))
def test_a_key_that_may_only_write_reads_nothing(scene: Scene, name: str) -> None:
    _refused(scene, scene.stack.key(Role.TENANT_ADMIN, tenant=TENANT, permissions=("write",)), name, 403)


@pytest.mark.parametrize("name", NAMES)
def test_without_a_good_key_nothing_is_told(scene: Scene, name: str) -> None:
    _refused(scene, None, name, 401)
    _refused(scene, "lsk_" + "x" * 43, name, 401)


@pytest.mark.parametrize("name", [name for name in NAMES if not operations()[name].path.startswith("/v1/api_keys")])
def test_an_operator_sees_no_data(scene: Scene, name: str) -> None:
    _refused(scene, scene.stack.key(Role.OPERATOR, tenant=None), name, 403)


# ---- The probes themselves -------------------------------------------------------------------------------------------

LAST = ("redact_version", "forget_memory", "revoke_api_key", "delete_file", "delete_memory", "delete_task")
"""What takes away what other probes name, and after these what takes away stores and users."""

MET = frozenset({200, 202, 204, 206, 302, 304, 409, 412})
"""Answers that only who holds a thing can get."""


def _order(name: str) -> tuple[bool, int, bool, str]:
    operation = operations()[name]
    ends = name in {"archive_store", "delete_store", "forget_user"}
    return ends, LAST.index(name) + 1 if name in LAST else 0, operation.method not in READING, name


@pytest.mark.parametrize("name", sorted(PROBES, key=_order))
def test_whoever_holds_what_a_probe_names_is_answered(scene: Scene, name: str) -> None:
    seen = _probed(scene, scene.admin, scene.theirs, scene.theirs, name)
    assert MET & {answer.status for _, answer in seen}, [(answer.status, answer.told[-300:]) for _, answer in seen]
