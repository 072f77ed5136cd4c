"""Refusals of callers who are known: what is told of one, to whom, and how it is noticed.

Most refusals are answered as what they are (403). Those of objects that the caller must not even
know of look like absence (404): only the permission port knows of them, so it is watched.
"""

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple, Protocol

from backend.core.authorization import Authorization, Secured
from backend.core.errors import NotFoundError, PermissionDeniedError, VitrineError
from backend.core.identity import Identity
from backend.core.wired import wired
from backend.spec.routes import Action, Route

Refusal = Literal["route", "object", "invisible"]
"""By tier 1; by tier 2; by tier 2, and answered as if there were no such thing."""


class RouteDeniedError(PermissionDeniedError):
    """Tier 1: the caller may not use the route at all."""

    def __init__(self) -> None:
        super().__init__("You do not have permission to use this route")


class Denial(NamedTuple):
    """A refused request: who, which route with which ids in its path, and what was asked for."""

    caller: Identity
    route: Route
    path: Mapping[str, str]
    refusal: Refusal
    action: Action
    object_type: str


class Watch:
    """What the permission port refused since a request began; of several, the last."""

    def __init__(self) -> None:
        self.refused: tuple[Action, Secured] | None = None

    def denial(
        self, caller: Identity, route: Route, path: Mapping[str, str], error: VitrineError
    ) -> Denial | None:
        """The denial that a request ended in, if it was one.

        A list that leaves out what the caller may not see is none, and neither is an error that has
        another reason.
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
    """Where refusals are told; telling one never keeps a request waiting for long."""

    def record(self, denial: Denial) -> None:
        """Count it, and write it down unless there were many; an outage is no error."""
        ...


class LateDenials:
    """Made of their parts when somebody is refused: most runs of a function refuse nobody."""

    def __init__(self, make: Callable[[], Denials]) -> None:
        self._make = make
        self._made: Denials | None = None

    def record(self, denial: Denial) -> None:
        self._made = self._made or self._make()
        self._made.record(denial)


@wired
class WatchedAuthorization:
    """The rules, and a watch that sees what they refuse."""

    rules: Authorization
    watch: Watch

    def may_use(self, caller: Identity, route: Route, path: Mapping[str, str]) -> bool:
        return self.rules.may_use(caller, route, path)

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        allowed = self.rules.may(caller, action, target)
        if not allowed:
            self.watch.refused = (action, target)
        return allowed
