"""Every declared route is bound to exactly one function, in the slice of its domain.

It has one case, from which tests take its requests.
"""

import inspect
from collections import Counter
from importlib import import_module
from typing import Any

import pytest

from backend.spec.routes import ROUTES, Route
from tests.routes import CASES

BESIDE = {
    "search": "backend.search.query.routes",
    "operations": "backend.operations.routes",
    "queues": "backend.operations.queue_routes",
    "search_indexes": "backend.operations.search_routes",
}
"""No slices of the asset domain: they stand beside the domains."""
DOMAINS = sorted({route.domain for route in ROUTES})


def _bindings(domain: str) -> dict[Route, Any]:
    """The bindings of a domain's router, made with nothing behind it."""
    module = import_module(BESIDE.get(domain, f"backend.domains.{domain}.routes"))
    build_router = module.build_router
    services = [object() for _ in inspect.signature(build_router).parameters]
    return build_router(*services).bindings


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_domain_binds_exactly_its_own_routes(domain: str) -> None:
    assert set(_bindings(domain)) == {route for route in ROUTES if route.domain == domain}


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_route_and_the_function_bound_to_it_have_the_same_name(domain: str) -> None:
    for route, binding in _bindings(domain).items():
        assert binding.endpoint.__name__ == route.name


def test_every_declared_route_has_exactly_one_case_in_the_registry_of_tests() -> None:
    assert Counter(case.route.key for case in CASES) == Counter(route.key for route in ROUTES)


def test_a_case_can_name_the_state_in_which_it_succeeds() -> None:
    assert [case.route.key for case in CASES if case.succeeds not in case.states] == []
