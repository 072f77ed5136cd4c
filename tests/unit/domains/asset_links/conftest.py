"""Some assets without links."""

import pytest

from backend.aws.objects import S3Objects
from backend.core.tables import Tables
from tests.factories.links import Links, links


@pytest.fixture
def museum(tables: Tables, objects: S3Objects) -> Links:
    return links(tables, objects, assets=("hall", "statue", "plinth", "twin"))
