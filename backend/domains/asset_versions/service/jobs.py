"""The steps of the job that creates a version: its number, the rows of its files, then its own row.

Each step processes one page, or the small parts of a small version, so memory does not grow with
the asset. The number is drawn once, and stored in the job before anything is written under it. The
last step is the commit: one transaction that writes the version's row and ends the job, on the
condition that this worker still has its lease. The rows are not read before that. An aborted
creation is first recorded in its job, so that no other worker commits rows that are being removed;
a resumed one draws another number.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from backend.core.clock import Clock, iso
from backend.core.errors import UnavailableError, VitrineError
from backend.core.identity import Identity
from backend.core.paging import PageRequest
from backend.core.references import AssetRef
from backend.core.transactions import Write
from backend.domains.asset_versions import rules
from backend.domains.asset_versions.errors import (
    CreationCancelledError,
    RequestLostError,
    VersionOvertakenError,
)
from backend.domains.asset_versions.models import Kind
from backend.domains.asset_versions.models.jobs import Capture, CreatedVersion, VersionPlan
from backend.domains.asset_versions.repository import ROWS, VersionRepository
from backend.domains.asset_versions.service.restoration import FileRestoration, RecordRestoration
from backend.domains.assets.errors import AssetNotFoundError, AssetRevisionError
from backend.domains.assets.models import Asset, AssetVersion, CurrentVersion
from backend.domains.assets.service.commands import AssetService
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditService
from backend.domains.files.errors import ChangeEndedError
from backend.domains.files.service.states import FileStates
from backend.domains.jobs.errors import JobSettledError
from backend.domains.jobs.models import Job, Progress
from backend.domains.jobs.service.commands import JobService
from backend.domains.metadata.service.records import RecordService

_WAIT_SECONDS = 2  # between looks of a worker at an earlier version that is being made
_LOOKED_AT = 50  # earlier jobs that failed or were cancelled, one after another
_ATTEMPTS = 12  # of a commit that conflicts with edits of the asset
_COMMIT_TIME = timedelta(seconds=2)  # no more attempts after it; the worker continues later
_NOTING_TIME = timedelta(minutes=2)
"""Time after which a request that has not stored its list of files has failed."""
_RECORDS = 500  # of one page: a slow local disk writes their rows in some seconds
_SMALL = 100  # rows of a step, up to which it also begins the next part
# Attempts, and the first pause, to wait for the metadata index: 1.5 seconds in total.
_LOOKS, _FIRST_PAUSE = 5, 0.05
_BRIEF = frozenset({"metadata", "attribute", "count"})
_OPERATIONS = {"create": "create_asset_version", "revert": "revert_asset_version"}


@dataclass(eq=False, repr=False)
class VersionSteps:
    repository: VersionRepository
    assets: AssetService
    jobs: JobService
    audit: AuditService
    states: FileStates
    file_restoration: FileRestoration
    record_restoration: RecordRestoration
    records: RecordService
    clock: Clock
    pause: Callable[[float], None] = time.sleep  # noqa: TID251 - while an index catches up

    def make(self, job: Job) -> Progress:
        """Continue to create a version; if that is impossible, remove its rows.

        Raises:
            AliasTakenError: another version has got the alias meanwhile.
            JobChangedError: another worker has the lease.
            VersionOvertakenError: the asset was deleted or archived.
        """
        if job.result is not None:  # it was committed, and then its worker died
            return Progress(job.cursor, finished=True)
        plan = VersionPlan.model_validate(job.parameters)
        cursor = Capture.model_validate(job.cursor)
        if job.undo:
            self._delete_rows(job, plan, cursor)
            return Progress(finished=True, undone=True)
        if cursor.is_new and self.is_early(job):
            return Progress(job.cursor, wait_seconds=_WAIT_SECONDS)
        try:
            return self._part(job, plan, cursor)
        except UnavailableError:
            raise
        except VitrineError as error:
            # Record in the job that its number will not be used, then remove the rows. A worker
            # that has lost its lease ends at the record. One that is delayed in the removal
            # removes only rows of this number, which no later attempt uses.
            given_up = Capture(part="sweep", number=cursor.number, problem=error.message)
            # First: a worker that still creates the version ends at this record.
            noted = self.jobs.rewind(job, dump(given_up))
            self._delete_rows(job, plan, cursor)
            self.jobs.rewind(noted, dump(Capture(again=True)))  # from here the job can be resumed
            raise

    def is_early(self, job: Job) -> bool:
        """Return whether a version of the asset that was requested earlier is being made."""
        plan = VersionPlan.model_validate(job.parameters)
        after = plan.after
        # Beyond a job that was made no other can be unfinished: it waited for them, too.
        for _ in range(_LOOKED_AT):
            earlier = None if after is None else self.jobs.find(after)
            if earlier is None or earlier.state == "done":
                return False
            of_earlier = VersionPlan.model_validate(earlier.parameters)
            if of_earlier.asset_created_at != plan.asset_created_at:  # a deleted one of the same id
                return False
            if not earlier.is_finished:
                return True
            after = of_earlier.after
        return False

    def _delete_rows(self, job: Job, plan: VersionPlan, cursor: Capture) -> None:
        owner = AssetRef(database_id=job.database_id or "", asset_id=job.asset_id or "")
        self.repository.delete_named_rows(owner, plan.request_id)
        if cursor.number:
            self.repository.delete_rows(owner, cursor.number)

    def _check_held(self, job: Job) -> None:
        if not self.jobs.is_held(job):
            raise ChangeEndedError(job.job_id)

    def _part(self, job: Job, plan: VersionPlan, cursor: Capture) -> Progress:
        # Its worker died during the removal; the job fails with the problem that was recorded.
        if cursor.part == "sweep":
            raise CreationCancelledError(cursor.problem)
        if not cursor.number:
            # Stored in the job before anything is written under it, so that two workers do not mix
            # rows.
            number = self.repository.draw_number(self._asset(job, plan))
            return Progress(dump(Capture(number=number, again=cursor.again)))
        if cursor.part == "commit":
            return self._commit(job, plan, cursor)
        asset = self._asset(job, plan)
        following = self._page(asset, job, plan, cursor)
        done = following.files - cursor.files if cursor.part == "files" else 0
        before, rows = cursor, done
        while following.part in _BRIEF - {before.part} and rows <= _SMALL:
            before, following = following, self._page(asset, job, plan, following)
            rows += max(0, following.records - before.records)
        return Progress(dump(following), items=max(0, done))

    def _page(self, asset: Asset, job: Job, plan: VersionPlan, cursor: Capture) -> Capture:
        by = Identity(job.created_by)
        match cursor.part:
            case "records":
                return self.record_restoration.copy_records(asset, plan, cursor)
            case "restore":
                return self.record_restoration.restore(asset, cursor, by)
            case "clear":
                return self.record_restoration.clear(asset, cursor, by)
            case "metadata" | "attribute":
                return self._live_records(asset, cursor, cursor.part)
            case "count":
                return self._count(asset, cursor)
            case _:
                return self._files(asset, job, plan, cursor)

    def _asset(self, job: Job, plan: VersionPlan) -> Asset:
        asset = self.assets.find_asset(job.database_id or "", job.asset_id or "")
        if asset is None or asset.is_archived or asset.created_at != plan.asset_created_at:
            raise VersionOvertakenError(job.asset_id or "")
        return asset

    def _files(self, asset: Asset, job: Job, plan: VersionPlan, cursor: Capture) -> Capture:
        after_files = "records" if plan.revert_metadata else "metadata"
        match plan.source:
            case "latest":
                bucket, prefix = self.assets.location(asset)
                page = self.states.page(bucket, prefix, cursor.after or {})
                files = rules.held_files(prefix, page.versions)
                self.repository.put_files(asset, cursor.number, files)
                after = None
                if page.next_key is not None:
                    after = {"key": page.next_key, "version": page.next_version_id}
                following = cursor.model_copy(
                    update={"after": after, "files": cursor.files + len(files)}
                )
            case "named":
                following = self._named_files(asset, job, plan, cursor)
            case "version":
                following = self.file_restoration.files(
                    asset,
                    plan,
                    cursor,
                    by=job.created_by,
                    still=partial(self._check_held, job),
                    note=lambda noted: self.jobs.replace_cursor(job, dump(noted)),
                )
        if following.after is None and following.copy_id is None:
            following = following.model_copy(update={"part": after_files})
        return following

    def _named_files(self, asset: Asset, job: Job, plan: VersionPlan, cursor: Capture) -> Capture:
        number = int((cursor.after or {}).get("page", 0))
        named = self.repository.named_files(asset, plan.request_id, number)
        if not named:
            age = self.clock() - datetime.fromisoformat(job.created_at)
            if age > _NOTING_TIME:
                raise RequestLostError
            raise UnavailableError("The request has not stored all of its files yet")
        bucket, prefix = self.assets.location(asset)
        wanted = {
            prefix + file.relative_key[1:]: file.version_id
            for file in named
            if not file.is_archived
        }
        states = self.states.of(bucket, prefix, wanted)
        taken = {key: state.wanted for key, state in states.items() if state.wanted is not None}
        files = [rules.held_file(prefix, version) for _, version in sorted(taken.items())]
        self.repository.put_files(asset, cursor.number, files)
        skipped = [f.relative_key for f in named if prefix + f.relative_key[1:] not in taken]
        after = {"page": number + 1} if number + 1 < plan.pages else None
        done = {"after": after, "files": cursor.files + len(files)}
        return cursor.with_skipped(skipped).model_copy(update=done)

    def _live_records(self, asset: Asset, cursor: Capture, kind: Kind) -> Capture:
        """Store a page of the current records of the asset and its files."""
        page = self.repository.live_records(asset, kind, PageRequest(_RECORDS, cursor.after))
        self.repository.put_records(asset, cursor.number, page.items)
        count = cursor.records + len(page.items)
        part = kind
        if page.after is None:
            part = "attribute" if kind == "metadata" else "count"
            if part == "count" and self._index_lacks_records(asset, count, cursor.looks):
                again = {"part": "metadata", "after": None, "records": 0}
                return cursor.model_copy(update={**again, "looks": cursor.looks + 1})
        after = None if page.after is None else dict(page.after)
        done = {"part": part, "after": after, "files": 0, "records": count}
        return cursor.model_copy(update=done)

    def _index_lacks_records(self, asset: Asset, count: int, looks: int) -> bool:
        """Return whether the index lacks records; wait a little if it does."""
        # The count may include records that are removed meanwhile, so the index is accepted after
        # some attempts.
        if looks == _LOOKS:
            return False
        counted = self.records.count_in_asset(asset.database_id, asset.asset_id)
        if count >= counted:
            return False
        self.pause(_FIRST_PAUSE * 2**looks)
        return True

    def _count(self, asset: Asset, cursor: Capture) -> Capture:
        """Count the rows, because a repeated step may have found other files than at first."""
        request = PageRequest(ROWS, cursor.after)
        page = self.repository.count_files(asset, cursor.number, request)
        after = None if page.after is None else dict(page.after)
        part = "commit" if after is None else "count"
        done = {"part": part, "after": after, "files": cursor.files + len(page.items)}
        return cursor.model_copy(update=done)

    def _commit(self, job: Job, plan: VersionPlan, cursor: Capture) -> Progress:
        until = self.clock() + _COMMIT_TIME
        for attempt in range(_ATTEMPTS):  # by hand: it also ends after a time
            if attempt and self.clock() >= until:
                break
            asset = self._asset(job, plan)
            # Before the commit: after it, no step runs that could remove them.
            if plan.pages:
                self.repository.delete_named_rows(asset, plan.request_id)
            try:
                self.repository.commit(self._writes(job, plan, cursor, asset))
            except (AssetNotFoundError, AssetRevisionError):  # `_asset` determines its state
                continue
            except JobSettledError:  # the reply to this worker's own commit was lost, or its lease
                pass
            return Progress(job.cursor, finished=True)
        raise UnavailableError(
            f"Asset {job.asset_id} is being changed by other requests; try again"
        )

    def _writes(self, job: Job, plan: VersionPlan, cursor: Capture, asset: Asset) -> list[Write]:
        """Return the writes that create the version; the most important refusal comes first."""
        now = self.clock()
        version = _version(job, plan, cursor, asset=asset, at=iso(now))
        made = CreatedVersion(
            asset_version_id=version.asset_version_id,
            at=iso(now),
            skipped=cursor.skipped,
            skipped_count=cursor.skipped_count,
        )
        current = rules.current_of(version)
        if version.is_current_version:
            of_asset = self.assets.sets_version(asset, current, at=now)
            changed, before = "currentVersion", _audit_values(asset.current_version)
        else:  # one of a higher number was committed first, and remains the current version
            of_asset = self.assets.require_active(asset)
            changed, before = f"version.{version.asset_version_id}", None
        entry = self.audit.entry(
            Identity(job.created_by),
            _OPERATIONS[plan.operation],
            audit_entity("asset", asset.database_id, asset.asset_id),
            before={changed: before},
            after={
                changed: _audit_values(current),
                "assetVersionId": version.asset_version_id,
                **({} if plan.of_version is None else {"revertedTo": plan.of_version}),
            },
            at=now,
        )
        return [
            self.jobs.result_write(job, made.model_dump(by_alias=True)),
            of_asset,
            *self.repository.new_version_writes(asset, version),
            entry,
        ]


def _version(
    job: Job, plan: VersionPlan, cursor: Capture, *, asset: Asset, at: str
) -> AssetVersion:
    return AssetVersion(
        asset_version_id=cursor.number,
        comment=plan.comment,
        description=asset.description,
        date_created=at,
        created_at=at,
        created_by=job.created_by,
        is_current_version=rules.is_newest(cursor.number, asset),
        version_alias=plan.version_alias,
        file_count=cursor.files,
    )


def dump(cursor: Capture) -> dict[str, Any]:
    return cursor.model_dump(by_alias=True, exclude_none=True)


def _audit_values(current: CurrentVersion) -> dict[str, Any]:
    return current.model_dump(by_alias=True, exclude_none=True)
