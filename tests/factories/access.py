"""Permissions in tests."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from backend.core.authorization import Secured
from backend.core.identity import Identity
from backend.core.tables import Tables
from backend.core.transactions import Put
from backend.domains.access.policy.search_filter import EVERYTHING
from backend.spec.routes import Action, Route
from backend.spec.tables.access import USER_ROLES


@dataclass(frozen=True)
class OnlyUser:
    """The permission port with one user who may do everything, like the administrator."""

    user_id: str = "admin"

    def may_use(self, caller: Identity, route: Route, path: Mapping[str, str]) -> bool:
        return route.public or caller.user_id == self.user_id

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        return caller.user_id == self.user_id

    def search_filter(self, caller: Identity) -> dict[str, Any] | None:
        return EVERYTHING if caller.user_id == self.user_id else None


def stored_user_role(tables: Tables, *, user_id: str, role_name: str = "admin") -> None:
    """The row that assigns a role to a user."""
    item = {"userId": user_id, "roleName": role_name, "createdOn": "2026-01-01T00:00:00.000000Z"}
    tables.write(Put(table=USER_ROLES, item=item))


@dataclass(frozen=True)
class Without(OnlyUser):
    """The same user, with a denial of some routes."""

    denied: tuple[Route, ...] = ()

    def may_use(self, caller: Identity, route: Route, path: Mapping[str, str]) -> bool:
        return route not in self.denied and super().may_use(caller, route, path)
