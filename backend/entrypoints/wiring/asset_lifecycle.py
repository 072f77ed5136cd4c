"""Wires archiving, restoring and deleting assets."""

from backend.domains.asset_lifecycle.repository import LifecycleRepository
from backend.domains.asset_lifecycle.service.commands import LifecycleService
from backend.domains.asset_lifecycle.service.jobs import ArchiveSteps
from backend.domains.asset_lifecycle.service.versions import VersionLifecycle
from backend.domains.files.repository import FileChangeRepository, FileRepository
from backend.domains.files.service.origin_records import OriginRecords
from backend.entrypoints.wiring.asset_versions import version_updates
from backend.entrypoints.wiring.assets import assets
from backend.entrypoints.wiring.context import Context, once
from backend.entrypoints.wiring.jobs import jobs, runner
from backend.entrypoints.wiring.rebuilds import reindexing


def version_lifecycle(context: Context) -> VersionLifecycle:
    return VersionLifecycle(lifecycle(context), version_updates(context))


@once
def lifecycle(context: Context) -> LifecycleService:
    return LifecycleService(
        repository=LifecycleRepository(context.tables),
        assets=assets(context),
        jobs=jobs(context),
        runner=runner(context),
        audit=context.audit,
        steps=archive_steps(context),
        at_rest=FileChangeRepository(context.tables).at_rest,
        clock=context.clock,
    )


@once
def archive_steps(context: Context) -> ArchiveSteps:
    return ArchiveSteps(
        repository=LifecycleRepository(context.tables),
        assets=assets(context),
        objects=context.objects,
        reindexing=reindexing(context),
        origins=OriginRecords(FileRepository(context.tables)),
    )
