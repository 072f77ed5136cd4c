"""Refused requests of authenticated callers, and how they are detected.

Most refusals are a 403. If the caller may not know that the object exists, the reply is a 404. Only
the permission port can distinguish this from a missing object, so its decisions are observed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from backend.core.authorization import Authorization, Secured
from backend.core.errors import NotFoundError, PermissionDeniedError, VitrineError
from backend.core.identity import Identity
from backend.spec.routes import Action, Route

Refusal = Literal["route", "object", "invisible"]
"""The tier that denied a request: `route` is tier 1, `object` tier 2, `invisible` tier 2 with the
reply for a missing object."""


class RouteDeniedError(PermissionDeniedError):
    """Tier 1: the caller may not use the route at all."""

    def __init__(self) -> None:
        super().__init__("You do not have permission to use this route")


class Denial(NamedTuple):
    """A refused request: the caller, the route with its path, and the missing permission."""

    caller: Identity
    route: Route
    path: Mapping[str, str]
    refusal: Refusal
    action: Action
    object_type: str


class Watch:
    """The last refusal of the permission port since the request began."""

    def __init__(self) -> None:
        self.refused: tuple[Action, Secured] | None = None

    def denial(
        self, caller: Identity, route: Route, path: Mapping[str, str], error: VitrineError
    ) -> Denial | None:
        """Return the denial that ended a request, if there was one.

        A list without the objects that the caller may not see is not a denial, and neither is an
        error with another cause.
        """
        if isinstance(error, PermissionDeniedError):
            if error.code != PermissionDeniedError.code:  # the state of something forbids it
                return None
            refusal: Refusal = "route" if isinstance(error, RouteDeniedError) else "object"
        elif isinstance(error, NotFoundError) and self.refused is not None:
            refusal = "invisible"
        else:
            return None
        if self.refused is None:
            return Denial(caller, route, path, refusal, route.action, route.object_type)
        action, target = self.refused
        return Denial(caller, route, path, refusal, action, target.object_type)


class Denials(Protocol):
    """Records refusals, without delaying the request for long."""

    def record(self, denial: Denial) -> None:
        """Count a refusal, and record it unless there were many. An outage raises no error."""
        ...


class LateDenials:
    """Creates the recorder at the first refusal, because most requests are not refused."""

    def __init__(self, make: Callable[[], Denials]) -> None:
        self._make = make
        self._made: Denials | None = None

    def record(self, denial: Denial) -> None:
        self._made = self._made or self._make()
        self._made.record(denial)


@dataclass(eq=False, repr=False)
class WatchedAuthorization:
    """Evaluates rules, and records what they deny."""

    rules: Authorization
    watch: Watch

    def may_use(self, caller: Identity, route: Route, path: Mapping[str, str]) -> bool:
        return self.rules.may_use(caller, route, path)

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        allowed = self.rules.may(caller, action, target)
        if not allowed:
            self.watch.refused = (action, target)
        return allowed
