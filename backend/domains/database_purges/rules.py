"""Which rows a deleted database leaves beside its assets and jobs. Pure."""

from typing import get_args

from backend.domains.databases.models import Database
from backend.domains.metadata_schemas.models import EntityType
from backend.spec import keys
from backend.spec.jobs import PURGE_DATABASE
from backend.spec.tables import metadata, workflows
from backend.spec.tables.model import Index, Table
from backend.values import frozen


@frozen
class Remains:
    """Rows of one partition of a table, or of an index of it."""

    table: Table
    partition: str
    index: Index | None = None


def remains_of(database_id: str) -> tuple[Remains, ...]:
    """The rows that are found by a query."""
    return (
        Remains(metadata.DATABASE_METADATA, database_id, metadata.DATABASE_METADATA_BY_DATABASE),
        Remains(metadata.RECORD_SETS, database_id),
        Remains(metadata.METADATA_SCHEMAS, database_id, metadata.SCHEMAS_BY_DATABASE),
        Remains(workflows.PIPELINES, keys.archived(database_id)),
        Remains(workflows.WORKFLOWS, keys.archived(database_id)),
    )


def scope_keys(database_id: str) -> list[dict[str, str]]:
    """The keys of the items that name the database's schemas, one for each entity type."""
    scope = keys.SCHEMA_SCOPE
    return [{scope.name: scope.build(database_id, kind)} for kind in get_args(EntityType)]


def job_id(deleted: Database) -> str:
    """The id of the job that purges a database.

    An id can be taken and deleted many times: the time of the deletion distinguishes these. The
    revision distinguishes a second purge of one deletion from the first, whose row has expired.
    """
    when = "".join(char for char in deleted.deleted_at or "" if char.isdecimal())
    return PURGE_DATABASE.job_id(deleted.database_id, when or "0", deleted.revision + 1)
