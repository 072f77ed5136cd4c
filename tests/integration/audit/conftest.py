"""Tables and buckets of the product on real engines, for the audit trail."""

from dataclasses import dataclass

import pytest

from backend.aws.objects import S3Objects
from backend.aws.settings import Settings
from backend.aws.tables import DynamoTables
from backend.core.ids import new_uuid
from backend.domains.assets.service import AssetService
from backend.domains.metadata.service.verbs import MetadataService
from backend.spec.tables import TABLES
from backend.spec.tables import assets as assets_of
from backend.spec.tables.metadata import (
    ASSET_FILE_METADATA,
    METADATA_SCHEMAS,
    RECORD_SETS,
    SCHEMA_SCOPES,
)
from backend.spec.tables.operations import AUDIT, JOBS, RESERVATIONS
from backend.spec.tables.registry import TABLES as REGISTRIES
from tests.engines import OPTIONS, RealEngines
from tests.factories.assets import asset_service, created_asset, created_database
from tests.factories.audit import ARCHIVE
from tests.factories.metadata import metadata_service
from tests.factories.tables import create_table_request

USED = (
    assets_of.ASSETS,
    assets_of.ASSET_VERSIONS,
    assets_of.DATABASES,
    ASSET_FILE_METADATA,
    METADATA_SCHEMAS,
    RECORD_SETS,
    SCHEMA_SCOPES,
    AUDIT,
    JOBS,
    RESERVATIONS,
    *REGISTRIES,
)


@dataclass(frozen=True)
class Place:
    """Where the product stands: a prefix of the names of its tables."""

    engines: RealEngines
    prefix: str

    @property
    def settings(self) -> Settings:
        names = {f"TABLE_{table.name}": f"{self.prefix}-{table.name}" for table in TABLES}
        return Settings(names | {"AWS_REGION": OPTIONS.region})

    @property
    def tables(self) -> DynamoTables:
        return DynamoTables(self.engines.dynamodb, self.settings)

    @property
    def objects(self) -> S3Objects:
        return S3Objects(self.engines.s3)


@pytest.fixture
def place(engines: RealEngines) -> Place:
    made = Place(engines, new_uuid()[:8])
    for table in USED:
        engines.dynamodb.create_table(**create_table_request(table, made.settings.table(table)))
    found = {bucket.get("Name") for bucket in engines.s3.list_buckets()["Buckets"]}
    if ARCHIVE not in found:
        engines.s3.create_bucket(Bucket=ARCHIVE)
    return made


@pytest.fixture
def assets(place: Place) -> AssetService:
    """The service with one asset."""
    service = asset_service(place.tables, place.objects)
    created_database(service)
    created_asset(service)
    return service


@pytest.fixture
def metadata(place: Place, assets: AssetService) -> MetadataService:
    return metadata_service(assets, place.tables, place.objects)
