"""The world of the registry's requests, built once: no request leaves anything behind in it."""

from datetime import datetime
from functools import cache

import pytest

from backend.core.tables import Tables
from backend.domains.audit.service.commands import AuditService
from tests.factories.administration import Parts
from tests.routes.model import Case, Target
from tests.unit.domains.access.matrix.seeding import Seeded
from tests.unit.domains.access.matrix.world import Both, BothOf
from tests.unit.domains.audit.product import Product
from tests.unit.domains.definitions import Definitions


@pytest.fixture
def parts(tables: Tables, audit: AuditService, now: datetime) -> Parts:
    """The parts of the services of access and identity."""
    return Parts(tables, audit, now)


@pytest.fixture
def definitions() -> Definitions:
    """Pipelines and workflows of a product in memory."""
    return Definitions(Product())


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
