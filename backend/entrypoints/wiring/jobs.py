"""Wires jobs. What only resumed jobs and permission checks need is imported when it is used."""
# ruff: noqa: PLC0415

from functools import partial
from typing import TYPE_CHECKING

from backend.core.authorization import Secured
from backend.domains.jobs.models import Job
from backend.domains.jobs.repository import JobRepository
from backend.domains.jobs.service.commands import JobService
from backend.domains.jobs.service.runner import JobRunner
from backend.entrypoints.wiring.context import Context, once
from backend.spec.jobs import ARCHIVE_ASSET, CHANGE_FILES, MOVE_FOLDER, UNARCHIVE_ASSET

if TYPE_CHECKING:
    from backend.domains.assets.models import Asset


@once
def jobs(context: Context) -> JobService:
    check_asset = partial(_check_asset, context)
    return JobService(
        JobRepository(context.tables),
        context.authorization,
        context.audit,
        context.clock,
        subject=partial(_subject, context),
        resumable={
            ARCHIVE_ASSET.name: check_asset,
            UNARCHIVE_ASSET.name: check_asset,
            CHANGE_FILES.name: partial(_check_change, context),
            MOVE_FOLDER.name: partial(_check_change, context),
        },
    )


@once
def runner(context: Context) -> JobRunner:
    return JobRunner(JobRepository(context.tables), context.clock)


def _subject(context: Context, job: Job) -> Secured | None:
    """Return the asset of a job for permission checks, active or archived."""
    from backend.domains.assets.service.queries import secured

    asset = _asset_of(context, job)
    return None if asset is None else secured(asset)


def _check_change(context: Context, job: Job) -> None:
    """Refuse to resume a change of files that has ended, or was undone."""
    from backend.domains.files.repository import FileChangeRepository

    FileChangeRepository(context.tables).check_unfinished(job.job_id, job.asset_id or "")


def _check_asset(context: Context, job: Job) -> None:
    """Refuse to resume a job whose asset does not exist, or has changed its state."""
    from backend.domains.asset_lifecycle.service.jobs import check_asset

    check_asset(job, _asset_of(context, job))


def _asset_of(context: Context, job: Job) -> "Asset | None":
    from backend.domains.assets.repository import AssetRepository

    if job.database_id is None or job.asset_id is None:
        return None
    return AssetRepository(context.tables).get(job.database_id, job.asset_id, in_archive=True)
