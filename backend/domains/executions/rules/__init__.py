"""Decisions about executions: stored progress, reservations. Pure."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, cast

from backend.core.clock import iso
from backend.core.ids import ordered_uuid
from backend.core.names import valid_text
from backend.core.runs import StepState
from backend.domains.executions.models import (
    EndStatus,
    Execution,
    RefusedOutput,
    RunError,
    RunOutputs,
    RunTarget,
)
from backend.domains.facts.models import FailedInspection

STOPPED = "Stopped"
"""The error of an execution that a user stopped."""
# The error of an execution that Step Functions no longer knows.
INTERRUPTED = "Interrupted"
NOT_STARTED = "NotStarted"
"""The error of an execution that could not be started in time."""
# How often an inspection is started again after it was interrupted. A file that crashes the machine
# that reads it must not be read again without end.
MAX_REPEATS = 2
# Step Functions' limit for the name of an error.
MAX_CODE_CHARS = 256
# Stored length of a cause. Step Functions allows 32,768 characters.
MAX_MESSAGE_CHARS = 2_000
_SIGNED = re.compile(r"\?[^\s\"'<>]*X-Amz-[^\s\"'<>]*")
_LONG_TOKEN = re.compile(r"[A-Za-z0-9+/=_-]{120,}")
"""Task tokens and credentials. Words of paths and messages are shorter."""
# Size of each list of outputs in a row. The row has four of them and at most 400 KB.
MAX_LIST_BYTES = 60_000


def date_of(at: datetime) -> str:
    """Return a time as VAMS clients read it: `MM/DD/YYYY, HH:MM:SS`."""
    return at.astimezone(UTC).strftime("%m/%d/%Y, %H:%M:%S")


def started_changes(at: datetime) -> Mapping[str, Any]:
    """Return the changes of an execution that Step Functions has started."""
    return {"executionStatus": "RUNNING", "startDate": date_of(at), "startedAt": iso(at)}


def ended_changes(
    execution: Execution, status: EndStatus, at: datetime, error: RunError | None
) -> Mapping[str, Any]:
    """Return the changes of an execution that has ended."""
    changes: dict[str, Any] = {
        "executionStatus": status,
        "stopDate": date_of(at),
        "stoppedAt": iso(at),
    }
    if error is not None:
        changes["error"] = error.model_dump(by_alias=True)
    if not execution.started_at and status == "SUCCEEDED":  # no event reported its start
        changes |= {"startDate": date_of(at), "startedAt": iso(at)}
    return changes


def ended_steps(execution: Execution, steps: Mapping[int, StepState]) -> Mapping[int, StepState]:
    """Return the steps of an execution that has ended; steps that were running ended with it.

    In one that succeeded all steps did: the page of the history that is read may lack their ends.
    """
    status = "SUCCEEDED" if execution.execution_status == "SUCCEEDED" else "ABORTED"
    return {
        number: step._replace(status=status, stopped_at=execution.stopped_at)
        if step.status == "RUNNING"
        else step
        for number, step in steps.items()
    }


def repeated_execution(
    execution: Execution, error: RunError | None, at: datetime
) -> Execution | None:
    """Return the execution that repeats an interrupted inspection, if the system started that."""
    interrupted = error is not None and error.code in {INTERRUPTED, NOT_STARTED}
    # Not for pipelines of users, which may have written something already.
    by_system = execution.shipped and execution.trigger in {"upload", "renewal"}
    if not (interrupted and by_system) or execution.repeats >= MAX_REPEATS:
        return None
    changes = {
        "execution_id": ordered_uuid(at, f"repeat {execution.execution_id}"),
        "execution_status": "NEW",
        "created_at": iso(at),
        "start_date": "",
        "started_at": "",
        "outputs": None,
        "repeats": execution.repeats + 1,
        "revision": 1,
    }
    return execution.model_copy(update=changes)


def failed_inspection(
    execution: Execution, status: EndStatus, error: RunError | None
) -> FailedInspection | None:
    """Return the file that this end leaves without facts, with the reason."""
    if not execution.shipped or not execution.input_asset_file_key or status == "SUCCEEDED":
        return None
    if error is not None and error.code == STOPPED:
        reason = "The inspection was stopped"  # facts do not name users
    else:
        cause = "" if error is None else error.message or error.code
        reason = f"The inspection failed: {cause or _UNNAMED[status]}"
    return FailedInspection(
        database_id=execution.database_id,
        asset_id=execution.asset_id,
        key=execution.input_asset_file_key,
        version_id=execution.input_version_id,
        reason=reason,
    )


def error_of(status: EndStatus, code: str | None, cause: str | None) -> RunError | None:
    """Return the error of an execution as stored, without secrets; None for a success.

    Of a failed function the cause is JSON: its message is kept, its stack trace is not.
    """
    if status == "SUCCEEDED":
        return None
    kind, message = code or "", cause or ""
    failure: object = None
    with suppress(ValueError, RecursionError):
        failure = json.loads(message)
    if isinstance(failure, dict) and "errorMessage" in failure:
        fields = cast("dict[str, Any]", failure)
        kind, message = str(fields.get("errorType") or kind), str(fields["errorMessage"])
    return RunError(
        code=_redact(kind)[:MAX_CODE_CHARS] or _UNNAMED[status],
        message=_redact(message)[:MAX_MESSAGE_CHARS],
    )


_UNNAMED: Mapping[EndStatus, str] = {
    "FAILED": "Failed",
    "TIMED_OUT": "TimedOut",
    "ABORTED": "Aborted",
}


def _redact(text: str) -> str:
    """Return a valid text without signed query strings of URLs and without possible tokens."""
    return _LONG_TOKEN.sub("[removed]", _SIGNED.sub("?[removed]", valid_text(text)))


def reservation_key(target: RunTarget) -> str:
    """Return the key of the item that exists while such a run is active."""
    parts = [
        target.workflow_database_id,
        target.workflow_id,
        target.database_id,
        target.asset_id,
        target.file_key,
    ]
    # Hashed: ids and a path together may be longer than a partition key, of at most 2,048 bytes.
    return f"Run#{hashlib.sha256(json.dumps(parts).encode()).hexdigest()}"


def target_of(execution: Execution) -> RunTarget:
    """Return the subject of an execution."""
    return RunTarget(
        execution.workflow_database_id,
        execution.workflow_id,
        execution.database_id,
        execution.asset_id,
        execution.input_asset_file_key,
    )


def facts_of(execution: Execution, rerun_of: str | None = None) -> Mapping[str, Any]:
    """Return a new execution as its audit entry holds it."""
    facts = {
        "databaseId": execution.database_id,
        "assetId": execution.asset_id,
        "workflowDatabaseId": execution.workflow_database_id,
        "workflowId": execution.workflow_id,
        "inputAssetFileKey": execution.input_asset_file_key,
        "inputVersionId": execution.input_version_id,
        "trigger": execution.trigger,
    }
    return facts if rerun_of is None else {**facts, "rerunOf": rerun_of}


def end_of(execution: Execution, status: EndStatus) -> Mapping[str, Any]:
    """Return an execution as the audit entry of its end holds it."""
    return {
        "databaseId": execution.database_id,
        "assetId": execution.asset_id,
        "workflowDatabaseId": execution.workflow_database_id,
        "workflowId": execution.workflow_id,
        "executionStatus": status,
    }


def bound_outputs(outputs: RunOutputs) -> RunOutputs:
    """Return outputs whose lists fit into a row; by default the counts are the lists' lengths."""
    kept: list[RefusedOutput] = []
    room = MAX_LIST_BYTES
    for refusal in outputs.refused:
        room -= len(refusal.path.encode()) + len(refusal.reason.encode()) + 32
        if room < 0:
            break
        kept.append(refusal)
    return RunOutputs(
        files=_first(outputs.files),
        previews=_first(outputs.previews),
        metadata=_first(outputs.metadata),
        refused=kept,
        file_count=max(outputs.file_count, len(outputs.files)),
        preview_count=max(outputs.preview_count, len(outputs.previews)),
        metadata_count=max(outputs.metadata_count, len(outputs.metadata)),
        refused_count=max(outputs.refused_count, len(outputs.refused)),
    )


def _first(paths: Sequence[str]) -> list[str]:
    kept: list[str] = []
    room = MAX_LIST_BYTES
    for path in paths:
        room -= len(path.encode()) + 4
        if room < 0:
            break
        kept.append(path)
    return kept
