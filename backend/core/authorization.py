"""The permission port. Middleware calls it for every route, and services for every object."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from backend.core.errors import PermissionDeniedError
from backend.core.identity import SYSTEM, Identity
from backend.spec.routes import Action, Route
from backend.values import frozen

SecuredType = Literal[
    "database",
    "databasePurge",
    "asset",
    "tag",
    "tagType",
    "apiKey",
    "bucket",
    "failure",
    "queue",
    "searchIndex",
    "audit",
    "role",
    "userRole",
    "constraint",
    "metadataSchema",
    "pipeline",
    "workflow",
    "web",
]


@frozen
class Secured:
    """An object to check permissions for: its type, and the fields that rules can use."""

    object_type: SecuredType
    fields: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict[str, str])


class Authorization(Protocol):
    """Decides requests. Implementations deny everything that no rule allows."""

    def may_use(self, caller: Identity, route: Route, path: Mapping[str, str]) -> bool:
        """Tier 1: return whether the caller may use this route with these path parameters."""
        ...

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        """Tier 2: return whether the caller may perform the action on the object."""
        ...


class Visibility(Protocol):
    """Restricts searches to the documents that their caller may see."""

    def search_filter(self, caller: Identity) -> dict[str, Any] | None:
        """Return a query for all documents that the caller may see; None if there are none."""
        ...


class NamedTags(Protocol):
    """The tags that rules use: setting such a tag on an asset changes its permissions."""

    def named_tags(self, tag_names: Iterable[str]) -> set[str]:
        """Return the tags of this list that are used in a rule."""
        ...


class SystemOnly:
    """For functions without callers: the product itself may do everything, users nothing."""

    def may_use(self, caller: Identity, route: Route, path: Mapping[str, str]) -> bool:  # noqa: ARG002 - the port's signature
        return False

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:  # noqa: ARG002
        return caller == SYSTEM


@dataclass(eq=False, repr=False)
class SystemOr:
    """For functions that act for users and for the product itself, which may do everything."""

    users: Authorization

    def may_use(self, caller: Identity, route: Route, path: Mapping[str, str]) -> bool:
        return caller == SYSTEM or self.users.may_use(caller, route, path)

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        return caller == SYSTEM or self.users.may(caller, action, target)


def require(
    authorization: Authorization, caller: Identity, action: Action, target: Secured
) -> None:
    """Require that the caller may perform the action on the object.

    Raises:
        PermissionDeniedError: the caller may not.
    """
    if not authorization.may(caller, action, target):
        raise PermissionDeniedError(
            f"You do not have permission to {action} this {target.object_type}"
        )


def require_administrator(authorization: Authorization, caller: Identity, why: str) -> None:
    """Require an administrator, which is a caller who may change constraints.

    Raises:
        PermissionDeniedError: the caller is not. `why` is its message.
    """
    if not authorization.may(caller, "PUT", Secured("constraint")):
        raise PermissionDeniedError(why)
