"""Who may do what, in tests."""

from dataclasses import dataclass

from backend.core.authorization import Secured
from backend.core.identity import Identity
from backend.spec.routes import Action, Route


@dataclass(frozen=True)
class OnlyUser:
    """The permission port with one user who may do everything, as the administrator may."""

    user_id: str = "admin"

    def may_use(self, caller: Identity, route: Route) -> bool:
        return route.public or caller.user_id == self.user_id

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        return caller.user_id == self.user_id
