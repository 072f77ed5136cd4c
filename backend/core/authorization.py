"""The permission port: asked by middleware for every route and by every service verb."""

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any, Literal, Protocol

from backend.core.errors import PermissionDeniedError
from backend.core.identity import SYSTEM, Identity
from backend.core.wired import wired
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
    """An object that permissions speak of: its type and the fields that rules may name."""

    object_type: SecuredType
    fields: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict[str, str])


class Authorization(Protocol):
    """Decides. Implementations are closed: what they do not know, they deny."""

    def may_use(self, caller: Identity, route: Route, path: Mapping[str, str]) -> bool:
        """Tier 1: may the caller use this route at all, with these path parameters?"""
        ...

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        """Tier 2: may the caller do this to the object?"""
        ...


class Visibility(Protocol):
    """Tells a search what its caller may see, so that it finds nothing else."""

    def search_filter(self, caller: Identity) -> dict[str, Any] | None:
        """The query of all documents that the caller may see; None if there are none."""
        ...


class NamedTags(Protocol):
    """Knows the tags that rules name: who has them on an asset changes who may use the asset."""

    def named_tags(self, tag_names: Iterable[str]) -> set[str]:
        """Return those of the tags on which the truth of some rule depends."""
        ...


class SystemOnly:
    """For functions that nobody asks: the product itself may do everything, and nobody else."""

    def may_use(self, caller: Identity, route: Route, path: Mapping[str, str]) -> bool:  # noqa: ARG002 - the port's signature
        return False

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:  # noqa: ARG002
        return caller == SYSTEM


@wired
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
    """Go on only if the caller may do this.

    Raises:
        PermissionDeniedError: it may not.
    """
    if not authorization.may(caller, action, target):
        raise PermissionDeniedError(
            f"You do not have permission to {action} this {target.object_type}"
        )


def require_administrator(authorization: Authorization, caller: Identity, why: str) -> None:
    """Go on only if the caller is an administrator: only they may change constraints.

    Raises:
        PermissionDeniedError: the caller is not. `why` is its message.
    """
    if not authorization.may(caller, "PUT", Secured("constraint")):
        raise PermissionDeniedError(why)
