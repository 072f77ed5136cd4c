"""The rows that a deleted database leaves besides its assets and jobs. Pure."""

from typing import get_args

from backend.domains.databases.models import Database
from backend.domains.metadata_schemas.models import EntityType
from backend.spec import keys
from backend.spec.jobs import PURGE_DATABASE
from backend.spec.tables import metadata, workflows
from backend.spec.tables.model import Index, Table
from backend.values import frozen


@frozen
class RemainingRows:
    """Rows of one partition of a table, or of an index of it."""

    table: Table
    partition: str
    index: Index | None = None


def queried_remains(database_id: str) -> tuple[RemainingRows, ...]:
    """Return the rows that a query finds."""
    return (
        RemainingRows(
            metadata.DATABASE_METADATA, database_id, metadata.DATABASE_METADATA_BY_DATABASE
        ),
        RemainingRows(metadata.RECORD_SETS, database_id),
        RemainingRows(metadata.METADATA_SCHEMAS, database_id, metadata.SCHEMAS_BY_DATABASE),
        RemainingRows(workflows.PIPELINES, keys.archived(database_id)),
        RemainingRows(workflows.WORKFLOWS, keys.archived(database_id)),
    )


def scope_keys(database_id: str) -> list[dict[str, str]]:
    """Return the keys of the items that list the database's schemas, one for each entity type."""
    scope = keys.SCHEMA_SCOPE
    return [{scope.name: scope.build(database_id, kind)} for kind in get_args(EntityType)]


def job_id(deleted: Database) -> str:
    """Return the id of the job that purges a database.

    An id can be used and deleted many times: the time of the deletion distinguishes these. The
    revision distinguishes a second purge of one deletion from the first, whose row has expired.
    """
    when = "".join(char for char in deleted.deleted_at or "" if char.isdecimal())
    return PURGE_DATABASE.job_id(deleted.database_id, when or "0", deleted.revision + 1)
