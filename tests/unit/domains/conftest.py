"""The world of the registry's requests, built once: no request leaves anything behind in it."""

from functools import cache

import pytest

from tests.routes.model import Case, Target
from tests.unit.domains.access.matrix.seeding import Seeded
from tests.unit.domains.access.matrix.world import Both, BothOf


@pytest.fixture(scope="session")
def world() -> Seeded:
    return Seeded()


@pytest.fixture(scope="session")
def both_of(world: Seeded) -> BothOf:
    """Return what a case's request does, refused and done."""

    @cache
    def both(case: Case) -> Both:
        question = case.request(Target(world, case.succeeds))
        refused = world.outcome(case.route, question, "user-routes")
        return Both(question, refused, world.outcome(case.route, question))

    return both
