"""Wires asset versions, for the API and for workers."""
# ruff: noqa: PLC0415 - most requests read versions; the API of the lifecycle only updates them

from typing import TYPE_CHECKING

from backend.domains.asset_versions.repository import VersionRepository
from backend.domains.asset_versions.service.updates import VersionUpdates
from backend.entrypoints.wiring.assets import assets
from backend.entrypoints.wiring.context import Context, once

if TYPE_CHECKING:
    from backend.domains.asset_versions.service.commands import VersionCreation
    from backend.domains.asset_versions.service.jobs import VersionSteps
    from backend.domains.asset_versions.service.queries import VersionQueries


@once
def version_creation(context: Context) -> "VersionCreation":
    from backend.domains.asset_versions.service.commands import VersionCreation
    from backend.entrypoints.wiring.jobs import jobs, runner

    return VersionCreation(
        repository=VersionRepository(context.tables),
        assets=assets(context),
        jobs=jobs(context),
        runner=runner(context),
        steps=version_steps(context),
        clock=context.clock,
    )


def version_queries(context: Context) -> "VersionQueries":
    from backend.domains.asset_versions.service.queries import VersionQueries
    from backend.domains.files.service.states import FileStates

    repository, states = VersionRepository(context.tables), FileStates(context.objects)
    return VersionQueries(repository, assets(context), states, context.clock)


def version_updates(context: Context) -> VersionUpdates:
    repository = VersionRepository(context.tables)
    return VersionUpdates(repository, assets(context), context.audit, context.clock)


@once
def version_steps(context: Context) -> "VersionSteps":
    from backend.domains.asset_versions.service.jobs import VersionSteps
    from backend.domains.asset_versions.service.restoration import (
        FileRestoration,
        RecordRestoration,
    )
    from backend.domains.files.repository import FileChangeRepository
    from backend.domains.files.service.states import FileStates
    from backend.entrypoints.wiring.files import copies
    from backend.entrypoints.wiring.jobs import jobs
    from backend.entrypoints.wiring.metadata import records
    from backend.entrypoints.wiring.rebuilds import reindexing

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
            repository,
            records(context),
            context.audit,
            FileChangeRepository(context.tables).require_unchanged,
        ),
        records=records(context),
        clock=context.clock,
    )
