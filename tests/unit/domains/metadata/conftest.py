"""The metadata service over tables and objects in memory: one asset with one file."""

import pytest

from backend.aws.objects import S3Objects
from backend.core.tables import Tables
from backend.domains.assets.service.commands import AssetService
from backend.domains.metadata.service.commands import MetadataService
from tests.factories.assets import asset_service, created_asset, created_database
from tests.factories.http import Client
from tests.factories.metadata import metadata_router, metadata_service


@pytest.fixture
def assets(tables: Tables, objects: S3Objects) -> AssetService:
    service = asset_service(tables, objects)
    created_database(service)
    created_asset(service)
    objects.put("assetbucket", "statue/a/b.glb", b"x", content_type="model/gltf", metadata={})
    return service


@pytest.fixture
def service(tables: Tables, objects: S3Objects, assets: AssetService) -> MetadataService:
    return metadata_service(assets, tables, objects)


@pytest.fixture
def client(service: MetadataService) -> Client:
    return Client(metadata_router(service))
