"""The OpenAPI document of all routes: collects the bindings of the slices."""

import inspect
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

from backend.http.openapi import Json, document
from backend.http.router import Binding, Router
from backend.spec.routes import ROUTES

_OUTSIDE = {
    "search": "backend.search.query.routes",
    "operations": "backend.operations.routes",
    "queues": "backend.operations.queue_routes",
    "search_indexes": "backend.operations.search_routes",
}
"""Routes that belong to no domain."""


@cache
def openapi() -> Json:
    """Return the document, created at the first call, which loads all routes and models."""
    return document(bindings())


def bindings() -> Iterator[Binding]:
    """Return the binding of every declared route."""
    for domain in sorted({route.domain for route in ROUTES}):
        module = import_module(_OUTSIDE.get(domain, f"backend.domains.{domain}.routes"))
        yield from _router(module).bindings.values()


def _router(module: Any) -> Router:
    """Return the slice's router. Binding calls no service, so none is needed."""
    services = inspect.signature(module.build_router).parameters
    return module.build_router(*(_Unneeded() for _ in services))


class _Unneeded:
    """A placeholder for services and their parts."""

    def __getattr__(self, name: str) -> "_Unneeded":
        return self
