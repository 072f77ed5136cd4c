"""The asset service over tables and objects in memory, with one database."""

from datetime import datetime

import pytest

from backend.aws.objects import S3Objects
from backend.core.tables import Tables
from backend.domains.assets.routes import build_router
from backend.domains.assets.service.commands import AssetService
from tests.factories.assets import asset_service, created_database
from tests.factories.http import Client


@pytest.fixture
def service(tables: Tables, objects: S3Objects, now: datetime) -> AssetService:
    service = asset_service(tables, objects, clock=lambda: now)
    created_database(service)
    return service


@pytest.fixture
def client(service: AssetService) -> Client:
    return Client(build_router(service))
