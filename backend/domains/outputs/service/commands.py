"""Stores the outputs of an execution, a bounded part at each call, as the user who started it.

Files come first, then previews, which need their file, then metadata. The results of each batch are
stored with the position of the next one and an audit entry, in one transaction; a call that dies is
repeated from there, and recognises files that it has stored by their object metadata.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from backend.core.authorization import Authorization
from backend.core.clock import Clock
from backend.core.errors import (
    NotFoundError,
    PermissionDeniedError,
)
from backend.core.identity import SYSTEM, Identity
from backend.core.objects import Objects
from backend.core.transactions import Write
from backend.domains.assets.models import Asset
from backend.domains.assets.service.commands import AssetService
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditService
from backend.domains.executions.errors import ExecutionNotFoundError
from backend.domains.executions.models import Execution
from backend.domains.executions.service.records import ExecutionRecords
from backend.domains.files.service.queries import FileQueries
from backend.domains.metadata.service.commands import MetadataService
from backend.domains.outputs import rules
from backend.domains.outputs.models import Cursor, Phase, Progress, Sort
from backend.domains.outputs.repository import ProgressRepository
from backend.domains.outputs.rules import Outcome
from backend.domains.outputs.service.files import FileOutputs, RunFolder, Written
from backend.domains.outputs.service.inspections import RESULT, Inspections
from backend.domains.outputs.service.records import RecordOutputs
from backend.domains.uploads.service.deposits import Deposits
from backend.spec import routes
from backend.spec.inspection_outputs import SMALL, STRUCTURE, TURNTABLE
from backend.values import frozen

# Time after which a call starts no further batch: of the function's 120 seconds, the last batch may
# take the rest (decision 47).
WORK_TIME = timedelta(seconds=45)
# A batch is repeated if its call dies: copies are recognised, and the rest is little.
BATCH = 100
# Outputs of an inspection among other pipelines that are no files of their own. Facts are stored
# only where it is the only pipeline: they belong to the version that a user uploaded.
_NO_FILES = {
    ("metadata", RESULT),
    *((output.folder, output.file) for output in (SMALL, STRUCTURE, TURNTABLE)),
}
OPERATION = "store_outputs"
REFUSED = "OutputsRefused"

_AFTER: dict[Phase, Phase] = {
    "files": "largeFiles",
    "largeFiles": "previews",
    "previews": "metadata",
    "metadata": "done",
}
_FOLDERS: dict[Phase, tuple[Sort, ...]] = {
    "files": ("files",),
    "largeFiles": ("files",),
    "previews": ("files", "previews"),
    "metadata": ("metadata",),
}


@frozen
class Stored:
    """The result of a call: more to store, everything is stored, or why the execution fails."""

    state: Literal["more", "done", "refused"]
    error: str = ""
    cause: str = ""


@dataclass(slots=True)
class _Work:
    """One call: the execution, its asset, its progress, and until when it starts batches."""

    execution: Execution
    caller: Identity
    asset: Asset
    progress: Progress
    stop_at: datetime
    folder: RunFolder
    files: FileOutputs

    @property
    def cursor(self) -> Cursor:
        return self.progress.cursor


@dataclass(eq=False, repr=False)
class OutputCommands:
    """Stores outputs; `auxiliary` is the bucket that executions write to."""

    executions: ExecutionRecords
    progress: ProgressRepository
    assets: AssetService
    files: FileQueries
    deposits: Deposits
    metadata: MetadataService
    inspections: Inspections
    objects: Objects
    authorization: Authorization
    audit: AuditService
    auxiliary: str
    clock: Clock

    def store_outputs(self, execution_id: str) -> Stored:
        """Store the next part of the outputs of an execution.

        Raises:
            UnavailableError: a service does not respond; call it again.
        """
        execution = self.executions.find(execution_id)
        if execution is None:
            return _unknown(execution_id)
        progress = self.progress.begin(execution_id)
        if progress.cursor.phase == "done":
            return self._end_execution(execution, progress)
        if not execution.is_active:
            fact = f"the execution is {execution.execution_status}"
            return self._end_execution(execution, self._refuse_outputs(progress, "", fact))
        if execution.shipped:
            # Store the results of a shipped pipeline, as the product itself.
            outcomes = self.inspections.record(execution)
            outputs = rules.with_outcomes(progress.outputs, outcomes)
            done = Progress(
                attempts=progress.attempts, cursor=Cursor(phase="done"), outputs=outputs
            )
            self.progress.save(execution.execution_id, done)
            return self._end_execution(execution, done)
        return self._store_batches(execution, progress)

    def _store_batches(self, execution: Execution, progress: Progress) -> Stored:
        """Store batches until all are stored or time is up."""
        try:
            # Check the asset, and the user's current permissions.
            caller = caller_of(execution)
            asset = self.assets.asset_for(caller, "POST", execution.database_id, execution.asset_id)
            work = _Work(
                execution=execution,
                caller=caller,
                asset=asset,
                progress=progress,
                stop_at=self.clock() + WORK_TIME,
                folder=RunFolder(self.objects, self.auxiliary, execution),
                files=FileOutputs(
                    deposits=self.deposits,
                    assets=self.assets,
                    execution=execution,
                    asset=asset,
                    bucket=self.auxiliary,
                    repeated=progress.attempts > 1,
                ),
            )
        except (NotFoundError, PermissionDeniedError) as error:
            return self._end_execution(execution, self._refuse_outputs(progress, "", error.message))
        while work.cursor.phase != "done":
            if self.clock() >= work.stop_at:
                return Stored("more")
            self._advance(work)
        return self._end_execution(execution, work.progress)

    def _advance(self, work: _Work) -> None:
        """Store one batch, and record its results with the position of the next one."""
        cursor = work.cursor
        sorts = _FOLDERS[cursor.phase]
        sort = sorts[cursor.folder]
        outputs, after = work.folder.page(cursor.pipeline, sort, limit=BATCH, after=cursor.after)
        if cursor.phase == "largeFiles":
            self._advance_large(work, outputs, after)
            return
        outputs = work.files.of_phase(cursor.phase, outputs)
        pictures: list[Written] = []
        if work.execution.pipelines[cursor.pipeline - 1].inspects:
            pictures = [output for output in outputs if sort == "previews"]
            outputs = [output for output in outputs if (sort, output.name) not in _NO_FILES]
        denied = self._denial_reason(work, cursor.phase) if outputs or pictures else None
        if denied is not None:
            outcomes = [
                Outcome(output.sort, output.label, output.name, denied) for output in outputs
            ]
        elif cursor.phase == "files":
            outcomes = work.files.store_files(outputs)
        elif cursor.phase == "previews":
            outcomes = work.files.store_previews(outputs)
            if pictures:
                files, _ = work.folder.page(cursor.pipeline, "files", limit=BATCH, after=None)
                names = {output.name for output in (*pictures, *files)}
                outcomes += self.inspections.record_among_others(
                    work.execution, cursor.pipeline, names
                )
        else:
            records = RecordOutputs(self.metadata, self.objects, self.auxiliary)
            outcomes = [records.store(work.caller, work.asset, output) for output in outputs]
        self._save(work, outcomes, _next_cursor(cursor, after, len(work.execution.pipelines)))

    def _advance_large(self, work: _Work, outputs: Sequence[Written], after: str | None) -> None:
        cursor = work.cursor
        large = next(iter(work.files.of_phase("largeFiles", outputs)), None)
        if large is None:
            self._save(work, [], _next_cursor(cursor, after, len(work.execution.pipelines)))
            return
        denied = self._denial_reason(work, "largeFiles")
        stored: Outcome | str = (
            work.files.store_large(large, cursor.copy_id)
            if denied is None
            else Outcome(large.sort, large.label, large.name, denied)
        )
        if isinstance(stored, Outcome):
            self._save(work, [stored], _at(cursor, after=large.key, copy_id=None))
        else:
            # The key after which a listing begins with this object.
            earlier = [other.key for other in outputs if other.key < large.key]
            before = earlier[-1] if earlier else cursor.after
            self._save(work, [], _at(cursor, after=before, copy_id=stored))

    def _denial_reason(self, work: _Work, phase: Phase) -> str | None:
        """Return why the user may not use the equivalent route (tier 1)."""
        used = {
            "metadata": (routes.UPDATE_ASSET_METADATA, routes.UPDATE_FILE_METADATA),
        }.get(phase, (routes.INITIALISE_UPLOAD, routes.COMPLETE_UPLOAD))
        ids = {"databaseId": work.asset.database_id, "assetId": work.asset.asset_id}
        for route in used:
            if not self.authorization.may_use(work.caller, route, ids):
                return f"{work.caller.user_id} has no permission for {route.method} {route.path}"
        return None

    def _save(self, work: _Work, outcomes: Sequence[Outcome], cursor: Cursor) -> None:
        progress = work.progress.model_copy(
            update={
                "cursor": cursor,
                "outputs": rules.with_outcomes(work.progress.outputs, outcomes),
            }
        )
        entries: list[Write] = []
        if outcomes:
            after = {
                "executionId": work.execution.execution_id,
                "workflow": work.execution.workflow_key,
                "outputs": {outcome.name: outcome.refused or "stored" for outcome in outcomes},
            }
            entity = audit_entity("asset", work.asset.database_id, work.asset.asset_id)
            entries.append(self.audit.entry(work.caller, OPERATION, entity, before={}, after=after))
        self.progress.save(work.execution.execution_id, progress, entries)
        work.progress = progress

    def _refuse_outputs(self, progress: Progress, path: str, reason: str) -> Progress:
        outcomes = [Outcome("files", path, path, reason)]
        outputs = rules.with_outcomes(progress.outputs, outcomes)
        return progress.model_copy(update={"outputs": outputs})

    def _end_execution(self, execution: Execution, progress: Progress) -> Stored:
        """Update the asset and the execution with the results."""
        outputs = progress.outputs
        if outputs.file_count and not execution.shipped:
            self._follow_files(execution)
        try:
            self.executions.record_outputs(execution.execution_id, outputs)
        except ExecutionNotFoundError:
            return _unknown(execution.execution_id)
        if outputs.refused_count:
            return Stored("refused", REFUSED, rules.cause_of(outputs))
        return Stored("done")

    def _follow_files(self, execution: Execution) -> None:
        """Write the asset's type until it is stable."""
        asset = self.assets.find_asset(execution.database_id, execution.asset_id)
        try:
            # Uploads may end at the same time: the last one to write has read the files of all.
            while asset and (asset_type := self.files.asset_type(asset)) != asset.asset_type:
                asset = self.assets.set_content(asset, asset_type=asset_type)
        except NotFoundError:  # archived or deleted meanwhile: the type does not matter
            return


def _unknown(execution_id: str) -> Stored:
    fact = f"Execution {execution_id} does not exist, or its asset was deleted"
    return Stored("refused", REFUSED, fact)


def caller_of(execution: Execution) -> Identity:
    """Return who started an execution.

    Never taken from data that pipelines were sent or returned.
    """
    if execution.started_by == SYSTEM.user_id:
        return SYSTEM
    return Identity(execution.started_by, mfa=execution.started_by_mfa)


def _next_cursor(cursor: Cursor, after: str | None, pipelines: int) -> Cursor:
    """Return the position of the batch after this one."""
    if after is not None:
        return cursor.model_copy(update={"after": after})
    if cursor.folder + 1 < len(_FOLDERS[cursor.phase]):
        return Cursor(phase=cursor.phase, pipeline=cursor.pipeline, folder=cursor.folder + 1)
    if cursor.pipeline < pipelines:
        return Cursor(phase=cursor.phase, pipeline=cursor.pipeline + 1)
    return Cursor(phase=_AFTER[cursor.phase])


def _at(cursor: Cursor, *, after: str | None, copy_id: str | None) -> Cursor:
    return cursor.model_copy(update={"after": after, "copy_id": copy_id})
