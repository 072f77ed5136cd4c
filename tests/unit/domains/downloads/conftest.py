"""The gallery over objects of moto, which presigns as S3 does."""

import pytest

from backend.aws.objects import S3Objects
from backend.core.tables import Tables
from tests.factories.files import Gallery, gallery


@pytest.fixture
def museum(tables: Tables, objects: S3Objects) -> Gallery:
    return gallery(tables, objects)
