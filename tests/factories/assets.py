"""Assets in tests: the service over any ports, and assets that it has created."""

from datetime import UTC, datetime

from backend.core.clock import Clock
from backend.core.identity import Identity
from backend.core.objects import Objects
from backend.core.tables import Tables
from backend.domains.access.repository.deleted_names import DeletedNameRepository
from backend.domains.access.repository.policies import PolicyRepository
from backend.domains.access.service.deleted_names import DeletedNames
from backend.domains.assets.models import Asset, CreateAssetBody
from backend.domains.assets.repository import AssetRepository
from backend.domains.assets.service.commands import AssetService
from backend.domains.audit.service.commands import AuditService
from backend.domains.buckets.repository import BucketRepository
from backend.domains.buckets.service import BucketService
from backend.domains.databases.models import CreateDatabaseBody
from backend.domains.databases.repository import DatabaseRepository
from backend.domains.databases.service import DatabaseService, Purges
from backend.domains.tags.models import TagBody, TagTypeBody
from backend.domains.tags.repository import TagRepository, TagTypeRepository
from backend.domains.tags.service import TagService
from tests.factories.access import OnlyUser
from tests.factories.audit import audit_service
from tests.factories.buckets import BUCKET_ID, stored_bucket
from tests.factories.jobs import job_service

NOON = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
ADMIN = Identity("admin")
TAGS = ("red", "blue", "large")
"""The existing tags; no tag type is required."""


def asset_service(
    tables: Tables, objects: Objects, *, clock: Clock = lambda: NOON, base_prefix: str = "/"
) -> AssetService:
    """The service with one bucket record, in which `admin` may do everything."""
    audit = audit_service(objects, clock)
    databases = database_service(tables, audit, clock, base_prefix=base_prefix)
    return AssetService(
        assets=AssetRepository(tables),
        databases=databases,
        buckets=databases.buckets,
        tags=_tag_service(tables, databases, audit, clock),
        objects=objects,
        authorization=OnlyUser(),
        audit=audit,
        clock=clock,
    )


def database_service(
    tables: Tables, audit: AuditService, clock: Clock, *, base_prefix: str = "/"
) -> DatabaseService:
    """The service with one bucket record, in which `admin` may do everything."""
    stored_bucket(tables, prefix=base_prefix)
    buckets = BucketService(BucketRepository(tables), OnlyUser())
    names = DeletedNames(DeletedNameRepository(tables), OnlyUser())
    return DatabaseService(DatabaseRepository(tables), buckets, names, OnlyUser(), audit, clock)


def _tag_service(
    tables: Tables, databases: DatabaseService, audit: AuditService, clock: Clock
) -> TagService:
    types = TagTypeRepository(tables)
    jobs = job_service(tables, clock)
    service = TagService(
        TagRepository(tables),
        types,
        databases,
        PolicyRepository(tables),
        DeletedNames(DeletedNameRepository(tables), OnlyUser()),
        OnlyUser(),
        audit,
        jobs,
        clock,
    )
    service.create_tag_type(
        ADMIN, TagTypeBody(tag_type_name="look", description="How it looks", required="False")
    )
    for name in TAGS:
        service.create_tag(ADMIN, TagBody(tag_name=name, description=name, tag_type_name="look"))
    return service


def created_database(service: AssetService, database_id: str = "museum") -> str:
    """Create a database with the bucket of the factory; return its id."""
    body = CreateDatabaseBody(
        database_id=database_id, description="All of the museum", default_bucket_id=BUCKET_ID
    )
    return service.databases.create_database(ADMIN, body).database_id


def created_asset(
    service: AssetService,
    asset_id: str = "statue",
    *,
    database_id: str = "museum",
    name: str = "A statue",
    is_distributable: bool = True,
    tags: tuple[str, ...] = (),
) -> Asset:
    """Create an asset in an existing database."""
    body = CreateAssetBody(
        database_id=database_id,
        asset_id=asset_id,
        asset_name=name,
        description="Made of marble",
        is_distributable=is_distributable,
        tags=list(tags),
    )
    return service.create_asset(ADMIN, body)


def no_purges() -> Purges:
    """For routers of tests that send no request to purge a database."""
    raise AssertionError("no purge is expected")
