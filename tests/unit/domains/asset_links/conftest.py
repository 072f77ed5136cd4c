"""Some assets without links."""

import pytest

from backend.aws.objects import S3Objects
from backend.aws.tables import DynamoTables
from tests.factories.links import Links, links


@pytest.fixture
def museum(tables: DynamoTables, objects: S3Objects) -> Links:
    return links(tables, objects, assets=("hall", "statue", "plinth", "twin"))
