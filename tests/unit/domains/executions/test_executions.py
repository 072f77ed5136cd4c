"""Rows of executions, the input of pipelines, and interrupted inspections, which start again."""

import json
from typing import Any

import pytest

from backend.core.errors import UnavailableError
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
from backend.domains.executions.rules import MAX_LIST_BYTES, MAX_REPEATS, reservation_key, target_of
from backend.domains.executions.service.records import ExecutionRecords
from backend.domains.metadata.models import Entity, NewRecord
from backend.spec import keys
from backend.spec.queues import EXECUTION_STARTS, UPLOAD_TRIGGERS
from backend.spec.shipped import INSPECT
from backend.spec.tables.operations import RESERVATIONS
from backend.spec.tables.workflows import ACTIVE_EXECUTIONS, WORKFLOW_EXECUTIONS
from tests.factories.assets import ADMIN
from tests.factories.execution_api import Api
from tests.factories.executions import (
    AUXILIARY,
    BUCKET,
    Runner,
    new_execution,
    pipeline_snapshot,
    status_event,
)
from tests.factories.outages import unavailable

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
    value = runner.runs.started[execution_id].given
    return {**value.shared, **value.pipelines[number].message}


def metadata(runner: Runner) -> dict[str, Any]:
    vams: dict[str, Any] = json.loads(body(runner)["inputMetadata"])["VAMS"]
    return vams


def write(runner: Runner, entity: Entity, **values: str) -> None:
    records = [NewRecord(metadata_key=key, metadata_value=value) for key, value in values.items()]
    runner.records.change_records(ADMIN, entity, records)


def test_a_pipeline_receives_the_fields_of_the_known_product(runner: Runner) -> None:
    runner.create(input_asset_file_key="statue/parts/a.glb")
    result = body(runner)
    assert set(result) == FIELDS | OURS
    assert result["inputS3AssetFilePath"] == f"s3://{BUCKET}/statue/parts/a.glb"
    assert result["outputS3AssetFilesPath"] == f"{RUN}/1/files/"
    assert result["outputS3AssetPreviewPath"] == f"{RUN}/1/previews/"
    assert result["outputS3AssetMetadataPath"] == f"{RUN}/1/metadata/"
    assert result["inputOutputS3AssetAuxiliaryFilesPath"] == (
        f"s3://{AUXILIARY}/statue/parts/a.glb/pipelines/convert/"
    )
    assert (result["inputAssetFileKey"], result["inputAssetLocationKey"]) == (
        "statue/parts/a.glb",
        "statue/",
    )
    assert (result["inputRelativePath"], result["inputS3VersionId"]) == ("/parts/a.glb", "v1")
    assert (result["executingUserName"], result["executionId"]) == ("ann", "e1")


def test_the_second_pipeline_has_the_same_input_and_a_folder_of_its_own(runner: Runner) -> None:
    """The state machine replaces the input by what the first one wrote."""
    second = pipeline_snapshot("thumbnail", pipeline_type="previewFile", input_parameters='{"a":1}')
    runner.create(pipelines=[pipeline_snapshot(), second])
    result = body(runner, 1)
    assert result["inputS3AssetFilePath"] == body(runner)["inputS3AssetFilePath"]
    assert result["outputS3AssetFilesPath"] == f"{RUN}/2/files/"
    assert result["inputOutputS3AssetAuxiliaryFilesPath"].endswith("/a.glb/preview/thumbnail/")
    assert result["inputParameters"] == '{"a":1}'
    assert result["inputAssetFileKey"] == "statue/a.glb"


def test_a_run_without_a_file_is_of_the_whole_asset(runner: Runner) -> None:
    runner.create(input_asset_file_key="", input_version_id="")
    result = body(runner)
    assert result["inputS3AssetFilePath"] == f"s3://{BUCKET}/statue/"
    assert (result["inputAssetFileKey"], result["inputRelativePath"]) == ("statue/", "")
    assert result["inputOutputS3AssetAuxiliaryFilesPath"] == (
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
    value = runner.runs.started["e1"].given
    assert len(json.dumps(value, ensure_ascii=False).encode()) < 10_000


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
    (pipeline,) = runner.runs.started["e1"].given.pipelines
    assert (pipeline.kind, pipeline.resource, pipeline.timeout, pipeline.heartbeat) == (
        task,
        "there",
        60,
        5,
    )
    assert (pipeline.source, pipeline.detail_type) == ("ours", "scan")


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
    error = rules.error_of(status, code, cause)
    assert error is not None
    assert (error.code, error.message) == expected
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


KEY = "statue/a.glb"


@pytest.fixture
def inspections() -> Runner:
    inspections = Runner()
    inspections.define_inspection()
    return inspections


def inspecting(inspections: Runner) -> str:
    """Start the inspection of an upload; return the execution."""
    inspections.upload()
    inspections.trigger(KEY)
    inspections.start()
    inspections.queues.messages.clear()
    return inspections.list_executions()[-1].execution_id


def interrupt(inspections: Runner, execution_id: str) -> None:
    """Have the schedule find that Step Functions has no record of an execution."""
    del inspections.runs.started[execution_id]
    inspections.wait(minutes=6)
    inspections.reconciliation.run()


def outcomes(inspections: Runner) -> list[tuple[str, str | None]]:
    return [
        (run.execution_status, None if run.error is None else run.error.code)
        for run in inspections.list_executions()
    ]


def test_an_interrupted_inspection_waits_for_a_place_again(inspections: Runner) -> None:
    first = inspecting(inspections)
    interrupt(inspections, first)
    assert outcomes(inspections) == [("FAILED", "Interrupted"), ("NEW", None)]
    before, repeated = inspections.list_executions()
    same = {"input_asset_file_key", "input_version_id", "trigger", "started_by", "chain"}
    assert before.model_dump(include=same) == repeated.model_dump(include=same)
    assert (repeated.repeats, repeated.started_at, repeated.stopped_at) == (1, "", "")
    (waiting,) = inspections.active.list_waiting()
    assert (waiting.execution_id, waiting.user) == (repeated.execution_id, "SYSTEM")
    assert inspections.counted == 0
    assert inspections.tables.get(RESERVATIONS, {"reservationKey": keys.last_place("SYSTEM")})
    assert {} in inspections.queues.take(EXECUTION_STARTS)
    inspections.start()
    inspections.report(status_event(repeated.execution_id))
    assert outcomes(inspections) == [("FAILED", "Interrupted"), ("SUCCEEDED", None)]
    assert not inspections.tables.rows(ACTIVE_EXECUTIONS)
    assert inspections.executions.active_run(waiting.reservation) is None


def test_an_inspection_that_the_runtime_reports_as_interrupted_is_repeated(
    inspections: Runner,
) -> None:
    first = inspecting(inspections)
    event = status_event(first, "FAILED", error="Interrupted", cause="The runtime ended")
    inspections.report(event, event)  # a report that is delivered twice
    assert outcomes(inspections) == [("FAILED", "Interrupted"), ("NEW", None)]


def test_interruptions_end_though_each_inspection_is_interrupted(inspections: Runner) -> None:
    inspecting(inspections)
    for _ in range(MAX_REPEATS + 2):
        inspections.start()
        active = [run for run in inspections.list_executions() if run.is_active]
        for item in active:
            interrupt(inspections, item.execution_id)
    assert outcomes(inspections) == [("FAILED", "Interrupted")] * (MAX_REPEATS + 1)
    assert inspections.counted == 0
    assert not inspections.tables.rows(ACTIVE_EXECUTIONS)


def test_one_that_no_place_started_in_time_is_repeated_as_well(
    inspections: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(inspections.runs, "start", unavailable)
        inspections.upload()
        inspections.trigger(KEY)
        inspections.start()
        inspections.wait(minutes=16)  # the runtime is stopped
        inspections.start()
    assert outcomes(inspections) == [("FAILED", "NotStarted"), ("NEW", None)]


@pytest.mark.parametrize(("status", "code"), [("FAILED", "MeshBroken"), ("ABORTED", "Stopped")])
def test_other_ends_of_inspections_are_not_repeated(
    inspections: Runner, status: str, code: str
) -> None:
    inspections.report(status_event(inspecting(inspections), status, error=code))
    assert outcomes(inspections) == [(status, code)]


def test_interrupted_executions_of_users_and_of_their_pipelines_are_not_repeated(
    inspections: Runner,
) -> None:
    """A pipeline of a user may have written already; a user sees the failure and repeats it."""
    inspections.define("publish", triggers=".obj")
    inspections.upload("statue/b.obj")
    inspections.upload()
    started = Api(inspections).started(workflowDatabaseId="GLOBAL", workflow_id=INSPECT.id)
    inspections.trigger("statue/b.obj")
    inspections.start()
    own = [
        run
        for run in inspections.list_executions()
        if run.workflow_id == "publish" or run.execution_id == started
    ]
    assert len(own) == 2
    for item in own:
        inspections.report(status_event(item.execution_id, "FAILED", error="Interrupted"))
    assert [run.repeats for run in inspections.list_executions()] == [0] * len(
        inspections.list_executions()
    )


def test_a_newer_version_is_inspected_instead_of_the_interrupted_one(inspections: Runner) -> None:
    first = inspecting(inspections)
    newer = inspections.upload()
    inspections.trigger(KEY)
    interrupt(inspections, first)
    for body in inspections.queues.take(UPLOAD_TRIGGERS):
        if "detail" in body:  # the other message is the reason of the failure
            inspections.trigger(body["detail"]["object"]["key"])
    result = {
        run.execution_id: (run.execution_status, run.repeats)
        for run in inspections.list_executions()
    }
    assert result.pop(first) == ("FAILED", 0)
    assert list(result.values()) == [("NEW", 0)]
    assert newer in {run.input_version_id for run in inspections.list_executions()}


def test_a_process_that_dies_as_it_ends_one_leaves_it_to_the_next(inspections: Runner) -> None:
    first = inspecting(inspections)
    writes = inspections.tables.before

    def crash(operation: str) -> None:
        if operation == "write":
            raise UnavailableError("the process died")

    inspections.tables.before = crash
    interrupt(inspections, first)
    inspections.tables.before = writes
    assert outcomes(inspections) == [("RUNNING", None)]
    inspections.reconciliation.run()
    assert outcomes(inspections) == [("FAILED", "Interrupted"), ("NEW", None)]
