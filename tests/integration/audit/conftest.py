"""Tables and buckets of the product on real engines, for the audit log."""

from dataclasses import dataclass

import pytest

from backend.aws.objects import S3Objects
from backend.aws.settings import Settings
from backend.aws.tables import DynamoTables
from backend.domains.assets.service.commands import AssetService
from backend.domains.metadata.service.commands import MetadataService
from tests.engines import RealEngines
from tests.factories.assets import asset_service, created_asset, created_database
from tests.factories.audit import ARCHIVE
from tests.factories.metadata import metadata_service
from tests.integration.tables import TableSet


@dataclass(frozen=True)
class Place:
    """The places of the product's data; the settings name its tables."""

    engines: RealEngines
    settings: Settings

    @property
    def tables(self) -> DynamoTables:
        return DynamoTables(self.engines.dynamodb, self.settings)

    @property
    def objects(self) -> S3Objects:
        return S3Objects(self.engines.s3)


@pytest.fixture
def archive(engines: RealEngines) -> None:
    """The bucket of the audit archive; keys of large values are their checksums."""
    buckets = {bucket.get("Name") for bucket in engines.s3.list_buckets()["Buckets"]}
    if ARCHIVE not in buckets:
        engines.s3.create_bucket(Bucket=ARCHIVE)


@pytest.fixture
def place(engines: RealEngines, table_set: TableSet, archive: None) -> Place:
    return Place(engines, Settings(table_set.for_others()))


@pytest.fixture
def assets(place: Place, asset_bucket: None) -> AssetService:
    """The service with one asset."""
    service = asset_service(place.tables, place.objects)
    created_database(service)
    created_asset(service)
    return service


@pytest.fixture
def metadata(place: Place, assets: AssetService) -> MetadataService:
    return metadata_service(assets, place.tables, place.objects)
