"""The OpenAPI document of all routes: collects what the slices bind."""

import inspect
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

from backend.http.openapi import Json, document
from backend.http.router import Binding, Router
from backend.spec.routes import ROUTES

_OUTSIDE = {
    "search": "backend.search.routes",
    "operations": "backend.operations.routes",
    "queues": "backend.operations.queue_routes",
    "search_indexes": "backend.operations.search_routes",
}
"""The routes that are no domain's."""


@cache
def openapi() -> Json:
    """The document; made at the first call, which loads the routes and models of all slices."""
    return document(bindings())


def bindings() -> Iterator[Binding]:
    """The binding of every declared route."""
    for domain in sorted({route.domain for route in ROUTES}):
        module = import_module(_OUTSIDE.get(domain, f"backend.domains.{domain}.routes"))
        yield from _router(module).bindings.values()


def _router(module: Any) -> Router:
    """The slice's router. Binding calls no service, so none is needed."""
    services = inspect.signature(module.build_router).parameters
    return module.build_router(*(_Unneeded() for _ in services))


class _Unneeded:
    """Stands for services, and for what they are parts of."""

    def __getattr__(self, name: str) -> "_Unneeded":
        return self
