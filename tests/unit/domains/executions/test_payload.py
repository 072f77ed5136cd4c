"""Rows of executions, and the input of pipelines: the fields of VAMS, and no secret."""

import json
from typing import Any

import pytest

from backend.core.tables import Tables
from backend.core.transactions import Delete
from backend.domains.executions import rules
from backend.domains.executions.errors import (
    ExecutionActiveError,
    ExecutionChangedError,
    ExecutionExistsError,
    ExecutionNotFoundError,
)
from backend.domains.executions.models import Execution, RefusedOutput, RunOutputs
from backend.domains.executions.repository.rows import ExecutionRepository, row_key
from backend.domains.executions.rules import MAX_LIST_BYTES, reservation_key, target_of
from backend.domains.executions.service.records import ExecutionRecords
from backend.domains.metadata.models import Entity, NewRecord
from backend.spec.tables.workflows import WORKFLOW_EXECUTIONS
from tests.factories.assets import ADMIN
from tests.factories.executions import AUXILIARY, BUCKET, Runner, new_execution, pipeline_snapshot

FIELDS = {
    *("inputS3AssetFilePath", "outputS3AssetFilesPath", "outputS3AssetPreviewPath"),
    *("outputS3AssetMetadataPath", "inputOutputS3AssetAuxiliaryFilesPath"),
    *("bucketAssetAuxiliary", "bucketAsset", "inputAssetFileKey", "inputAssetLocationKey"),
    *("assetId", "databaseId", "workflowId", "workflowDatabaseId", "outputType"),
    *("inputParameters", "inputMetadata", "executingUserName", "executingRequestContext"),
}
OURS = {"executionId", "inputS3VersionId", "inputRelativePath"}
RUN = f"s3://{AUXILIARY}/pipelines/e1"


@pytest.fixture
def runner() -> Runner:
    return Runner()


def body(runner: Runner, number: int = 0, execution_id: str = "e1") -> dict[str, Any]:
    """The body of a pipeline, put together as the state machine does."""
    runner.start()
    given = runner.runs.started[execution_id].given
    return {**given.shared, **given.pipelines[number].message}


def metadata(runner: Runner) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(body(runner)["inputMetadata"])["VAMS"]
    return found


def write(runner: Runner, entity: Entity, **values: str) -> None:
    records = [NewRecord(metadata_key=key, metadata_value=value) for key, value in values.items()]
    runner.records.change_records(ADMIN, entity, records)


def test_a_pipeline_receives_the_fields_of_the_known_product(runner: Runner) -> None:
    runner.create(input_asset_file_key="statue/parts/a.glb")
    found = body(runner)
    assert set(found) == FIELDS | OURS
    assert found["inputS3AssetFilePath"] == f"s3://{BUCKET}/statue/parts/a.glb"
    assert found["outputS3AssetFilesPath"] == f"{RUN}/1/files/"
    assert found["outputS3AssetPreviewPath"] == f"{RUN}/1/previews/"
    assert found["outputS3AssetMetadataPath"] == f"{RUN}/1/metadata/"
    assert found["inputOutputS3AssetAuxiliaryFilesPath"] == (
        f"s3://{AUXILIARY}/statue/parts/a.glb/pipelines/convert/"
    )
    assert (found["inputAssetFileKey"], found["inputAssetLocationKey"]) == (
        "statue/parts/a.glb",
        "statue/",
    )
    assert (found["inputRelativePath"], found["inputS3VersionId"]) == ("/parts/a.glb", "v1")
    assert (found["executingUserName"], found["executionId"]) == ("ann", "e1")


def test_the_second_pipeline_has_the_same_input_and_a_folder_of_its_own(runner: Runner) -> None:
    """The state machine replaces the input by what the first one wrote."""
    second = pipeline_snapshot("thumbnail", pipeline_type="previewFile", input_parameters='{"a":1}')
    runner.create(pipelines=[pipeline_snapshot(), second])
    found = body(runner, 1)
    assert found["inputS3AssetFilePath"] == body(runner)["inputS3AssetFilePath"]
    assert found["outputS3AssetFilesPath"] == f"{RUN}/2/files/"
    assert found["inputOutputS3AssetAuxiliaryFilesPath"].endswith("/a.glb/preview/thumbnail/")
    assert found["inputParameters"] == '{"a":1}'
    assert found["inputAssetFileKey"] == "statue/a.glb"


def test_a_run_without_a_file_is_of_the_whole_asset(runner: Runner) -> None:
    runner.create(input_asset_file_key="", input_version_id="")
    found = body(runner)
    assert found["inputS3AssetFilePath"] == f"s3://{BUCKET}/statue/"
    assert (found["inputAssetFileKey"], found["inputRelativePath"]) == ("statue/", "")
    assert found["inputOutputS3AssetAuxiliaryFilesPath"] == (
        f"s3://{AUXILIARY}/statue/pipelines/convert/"
    )


def test_metadata_of_the_asset_and_the_file_is_given(runner: Runner) -> None:
    write(runner, Entity("museum", "statue"), year="1889")
    write(runner, Entity("museum", "statue", "/a.glb"), colour="red")
    write(runner, Entity("museum", "statue", "/a.glb", "attribute"), scanner="laser")
    write(runner, Entity("museum", "statue", "/b.glb"), colour="blue")
    runner.create()
    assert metadata(runner) == {
        "assetData": {"assetName": "A statue", "description": "Made of marble", "tags": []},
        "assetMetadata": {"year": "1889"},
        "fileMetadata": {"colour": "red"},
        "fileAttributes": {"scanner": "laser"},
    }


def test_large_metadata_is_given_by_its_address(runner: Runner) -> None:
    write(runner, Entity("museum", "statue"), **{f"k{n}": "ä" * 4000 for n in range(30)})
    runner.create()
    assert body(runner)["inputMetadata"] == f"{RUN}/inputMetadata.json"
    stored = b"".join(runner.objects.read_chunks(AUXILIARY, "pipelines/e1/inputMetadata.json"))
    assert len(json.loads(stored)["VAMS"]["assetMetadata"]) == 30
    given = runner.runs.started["e1"].given
    assert len(json.dumps(given, ensure_ascii=False).encode()) < 10_000


@pytest.mark.parametrize(
    ("kind", "waits", "task"),
    [
        ("Lambda", False, "Lambda"),
        ("Lambda", True, "LambdaCallback"),
        ("SQS", False, "SQS"),
        ("SQS", True, "SQSCallback"),
        ("EventBridge", False, "EventBridge"),
        ("EventBridge", True, "EventBridgeCallback"),
    ],
)
def test_a_pipeline_is_called_by_its_kind(
    runner: Runner, kind: str, waits: bool, task: str
) -> None:
    snapshot = pipeline_snapshot(
        pipeline_execution_type=kind,
        wait_for_callback=waits,
        resource="there",
        task_timeout=60,
        task_heartbeat_timeout=5,
        source="ours",
        detail_type="scan",
    )
    runner.create(pipelines=[snapshot])
    runner.start()
    (given,) = runner.runs.started["e1"].given.pipelines
    assert (given.kind, given.resource, given.timeout, given.heartbeat) == (task, "there", 60, 5)
    assert (given.source, given.detail_type) == ("ours", "scan")


SIGNED = f"https://b.s3.amazonaws.com/a.glb?X-Amz-Credential=me&X-Amz-Signature={'0f' * 32}"
SECRETS = {
    "errorType": "MeshBroken",
    "errorMessage": f"cannot read {SIGNED} with {'AQCEAAAAKgAAAAMAAAAA' * 10}",
    "stackTrace": ["line 1, token"],
}
WITHOUT_SECRETS = "cannot read https://b.s3.amazonaws.com/a.glb?[removed] with [removed]"


@pytest.mark.parametrize(
    ("status", "code", "cause", "expected"),
    [
        ("FAILED", "States.Timeout", None, ("States.Timeout", "")),
        ("TIMED_OUT", None, None, ("TimedOut", "")),
        ("ABORTED", None, "by ann", ("Aborted", "by ann")),
        ("FAILED", "X" * 500, "y y" * 9000, ("[removed]", ("y y" * 9000)[:2000])),
        ("FAILED", "E", "[1]", ("E", "[1]")),
        ("FAILED", "Lambda.Unknown", json.dumps(SECRETS), ("MeshBroken", WITHOUT_SECRETS)),
        ("FAILED", "E", "[" * 100_000, ("E", "[" * 2000)),
    ],
)
def test_errors_are_bounded_named_and_without_secrets(
    status: Any, code: str | None, cause: str | None, expected: tuple[str, str]
) -> None:
    found = rules.error_of(status, code, cause)
    assert found is not None
    assert (found.code, found.message) == expected
    assert rules.error_of("SUCCEEDED", code, cause) is None


@pytest.fixture
def executions(tables: Tables) -> ExecutionRepository:
    return ExecutionRepository(tables)


def read_row(executions: ExecutionRepository | ExecutionRecords) -> Execution:
    execution = executions.find("e1")
    assert execution is not None
    return execution


def test_an_execution_is_found_by_id_and_reservation(executions: ExecutionRepository) -> None:
    created = new_execution()
    executions.create(created)
    assert executions.find("e1") == created
    assert executions.get("museum", "statue", "e1") == created
    assert executions.find("e2") is None
    item = executions.tables.get(WORKFLOW_EXECUTIONS, row_key(new_execution()))
    assert item is not None
    assert item["databaseId:assetId"] == "museum:statue"
    assert item["workflowDatabaseId:workflowId"] == "museum:convert-all"
    assert (item["executionStatus"], item["workflowId"]) == ("NEW", "convert-all")
    longest = new_execution("e2", asset_id="ä" * 255, input_asset_file_key="ä" * 512)
    executions.create(longest)
    assert executions.active_run(reservation_key(target_of(longest))) is not None
    assert len(reservation_key(target_of(longest))) < 100


def test_an_id_and_a_file_are_taken_once(executions: ExecutionRepository) -> None:
    executions.create(new_execution())
    with pytest.raises(ExecutionActiveError, match="e1") as refused:
        executions.create(new_execution("e2"))
    assert refused.value.execution_id == "e1"
    assert executions.find("e2") is None
    with pytest.raises(ExecutionExistsError):
        executions.create(new_execution(input_asset_file_key="statue/b.glb"))
    with pytest.raises(ExecutionExistsError):  # also of the same run, while it is active
        executions.create(new_execution())


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


def test_outputs_are_kept_and_older_revisions_refused(executions: ExecutionRepository) -> None:
    executions.create(new_execution())
    read = read_row(executions)
    refused = [RefusedOutput(path="/b.exe", reason="its extension is blocked")]
    ExecutionRecords(executions).record_outputs("e1", RunOutputs(files=["/a.glb"], refused=refused))
    executions.change(read, {"executionStatus": "RUNNING"})
    now = read_row(ExecutionRecords(executions))
    assert now.outputs is not None
    assert (now.outputs.files, now.outputs.file_count) == (["/a.glb"], 1)
    assert (now.outputs.refused, now.outputs.refused_count) == (refused, 1)
    with pytest.raises(ExecutionChangedError):
        executions.change(read, {"executionStatus": "FAILED"})
    now = read_row(executions)
    assert (now.execution_status, now.revision) == ("RUNNING", 2)


def test_a_row_holds_the_first_of_very_many_outputs(executions: ExecutionRepository) -> None:
    executions.create(new_execution())
    files = [f"/{number:06}-{'ä' * 100}.glb" for number in range(10_000)]
    refused = [RefusedOutput(path=path, reason="too large") for path in files]
    ExecutionRecords(executions).record_outputs("e1", RunOutputs(files=files, refused=refused))
    now = read_row(executions)
    assert now.outputs is not None
    assert now.outputs.files == files[: len(now.outputs.files)]
    assert sum(len(path.encode()) for path in now.outputs.files) > MAX_LIST_BYTES / 2
    assert (now.outputs.file_count, now.outputs.refused_count) == (10_000, 10_000)


def test_outputs_of_a_deleted_asset_are_refused(executions: ExecutionRepository) -> None:
    created = new_execution()
    executions.create(created)
    executions.tables.write(Delete(table=WORKFLOW_EXECUTIONS, key=row_key(created)))
    with pytest.raises(ExecutionNotFoundError):
        ExecutionRecords(executions).record_outputs("e1", RunOutputs())
    with pytest.raises(ExecutionNotFoundError):
        executions.set_outputs(created, RunOutputs())
    with pytest.raises(ExecutionNotFoundError):
        ExecutionRecords(executions).record_outputs("unknown", RunOutputs())
