"""The requests that archive, restore and delete an asset: one transaction, then a job.

The row is in its new state when the request returns, whatever the number of files. Small jobs are
done within the request; the worker completes others.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from backend.core.attempts import attempts
from backend.core.authorization import require
from backend.core.clock import Clock, iso
from backend.core.errors import UnavailableError
from backend.core.identity import Identity
from backend.core.references import AssetRef
from backend.core.transactions import Write
from backend.domains.asset_lifecycle import rules
from backend.domains.asset_lifecycle.errors import (
    AssetActiveError,
    AssetArchivedError,
    AssetBusyError,
    DatabaseDeletedError,
)
from backend.domains.asset_lifecycle.models import DeletedAsset
from backend.domains.asset_lifecycle.repository import LifecycleRepository
from backend.domains.asset_lifecycle.service.jobs import RESTORES, ArchiveSteps
from backend.domains.assets.errors import AssetNotFoundError, AssetRevisionError
from backend.domains.assets.models import Asset
from backend.domains.assets.service.commands import AssetService
from backend.domains.assets.service.queries import secured
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditService
from backend.domains.databases.errors import DatabaseNotFoundError
from backend.domains.jobs.models import Job, Step
from backend.domains.jobs.service.commands import JobService
from backend.domains.jobs.service.runner import JobRunner
from backend.spec import routes
from backend.spec.jobs import ARCHIVE_ASSET, DELETE_ASSET, UNARCHIVE_ASSET, JobKind
from backend.spec.routes import Action, Route
from backend.values import frozen

# Time after the start of a request in which steps of its job must end. The request must respond
# within five seconds (decision 12).
REQUEST_TIME = timedelta(seconds=2)
_ACTIONS: dict[str, Action] = {
    ARCHIVE_ASSET.name: routes.ARCHIVE_ASSET.action,
    UNARCHIVE_ASSET.name: routes.UNARCHIVE_ASSET.action,
    DELETE_ASSET.name: routes.DELETE_ASSET.action,
}
_ATTEMPTS = 8  # of a change that conflicts with edits of the asset


class RelatedChanges(NamedTuple):
    """Changes of another slice in the same transaction, and their audit values."""

    writes: Sequence[Write]
    before: Mapping[str, Any]
    after: Mapping[str, Any]


class Composed(NamedTuple):
    """The route that requests a change of state, and the changes that accompany it.

    `along` is called with the asset in its current state.
    """

    route: Route
    along: Callable[[Asset], RelatedChanges]


@frozen
class Started:
    """A committed change of state, and the current state of the job that does the rest."""

    asset_id: str
    at: str
    job: Job


@dataclass(eq=False, repr=False)
class LifecycleService:
    """Changes states of assets.

    `at_rest` checks that no change of an asset's files is in progress.
    """

    repository: LifecycleRepository
    assets: AssetService
    jobs: JobService
    runner: JobRunner
    audit: AuditService
    steps: ArchiveSteps
    at_rest: Callable[[str], Write]
    clock: Clock

    def archive_asset(
        self,
        caller: Identity,
        database_id: str,
        asset_id: str,
        *,
        reason: str | None = None,
        composed: Composed | None = None,
        revision: int | None = None,
    ) -> Started:
        """Archive an asset; its files follow, and the composed changes are made with it.

        Raises:
            AssetArchivedError: it is archived already.
            AssetBusyError: it is still being restored.
            AssetNotFoundError: it does not exist, or the caller may not see it.
            AssetRevisionError: it has another revision, or is changed at every attempt.
            ChangeBusyError: files of it are being changed.
            PermissionDeniedError: the caller may see it, but not archive it.
        """

        def change(asset: Asset, job: Job, at: datetime) -> list[Write]:
            if asset.is_archived:
                raise AssetArchivedError(asset_id)
            begins = self._start_writes(asset, job)
            changed = rules.archived_form(
                asset, by=caller.user_id, at=iso(at), reason=reason, job_id=job.job_id
            )
            after = _attributes(changed)
            return [
                *self.assets.move_writes(caller, asset, changed),
                *begins,
                self.at_rest(asset.asset_id),
                *self._composed_writes(caller, routes.ARCHIVE_ASSET, asset, after, at, composed),
            ]

        until = self.clock() + REQUEST_TIME
        ref = AssetRef(database_id, asset_id)
        started = self._change_asset(caller, ARCHIVE_ASSET, ref, change, revision)
        return self._run(started, self.steps.archive, until)

    def unarchive_asset(
        self,
        caller: Identity,
        database_id: str,
        asset_id: str,
        *,
        reason: str | None = None,
        composed: Composed | None = None,
        files: bool = True,
        revision: int | None = None,
    ) -> Started:
        """Restore an archived asset; the files that were archived with it follow, with `files`.

        Raises:
            AssetActiveError: it is not archived.
            AssetBusyError: it is still being archived.
            AssetNotFoundError: it does not exist, or the caller may not see it.
            AssetRevisionError: it has another revision, or is changed at every attempt.
            DatabaseDeletedError: its database is deleted.
            PermissionDeniedError: the caller may see it, but not restore it.
        """

        def change(asset: Asset, job: Job, at: datetime) -> list[Write]:
            if not asset.is_archived:
                raise AssetActiveError(asset_id)
            if not files:
                job = job.model_copy(update={"parameters": {**job.parameters, RESTORES: False}})
            begins = self._start_writes(asset, job)
            changed = rules.unarchived_form(asset, at=iso(at), job_id=job.job_id)
            after = _attributes(changed) | reason_values("unarchivedReason", reason)
            after |= {} if files else {RESTORES: False}
            return [
                *self.assets.move_writes(caller, asset, changed, reason=reason),
                *begins,
                *self._composed_writes(caller, routes.UNARCHIVE_ASSET, asset, after, at, composed),
            ]

        until = self.clock() + REQUEST_TIME
        ref = AssetRef(database_id, asset_id)
        try:
            started = self._change_asset(caller, UNARCHIVE_ASSET, ref, change, revision)
        except DatabaseNotFoundError as error:
            raise DatabaseDeletedError(database_id, asset_id) from error
        return self._run(started, self.steps.unarchive, until)

    def delete_asset(
        self,
        caller: Identity,
        database_id: str,
        asset_id: str,
        *,
        reason: str | None = None,
        revision: int | None = None,
    ) -> Started:
        """Permanently delete an asset, active or archived.

        It is absent at once, a job removes its data.

        Its id and prefix remain reserved until the job has ended.

        Raises:
            AssetNotFoundError: it does not exist, or the caller may not see it.
            AssetRevisionError: it has another revision, or is changed at every attempt.
            PermissionDeniedError: the caller may see it, but not delete it.
        """

        def change(asset: Asset, job: Job, at: datetime) -> list[Write]:
            return self._deletion_writes(caller, asset, job, at, reason)

        return self._change_asset(
            caller, DELETE_ASSET, AssetRef(database_id, asset_id), change, revision
        )

    def delete_archived(
        self, caller: Identity, database_id: str, *also: Write, limit: int, reason: str
    ) -> int:
        """Start jobs that delete the first archived assets of a database; return their number.

        For the slice that purges databases: no permission is checked. `also` is part of the
        transaction of each asset.

        Raises:
            AssetRevisionError: one of them is changed concurrently at every attempt.
        """
        asset_ids = self.repository.archived_assets(database_id, limit)
        for asset_id in asset_ids:
            self._delete_if_there(caller, AssetRef(database_id, asset_id), also, reason)
        return len(asset_ids)

    @attempts(_ATTEMPTS, AssetRevisionError)
    def _delete_if_there(
        self, caller: Identity, ref: AssetRef, also: Sequence[Write], reason: str
    ) -> None:
        asset = self.assets.find_asset(*ref.ids)
        if asset is None:  # a user has changed the asset meanwhile
            return
        job, at = self._new(DELETE_ASSET, caller, asset), self.clock()
        self.repository.commit([*also, *self._deletion_writes(caller, asset, job, at, reason)])

    def _deletion_writes(
        self, caller: Identity, asset: Asset, job: Job, at: datetime, reason: str | None
    ) -> list[Write]:
        left = reason_values("deletedReason", reason)
        entry = self._entry(caller, routes.DELETE_ASSET, asset, (_attributes(asset), left), at)
        removal = self.assets.removal_writes(caller, asset, job.job_id, at=at)
        return [*removal, self.jobs.put(job), entry]

    def _change_asset(
        self,
        caller: Identity,
        kind: JobKind,
        ref: AssetRef,
        change: Callable[[Asset, Job, datetime], list[Write]],
        revision: int | None,
    ) -> Started:
        """Change the asset in its current state, or at a revision, and create its job.

        Each attempt may wait for seconds while other transactions hold the asset; no attempt starts
        after the time of the request.
        """
        until = self.clock() + REQUEST_TIME
        for attempt in range(_ATTEMPTS):  # by hand: it also ends after a time
            if attempt and self.clock() >= until:
                break
            asset = self._find(caller, *ref.ids)
            require(self.assets.authorization, caller, _ACTIONS[kind.name], secured(asset))
            if revision is not None and revision != asset.revision:
                raise AssetRevisionError(asset.asset_id)
            at = self.clock()
            job = self._new(kind, caller, asset)
            try:
                self.repository.commit(change(asset, job, at))
            except AssetRevisionError:
                continue
            return Started(asset.asset_id, iso(at), job)
        raise AssetRevisionError(ref.asset_id)

    @attempts(2, AssetNotFoundError)  # while it moves, one read may miss both rows
    def _find(self, caller: Identity, database_id: str, asset_id: str) -> Asset:
        """Return the asset, active or archived."""
        return self.assets.get_asset(caller, database_id, asset_id, show_archived=True)

    def _start_writes(self, asset: Asset, job: Job) -> list[Write]:
        """Return writes that start the job, and require that the job of the last change has ended.

        Raises:
            AssetBusyError: the last job has not ended.
        """
        last = None if asset.lifecycle_job_id is None else self.jobs.find(asset.lifecycle_job_id)
        if last is None:
            return [self.jobs.put(job)]
        busy = AssetBusyError(asset.asset_id, last.job_id)
        if not last.is_finished:
            raise busy
        # If the last job was cancelled, its worker may be in the middle of a step, and this job
        # would miss files that the step hides or restores: it waits for the end of that lease.
        waiting = job.model_copy(update={"lease_until": last.lease_until})
        return [self.jobs.require_state(last, busy), self.jobs.put(waiting)]

    def _composed_writes(
        self,
        caller: Identity,
        route: Route,
        asset: Asset,
        after: dict[str, Any],
        at: datetime,
        composed: Composed | None,
    ) -> list[Write]:
        """Return the composed writes, and the one audit entry of the transaction."""
        if composed is None:
            return [self._entry(caller, route, asset, (_attributes(asset), after), at)]
        along = composed.along(asset)
        changes = ({**_attributes(asset), **along.before}, {**after, **along.after})
        return [*along.writes, self._entry(caller, composed.route, asset, changes, at)]

    def commit(
        self,
        caller: Identity,
        route: Route,
        asset: Asset,
        changes: tuple[Mapping[str, Any], Mapping[str, Any]],
        writes: Sequence[Write],
    ) -> None:
        """Carry out writes of the slices above, with the audit entry of their changes."""
        entry = self._entry(caller, route, asset, changes, self.clock())
        self.repository.commit([*writes, entry])

    def _entry(
        self,
        caller: Identity,
        route: Route,
        asset: Asset,
        changes: tuple[Mapping[str, Any], Mapping[str, Any]],
        at: datetime,
    ) -> Write:
        entity = audit_entity("asset", asset.database_id, asset.asset_id)
        return self.audit.entry(
            caller, route.name, entity, before=changes[0], after=changes[1], at=at
        )

    def _new(self, kind: JobKind, caller: Identity, asset: Asset) -> Job:
        deleted = DeletedAsset(bucket_id=asset.bucket_id, asset_location=asset.asset_location)
        return self.jobs.new(
            kind,
            rules.job_id(kind, asset),
            caller=caller,
            database_id=asset.database_id,
            asset_id=asset.asset_id,
            parameters={**deleted.model_dump(by_alias=True), "revision": asset.revision + 1},
        )

    def _run(self, started: Started, step: Step, until: datetime) -> Started:
        """Run the job as far as time allows; the job's own message continues it."""
        job = started.job
        if self.clock() >= until:  # the change itself used up the time
            return started
        try:
            stopped = self.runner.run(job.job_id, step, until=until, to_end=True)
            job = stopped or self.jobs.find(job.job_id) or job
        except UnavailableError:  # the asset has changed anyway, as requested
            return started
        return Started(started.asset_id, started.at, job)


def _attributes(asset: Asset) -> dict[str, Any]:
    """Return the attributes of an asset as audit entries contain them."""
    return asset.model_dump(by_alias=True, exclude_none=True, mode="json")


def reason_values(name: str, reason: str | None) -> dict[str, Any]:
    """Return the reason of a change as its audit entry contains it."""
    return {} if reason is None else {name: reason}
