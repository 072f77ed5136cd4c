"""The world of the matrix, made once: no request leaves anything behind in it."""

import pytest

from tests.unit.domains.access.matrix.seeding import Seeded


@pytest.fixture(scope="session")
def world() -> Seeded:
    return Seeded()
