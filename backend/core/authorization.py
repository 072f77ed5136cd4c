"""The permission port: asked by middleware for every route and by every service verb.

Until roles and constraints are there, access is closed: an administrator may do everything, nobody
else anything.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Literal, Protocol

from backend.core.errors import PermissionDeniedError
from backend.core.identity import SYSTEM, Identity
from backend.core.wired import wired
from backend.spec.routes import Action, Route
from backend.values import frozen

SecuredType = Literal[
    "database",
    "asset",
    "tag",
    "searchIndex",
    "tagType",
    "apiKey",
    "bucket",
    "failure",
    "queue",
    "audit",
    "role",
    "userRole",
    "constraint",
    "metadataSchema",
    "web",
]


@frozen
class Secured:
    """An object that permissions speak of: its type and the fields that rules may name."""

    object_type: SecuredType
    fields: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict[str, str])


class Authorization(Protocol):
    """Decides. Implementations are closed: what they do not know, they deny."""

    def may_use(self, caller: Identity, route: Route) -> bool:
        """Tier 1: may the caller use this route at all?"""
        ...

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        """Tier 2: may the caller do this to the object?"""
        ...


class RoleLookup(Protocol):
    """Tells whether a user is an administrator, now."""

    def is_administrator(self, user_id: str) -> bool: ...


@wired
class AdministratorOnly:
    """The closed rule: administrators may do everything and everyone else nothing."""

    roles: RoleLookup

    def may_use(self, caller: Identity, route: Route) -> bool:
        return route.public or self.roles.is_administrator(caller.user_id)

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:  # noqa: ARG002 - the port's signature
        return self.roles.is_administrator(caller.user_id)


class SystemOnly:
    """For functions that nobody asks: the product itself may do everything, and nobody else."""

    def may_use(self, caller: Identity, route: Route) -> bool:  # noqa: ARG002 - the port's signature
        return False

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:  # noqa: ARG002
        return caller == SYSTEM


def require(
    authorization: Authorization, caller: Identity, action: Action, target: Secured
) -> None:
    """Go on only if the caller may do this.

    Raises:
        PermissionDeniedError: it may not.
    """
    if not authorization.may(caller, action, target):
        raise PermissionDeniedError(f"You may not {action} this {target.object_type}")
