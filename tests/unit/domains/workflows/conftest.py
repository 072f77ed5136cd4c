"""Workflows of a product in memory."""

import pytest

from tests.unit.domains.audit.product import Product
from tests.unit.domains.definitions import Definitions


@pytest.fixture
def definitions() -> Definitions:
    return Definitions(Product())
