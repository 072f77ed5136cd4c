"""Wires the steps of jobs that archive, delete and purge, create versions and clean up.

Loaded by the first job, because they need half of all slices.
"""

from collections.abc import Mapping

from backend.core.ids import new_uuid
from backend.domains.access.repository.constraints import ConstraintRepository
from backend.domains.access.repository.roles import GrantRepository, RoleRepository
from backend.domains.access.service.role_withdrawal import RoleWithdrawal
from backend.domains.asset_lifecycle.repository import LifecycleRepository
from backend.domains.asset_lifecycle.service.jobs import DeleteSteps
from backend.domains.assets.repository import AssetRepository
from backend.domains.assets.service.jobs import TagWithdrawal
from backend.domains.database_purges.repository import PurgeRepository
from backend.domains.database_purges.service.jobs import PurgeSteps
from backend.domains.jobs.models import Job, Progress, Step
from backend.entrypoints.wiring.asset_lifecycle import archive_steps, lifecycle
from backend.entrypoints.wiring.asset_links import asset_links
from backend.entrypoints.wiring.asset_versions import version_steps
from backend.entrypoints.wiring.assets import assets
from backend.entrypoints.wiring.context import Context
from backend.entrypoints.wiring.databases import databases
from backend.entrypoints.wiring.file_changes import change_steps
from backend.entrypoints.wiring.jobs import jobs
from backend.entrypoints.wiring.rebuilds import reindexing
from backend.entrypoints.wiring.tags import tags
from backend.spec.buckets import AUXILIARY_BUCKET
from backend.spec.jobs import (
    ARCHIVE_ASSET,
    CHANGE_FILES,
    DELETE_ASSET,
    MAKE_VERSION,
    MOVE_FOLDER,
    PURGE_DATABASE,
    UNARCHIVE_ASSET,
    WITHDRAW_ROLE,
    WITHDRAW_TAG,
)
from backend.spec.settings import SETTLE_DELAY_SECONDS


def lifecycle_steps(context: Context) -> Mapping[str, Step]:
    """Return the steps of the lifecycle worker, by kind."""
    archival = archive_steps(context)
    return {
        ARCHIVE_ASSET.name: archival.archive,
        UNARCHIVE_ASSET.name: archival.unarchive,
        DELETE_ASSET.name: delete_steps(context).delete,
        CHANGE_FILES.name: change_steps(context).step,
        MOVE_FOLDER.name: change_steps(context).step,
        MAKE_VERSION.name: version_steps(context).make,
        WITHDRAW_TAG.name: tag_withdrawal(context),
        WITHDRAW_ROLE.name: _role_withdrawal(context),
    }


def purge_steps(context: Context) -> Mapping[str, Step]:
    """Return the step of the jobs that purge databases, by kind."""
    steps = PurgeSteps(
        repository=PurgeRepository(context.tables),
        databases=databases(context),
        assets=assets(context),
        lifecycle=lifecycle(context),
        jobs=jobs(context),
        wait_seconds=_wait_seconds(context),
    )
    return {PURGE_DATABASE.name: steps.purge}


def delete_steps(context: Context) -> DeleteSteps:
    return DeleteSteps(
        repository=LifecycleRepository(context.tables),
        assets=assets(context),
        links=asset_links(context),
        objects=context.objects,
        reindexing=reindexing(context),
        auxiliary=context.settings.bucket(AUXILIARY_BUCKET),
        wait_seconds=_wait_seconds(context),
    )


def tag_withdrawal(context: Context) -> TagWithdrawal:
    return TagWithdrawal(
        assets=AssetRepository(context.tables),
        databases=databases(context),
        tags=tags(context),
        audit=context.audit,
        clock=context.clock,
        settle_delay_seconds=context.settings.number(SETTLE_DELAY_SECONDS),
    )


def _role_withdrawal(context: Context) -> Step:
    withdrawal = RoleWithdrawal(
        roles=RoleRepository(context.tables),
        grants=GrantRepository(context.tables),
        constraints=ConstraintRepository(context.tables),
        audit=context.audit,
        new_id=new_uuid,
    )

    def step(job: Job) -> Progress:
        role = str(job.parameters["roleName"])
        done = withdrawal.step(
            role, job_id=job.job_id, created_by=job.created_by, cursor=job.cursor
        )
        return Progress(cursor=done.cursor, items=done.users, finished=done.finished)

    return step


def _wait_seconds(context: Context) -> int:
    """Return how long requests and table indexes may lag, and so how long a job waits."""
    return max(1, context.settings.number(SETTLE_DELAY_SECONDS))
