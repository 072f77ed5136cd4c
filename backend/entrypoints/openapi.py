"""The OpenAPI document of all routes: collects the bindings of the slices."""

import inspect
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module

from backend.http.openapi import Json, document
from backend.http.router import Binding, Router
from backend.spec.routes import ROUTES

_MODULES = {
    "access": ("backend.domains.access.routes", "backend.domains.identity.routes"),
    "search": ("backend.search.query.routes",),
    "operations": ("backend.operations.routes",),
    "queues": ("backend.operations.queue_routes",),
    "search_indexes": ("backend.operations.search_routes",),
}
"""The modules that bind the routes of a domain, unless the slice of its name does."""


@cache
def openapi() -> Json:
    """Return the document, created at the first call, which loads all routes and models."""
    return document(bindings())


def bindings() -> Iterator[Binding]:
    """Return the binding of every declared route."""
    for domain in sorted({route.domain for route in ROUTES}):
        for build_router in routers(domain):
            # Binding calls no service, so none is needed.
            services = (_Unneeded() for _ in inspect.signature(build_router).parameters)
            yield from build_router(*services).bindings.values()


def routers(domain: str) -> list[Callable[..., Router]]:
    """Return the functions that build the routers of a domain."""
    modules = _MODULES.get(domain, (f"backend.domains.{domain}.routes",))
    return [import_module(module).build_router for module in modules]


class _Unneeded:
    """A placeholder for services and their parts."""

    def __getattr__(self, name: str) -> "_Unneeded":
        return self
