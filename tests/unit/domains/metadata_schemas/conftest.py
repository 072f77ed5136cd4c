"""The service of metadata schemas over tables in memory, and metadata that they govern."""

import pytest

from backend.aws.objects import S3Objects
from backend.core.tables import Tables
from backend.domains.assets.service.commands import AssetService
from backend.domains.metadata_schemas.routes import build_router
from tests.factories.assets import asset_service, created_asset, created_database
from tests.factories.http import Client
from tests.factories.metadata import metadata_router, metadata_service, schema_service


@pytest.fixture
def assets(tables: Tables, objects: S3Objects) -> AssetService:
    service = asset_service(tables, objects)
    created_database(service)
    created_asset(service)
    objects.put("assetbucket", "statue/a/b.glb", b"x", content_type="model/gltf", metadata={})
    return service


@pytest.fixture
def client(assets: AssetService, tables: Tables) -> Client:
    """Calls the routes of schemas."""
    return Client(build_router(schema_service(assets, tables)))


@pytest.fixture
def writer(assets: AssetService, tables: Tables, objects: S3Objects) -> Client:
    """Calls the routes of metadata."""
    return Client(metadata_router(metadata_service(assets, tables, objects)))
