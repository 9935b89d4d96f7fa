"""Who may make, see and revoke which keys (contract "platform", Roles)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.kernel.errors import PermissionDenied
from shared.kernel.scope import Role

if TYPE_CHECKING:
    from shared.tenancy.models import Admitted, KeyRecord, KeyWish


def check_may_administer(caller: Admitted) -> None:
    """Refuse whoever has nothing to do with keys.

    Raises:
        PermissionDenied: a member.
    """
    if caller.role < Role.PROJECT_ADMIN:
        raise PermissionDenied("A member's key neither makes nor sees keys.")


def check_may_make(maker: Admitted, wish: KeyWish) -> None:
    """Refuse a wish that would give more than its maker has.

    Raises:
        PermissionDenied: a higher rank, another tenant or project, or a permission that the maker lacks.
    """
    check_may_administer(maker)
    if wish.role > maker.role:
        raise PermissionDenied(f"A {maker.role.name.lower()} can't make a key of a higher rank than its own.")
    if maker.role is not Role.OPERATOR and wish.tenant != maker.scope.tenant:
        raise PermissionDenied("A key can be made for your own tenant only.")
    if maker.key.project not in (None, wish.project):
        raise PermissionDenied("A key that is bound to a project can make keys for that project only.")
    lacking = [p for p in wish.permissions if p not in maker.key.permissions]
    if lacking:
        raise PermissionDenied(f"A key can't give a permission that it does not have: {', '.join(lacking)}.")


def sees(asker: Admitted, record: KeyRecord) -> bool:
    """Tell whether a record exists as far as `asker` is concerned."""
    tenant, project = visible(asker)
    if tenant is None:
        return True
    same_tenant = record.role is not Role.OPERATOR and record.tenant == tenant
    return same_tenant and project in (None, record.project)


def visible(asker: Admitted) -> tuple[str | None, str | None]:
    """Return the tenant and project whose keys `asker` sees, None for all."""
    return (None, None) if asker.role is Role.OPERATOR else (asker.scope.tenant, asker.key.project)


def check_may_revoke(asker: Admitted, record: KeyRecord) -> None:
    """Refuse to revoke a key of a higher rank.

    Raises:
        PermissionDenied: `record` ranks above `asker`.
    """
    if record.role > asker.role:
        raise PermissionDenied("This key is of a higher rank than yours.")
