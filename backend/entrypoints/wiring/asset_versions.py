"""Wires asset versions, for the API and for workers."""

from backend.domains.asset_versions.repository import VersionRepository
from backend.domains.asset_versions.service import (
    FileRestoration,
    RecordRestoration,
    VersionCreation,
    VersionQueries,
    VersionSteps,
    VersionUpdates,
)
from backend.domains.files.service import FileStates
from backend.entrypoints.wiring.assets import assets
from backend.entrypoints.wiring.context import Context, once
from backend.entrypoints.wiring.files import copies
from backend.entrypoints.wiring.jobs import jobs, runner
from backend.entrypoints.wiring.rebuilds import reindexing


def version_creation(context: Context) -> VersionCreation:
    return VersionCreation(
        repository=VersionRepository(context.tables),
        assets=assets(context),
        jobs=jobs(context),
        runner=runner(context),
        steps=version_steps(context),
        clock=context.clock,
    )


def version_queries(context: Context) -> VersionQueries:
    repository, states = VersionRepository(context.tables), FileStates(context.objects)
    return VersionQueries(repository, assets(context), states, context.clock)


def version_updates(context: Context) -> VersionUpdates:
    repository = VersionRepository(context.tables)
    return VersionUpdates(repository, assets(context), context.audit, context.clock)


@once
def version_steps(context: Context) -> VersionSteps:
    # The API of the lifecycle has this module, and no records.
    from backend.entrypoints.wiring.metadata import records  # noqa: PLC0415

    repository, states = VersionRepository(context.tables), FileStates(context.objects)
    return VersionSteps(
        repository=repository,
        assets=assets(context),
        jobs=jobs(context),
        audit=context.audit,
        states=states,
        file_restoration=FileRestoration(
            repository=repository,
            assets=assets(context),
            states=states,
            copies=copies(context),
            reindexing=reindexing(context),
            clock=context.clock,
        ),
        record_restoration=RecordRestoration(
            repository, records(context), context.audit, context.clock
        ),
        clock=context.clock,
    )
