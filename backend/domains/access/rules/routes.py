"""Finds the declared route of a path."""

import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import unquote

from backend.spec.routes import ROUTES, Route
from backend.spec.routes.model import Method

_PARAMETER = re.compile(r"\{([\w:]+)(\+?)\}")


class FoundRoute(NamedTuple):
    """A route, and those of its path parameters that the path contains."""

    route: Route
    parameters: Mapping[str, str]


def find_route(method: Method, path: str) -> FoundRoute | None:
    """Return the route of a path as declared, or as requested; None if there is none."""
    of_method = [route for route in ROUTES if route.method == method]
    for route in of_method:
        if route.path == path:
            return FoundRoute(route, {})
    # As the gateway does: of several matching routes, the most specific one.
    for route in sorted(of_method, key=lambda candidate: len(_PARAMETER.findall(candidate.path))):
        fitting = re.fullmatch(_pattern(route), path)
        if fitting is not None:
            names = [name for name, _ in _PARAMETER.findall(route.path)]
            values = map(unquote, fitting.groups())
            return FoundRoute(route, dict(zip(names, values, strict=True)))
    return None


def _pattern(route: Route) -> str:
    places = _PARAMETER.split(route.path)  # text, name, "+" or nothing, text, …
    parts = [re.escape(places[0])]
    for greedy, text in zip(places[2::3], places[3::3], strict=True):
        parts += ["(.+)" if greedy else "([^/]+)", re.escape(text)]
    return "".join(parts)
