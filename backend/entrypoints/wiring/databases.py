"""Wires databases, and the start of their purges."""

from typing import TYPE_CHECKING

from backend.domains.databases.repository import DatabaseRepository
from backend.domains.databases.service import DatabaseService
from backend.entrypoints.wiring.buckets import buckets
from backend.entrypoints.wiring.context import Context, once
from backend.entrypoints.wiring.deleted_names import deleted_names
from backend.spec.settings import PROCESSING

if TYPE_CHECKING:
    from backend.domains.database_purges.service.commands import PurgeCommands


@once
def databases(context: Context) -> DatabaseService:
    return DatabaseService(
        databases=DatabaseRepository(context.tables),
        buckets=buckets(context),
        names=deleted_names(context),
        authorization=context.authorization,
        audit=context.audit,
        clock=context.clock,
    )


def is_processed(context: Context, database_id: str) -> bool:
    """Return whether shipped workflows inspect what is uploaded to a database."""
    return context.settings.number(PROCESSING) == 1 and databases(context).is_processed(database_id)


def database_purges(context: Context) -> "PurgeCommands":
    """Return what starts purges, loaded by the first request that does."""
    # ruff: noqa: PLC0415
    from backend.domains.database_purges.repository import PurgeRepository
    from backend.domains.database_purges.service.commands import PurgeCommands
    from backend.entrypoints.wiring.jobs import jobs

    repository = PurgeRepository(context.tables)
    return PurgeCommands(repository, databases(context), jobs(context), context.audit)
