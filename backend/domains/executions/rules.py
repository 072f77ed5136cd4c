"""Decisions about executions. Pure."""

import hashlib
import json
from collections.abc import Sequence
from datetime import UTC, datetime

from backend.domains.executions.models import Execution, RefusedOutput, RunOutputs, RunTarget

MAX_LIST_BYTES = 60_000
"""Of each list of outputs in a row: four of them stay well below an item's 400 KB."""


def date_of(at: datetime) -> str:
    """Return a time as stock clients read it: `MM/DD/YYYY, HH:MM:SS`."""
    return at.astimezone(UTC).strftime("%m/%d/%Y, %H:%M:%S")


def reservation_key(target: RunTarget) -> str:
    """Return the key of the item that exists while a run of this is active.

    Hashed: ids and a path together may be longer than a partition key.
    """
    parts = [
        target.workflow_database_id,
        target.workflow_id,
        target.database_id,
        target.asset_id,
        target.file_key,
    ]
    return f"Run#{hashlib.sha256(json.dumps(parts).encode()).hexdigest()}"


def target_of(execution: Execution) -> RunTarget:
    """Return what an execution is of."""
    return RunTarget(
        execution.workflow_database_id,
        execution.workflow_id,
        execution.database_id,
        execution.asset_id,
        execution.input_asset_file_key,
    )


def bounded(outputs: RunOutputs) -> RunOutputs:
    """Return outputs whose lists fit into a row; counts that are not given are the lists' own."""
    return RunOutputs(
        files=_first(outputs.files),
        previews=_first(outputs.previews),
        metadata=_first(outputs.metadata),
        refused=_first_refused(outputs.refused),
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


def _first_refused(refused: Sequence[RefusedOutput]) -> list[RefusedOutput]:
    kept: list[RefusedOutput] = []
    room = MAX_LIST_BYTES
    for one in refused:
        room -= len(one.path.encode()) + len(one.reason.encode()) + 32
        if room < 0:
            break
        kept.append(one)
    return kept
