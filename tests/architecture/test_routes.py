"""Every declared route is bound to exactly one function, in the slice of its domain.

It has one case, from which tests take its requests.
"""

import inspect
from collections import Counter
from typing import Any

import pytest

from backend.entrypoints.openapi import routers
from backend.spec.routes import ROUTES, Route
from tests.routes import CASES

DOMAINS = sorted({route.domain for route in ROUTES})


def _bindings(domain: str) -> dict[Route, Any]:
    """The bindings of a domain's routers, which are built without services."""
    bound = [
        build(*(object() for _ in inspect.signature(build).parameters)).bindings
        for build in routers(domain)
    ]
    joined = {route: binding for one in bound for route, binding in one.items()}
    assert len(joined) == sum(map(len, bound))  # two slices must not bind one route
    return joined


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
