"""The input of pipelines: the fields of VAMS, and no secret."""

import json
from typing import Any

import pytest

from backend.domains.executions import rules
from backend.domains.executions.models import RunError
from backend.domains.metadata.models import Entity, NewRecord
from tests.factories.assets import ADMIN
from tests.factories.executions import AUXILIARY, BUCKET, Runner, pipeline_snapshot

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


def test_an_error_is_stored_without_secrets() -> None:
    token = "AQCEAAAAKgAAAAMAAAAA" * 10
    url = f"https://b.s3.amazonaws.com/a.glb?X-Amz-Credential=me&X-Amz-Signature={'0f' * 32}"
    cause = json.dumps(
        {
            "errorType": "MeshBroken",
            "errorMessage": f"cannot read {url} with {token}",
            "stackTrace": ["line 1, token"],
        }
    )
    found = rules.error_of("FAILED", "Lambda.Unknown", cause)
    assert found == RunError(
        code="MeshBroken",
        message="cannot read https://b.s3.amazonaws.com/a.glb?[removed] with [removed]",
    )


@pytest.mark.parametrize(
    ("status", "code", "cause", "expected"),
    [
        ("FAILED", "States.Timeout", None, ("States.Timeout", "")),
        ("TIMED_OUT", None, None, ("TimedOut", "")),
        ("ABORTED", None, "by ann", ("Aborted", "by ann")),
        ("FAILED", "X" * 500, "y y" * 9000, ("[removed]", ("y y" * 9000)[:2000])),
        ("FAILED", "E", "[1]", ("E", "[1]")),
        ("FAILED", "E", "[" * 100_000, ("E", "[" * 2000)),
    ],
)
def test_errors_are_bounded_and_named(
    status: Any, code: str | None, cause: str | None, expected: tuple[str, str]
) -> None:
    found = rules.error_of(status, code, cause)
    assert found is not None
    assert (found.code, found.message) == expected
    assert rules.error_of("SUCCEEDED", code, cause) is None
