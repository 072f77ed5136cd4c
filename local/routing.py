"""Finds the route of an HTTP API for a request.

API Gateway uses the most specific path: at the first segment where two routes differ, a fixed
segment takes precedence over a variable, and a variable over a greedy variable; then a named method
takes precedence over ANY. `$default` is used if nothing else matches. Segments are compared as
sent, and decoded afterwards.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import unquote

from local.plan import Route

_FIXED, _VARIABLE, _GREEDY = range(3)


@dataclass(frozen=True)
class Match:
    """The route, and the values of its path variables, decoded."""

    route: Route
    parameters: dict[str, str]


@dataclass(frozen=True)
class _Pattern:
    route: Route
    method: str
    segments: tuple[str, ...]
    rank: tuple[int, ...]

    def match(self, segments: list[str]) -> dict[str, str] | None:
        greedy = bool(self.rank) and self.rank[-1] == _GREEDY
        if len(segments) < len(self.segments) or (
            not greedy and len(segments) > len(self.segments)
        ):
            return None
        values: dict[str, str] = {}
        for place, (segment, kind) in enumerate(zip(self.segments, self.rank, strict=True)):
            sent = segments[place]
            if kind == _GREEDY:
                values[segment[1:-2]] = unquote("/".join(segments[place:]))
            elif kind == _VARIABLE and sent:
                values[segment[1:-1]] = unquote(sent)
            elif unquote(sent) != segment:
                return None
        return values


class RouteTable:
    """The routes of one API, the most specific first."""

    def __init__(self, routes: Iterable[Route]) -> None:
        """Sort the routes once."""
        self._default: Route | None = None
        patterns: list[_Pattern] = []
        for route in routes:
            if route.key == "$default":
                self._default = route
            else:
                patterns.append(_pattern(route))
        self._patterns = sorted(patterns, key=lambda p: (p.rank, p.method == "ANY"))

    def find(self, method: str, raw_path: str) -> Match | None:
        """Return the route for a request, by its method and its path as sent."""
        segments = raw_path.removeprefix("/").split("/")
        for pattern in self._patterns:
            if pattern.method in {"ANY", method}:
                values = pattern.match(segments)
                if values is not None:
                    return Match(pattern.route, values)
        return Match(self._default, {}) if self._default else None


def _pattern(route: Route) -> _Pattern:
    method, path = route.key.split(" ", 1)
    segments = tuple(path.removeprefix("/").split("/"))
    return _Pattern(route, method, segments, tuple(_kind(segment) for segment in segments))


def _kind(segment: str) -> int:
    if not segment.startswith("{"):
        return _FIXED
    return _GREEDY if segment.endswith("+}") else _VARIABLE
