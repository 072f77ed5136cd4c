"""Rows of executions: found by id alone, one active run of a workflow on a file."""

import pytest

from backend.core.tables import Tables
from backend.core.transactions import Delete
from backend.domains.executions.errors import (
    ExecutionActiveError,
    ExecutionChangedError,
    ExecutionExistsError,
    ExecutionNotFoundError,
)
from backend.domains.executions.models import RefusedOutput, RunOutputs
from backend.domains.executions.repository.rows import ExecutionRepository, row_key
from backend.domains.executions.rules import MAX_LIST_BYTES, reservation_key, target_of
from backend.domains.executions.service.records import ExecutionRecords
from backend.spec.tables.workflows import WORKFLOW_EXECUTIONS
from tests.factories.executions import new_execution


@pytest.fixture
def executions(tables: Tables) -> ExecutionRepository:
    return ExecutionRepository(tables)


def test_an_execution_is_found_by_its_id_alone(executions: ExecutionRepository) -> None:
    created = new_execution()
    executions.create(created)
    assert executions.find("e1") == created
    assert executions.get("museum", "statue", "e1") == created
    assert executions.find("e2") is None


def test_the_row_has_the_keys_of_the_data_model(
    executions: ExecutionRepository, tables: Tables
) -> None:
    executions.create(new_execution())
    item = tables.get(WORKFLOW_EXECUTIONS, row_key(new_execution()))
    assert item is not None
    assert item["databaseId:assetId"] == "museum:statue"
    assert item["workflowDatabaseId:workflowId"] == "museum:convert-all"
    assert (item["executionStatus"], item["workflowId"]) == ("NEW", "convert-all")


def test_a_second_run_on_the_same_file_names_the_first(executions: ExecutionRepository) -> None:
    executions.create(new_execution())
    with pytest.raises(ExecutionActiveError, match="e1") as refused:
        executions.create(new_execution("e2"))
    assert refused.value.execution_id == "e1"
    assert executions.find("e2") is None


@pytest.mark.parametrize(
    "other",
    [
        {"input_asset_file_key": "statue/b.glb"},
        {"input_asset_file_key": ""},
        {"workflow_id": "thumbnails"},
        {"workflow_database_id": "GLOBAL"},
    ],
)
def test_runs_of_other_files_and_workflows_are_apart(
    executions: ExecutionRepository, other: dict[str, str]
) -> None:
    executions.create(new_execution())
    executions.create(new_execution("e2", **other))
    assert executions.find("e2") is not None


def test_an_id_is_taken_once(executions: ExecutionRepository) -> None:
    executions.create(new_execution())
    with pytest.raises(ExecutionExistsError):
        executions.create(new_execution(input_asset_file_key="statue/b.glb"))
    with pytest.raises(ExecutionExistsError):  # also of the same run, while it is active
        executions.create(new_execution())


def test_a_change_of_an_older_revision_is_refused(executions: ExecutionRepository) -> None:
    executions.create(new_execution())
    read = executions.find("e1")
    assert read is not None
    executions.change(read, {"executionStatus": "RUNNING"})
    with pytest.raises(ExecutionChangedError):
        executions.change(read, {"executionStatus": "FAILED"})
    now = executions.find("e1")
    assert now is not None
    assert (now.execution_status, now.revision) == ("RUNNING", 2)


def test_outputs_are_recorded_and_a_change_of_status_keeps_them(
    executions: ExecutionRepository,
) -> None:
    executions.create(new_execution())
    read = executions.find("e1")
    assert read is not None
    refused = [RefusedOutput(path="/b.exe", reason="its extension is blocked")]
    ExecutionRecords(executions).record_outputs("e1", RunOutputs(files=["/a.glb"], refused=refused))
    executions.change(read, {"executionStatus": "RUNNING"})
    now = ExecutionRecords(executions).find("e1")
    assert now is not None
    assert now.outputs is not None
    assert (now.outputs.files, now.outputs.file_count) == (["/a.glb"], 1)
    assert (now.outputs.refused, now.outputs.refused_count) == (refused, 1)


def test_a_row_holds_the_first_of_very_many_outputs(executions: ExecutionRepository) -> None:
    executions.create(new_execution())
    files = [f"/{number:06}-{'ä' * 100}.glb" for number in range(10_000)]
    refused = [RefusedOutput(path=path, reason="too large") for path in files]
    ExecutionRecords(executions).record_outputs("e1", RunOutputs(files=files, refused=refused))
    now = executions.find("e1")
    assert now is not None
    assert now.outputs is not None
    assert now.outputs.files == files[: len(now.outputs.files)]
    assert sum(len(path.encode()) for path in now.outputs.files) > MAX_LIST_BYTES / 2
    assert (now.outputs.file_count, now.outputs.refused_count) == (10_000, 10_000)


def test_outputs_of_a_deleted_asset_are_refused(
    executions: ExecutionRepository, tables: Tables
) -> None:
    created = new_execution()
    executions.create(created)
    tables.write(Delete(table=WORKFLOW_EXECUTIONS, key=row_key(created)))
    with pytest.raises(ExecutionNotFoundError):
        ExecutionRecords(executions).record_outputs("e1", RunOutputs())
    with pytest.raises(ExecutionNotFoundError):
        executions.set_outputs(created, RunOutputs())
    with pytest.raises(ExecutionNotFoundError):
        ExecutionRecords(executions).record_outputs("unknown", RunOutputs())


def test_a_reservation_fits_into_a_key(executions: ExecutionRepository) -> None:
    longest = new_execution(asset_id="ä" * 255, input_asset_file_key="ä" * 512)
    executions.create(longest)
    assert executions.active_run(reservation_key(target_of(longest))) is not None
    assert len(reservation_key(target_of(longest))) < 100
