"""Uploads start workflows: each version once, never in a circle, with the rights of authors."""

import json
from typing import Any

import pytest

from backend.core.errors import UnavailableError
from backend.domains.access.policy.model import ACTIONS
from backend.domains.access.repository.policies import PolicyRepository
from backend.domains.access.service.decisions import PolicyAuthorization
from backend.domains.quarantine.models import ScannedVersion
from backend.spec.queues import EXECUTION_STARTS, UPLOAD_TRIGGERS
from backend.spec.shipped import INSPECT
from backend.spec.tables.access import USERS
from backend.spec.tables.assets import ASSET_UPLOADS
from backend.spec.tables.workflows import ACTIVE_EXECUTIONS, WORKFLOW_EXECUTIONS
from tests.factories.audit import entries
from tests.factories.executions import BUCKET, Runner, status_event
from tests.factories.policies import everything, put_policy, stored

KEY = "statue/a.glb"


@pytest.fixture
def runner() -> Runner:
    runner = Runner()
    runner.define("publish", triggers=".glb,.obj")
    return runner


def finish(runner: Runner, execution_id: str) -> None:
    """Let an execution end, and deliver what that sends."""
    runner.start()
    runner.report(status_event(execution_id))
    for body in runner.queues.take(UPLOAD_TRIGGERS):
        runner.trigger(body["detail"]["object"]["key"])


def test_an_upload_starts_the_workflows_of_its_extension(runner: Runner) -> None:
    runner.define("everything", database_id="GLOBAL", triggers=".all")
    runner.define("points", triggers=".e57")
    runner.define("by-hand")
    version = runner.upload()
    assert runner.trigger(KEY) == {"batchItemFailures": []}
    executions = runner.list_executions()
    assert {item.workflow_id for item in executions} == {"publish", "everything"}
    assert {item.trigger for item in executions} == {"upload"}
    assert {(item.input_asset_file_key, item.input_version_id) for item in executions} == {
        (KEY, version)
    }
    assert {item.started_by for item in executions} == {"SYSTEM"}
    assert runner.queues.take(EXECUTION_STARTS) == [{}]
    runner.start()
    assert len(runner.runs.started) == 2


def test_a_run_of_an_upload_is_its_uploaders(runner: Runner) -> None:
    row: dict[str, Any] = {
        "uploadId": "y1",
        "assetId": "statue",
        "databaseId": "museum",
        "UserId": "ann",
        "uploadType": "assetFile",
        "createdAt": "2026-03-01T12:00:00.000000Z",
        "expiresAt": 1_900_000_000,
        "files": [],
    }
    runner.tables.put_many(ASSET_UPLOADS, [row])
    runner.upload(vitrine_upload="y1")
    runner.upload("statue/b.glb", vitrine_upload="y-expired")
    runner.trigger(KEY, "statue/b.glb")
    result = {run.input_asset_file_key: run.started_by for run in runner.list_executions()}
    assert result == {KEY: "ann", "statue/b.glb": "SYSTEM"}
    entered = {
        entry["userId"]
        for entry in entries(runner.tables)
        if entry["operation"] == "trigger_execution"
    }
    assert entered == {"ann", "SYSTEM"}


def test_a_redelivered_event_and_the_own_output_start_nothing(runner: Runner) -> None:
    runner.upload()
    runner.trigger(KEY, KEY)
    (first,) = runner.list_executions()
    runner.trigger(KEY)
    runner.upload("statue/a-small.glb", vitrine_workflows=",".join(first.chain))
    runner.trigger("statue/a-small.glb")
    finish(runner, first.execution_id)
    runner.trigger(KEY)
    assert [run.execution_id for run in runner.list_executions()] == [first.execution_id]


def test_of_twenty_uploads_the_last_is_processed_and_none_twice_at_once(runner: Runner) -> None:
    first = runner.upload()
    runner.trigger(KEY)
    runner.start()
    (running,) = runner.list_executions()
    last = first
    for _ in range(19):
        runner.wait(seconds=1)
        last = runner.upload()
        runner.trigger(KEY)
    assert len(runner.list_executions()) == 1
    finish(runner, running.execution_id)
    after = runner.list_executions()
    assert [item.input_version_id for item in after] == [first, last]
    assert after[0].execution_status == "SUCCEEDED"
    finish(runner, after[1].execution_id)
    assert len(runner.list_executions()) == 2
    assert runner.counted == 0


def test_an_upload_is_kept_though_the_process_dies_when_the_run_ends(runner: Runner) -> None:
    runner.upload()
    runner.trigger(KEY)
    runner.start()
    (running,) = runner.list_executions()
    last = runner.upload()
    runner.trigger(KEY)
    writes = runner.tables.before

    def crash(operation: str) -> None:
        if operation == "write":
            raise UnavailableError("the process died")

    runner.tables.before = crash
    runner.report(status_event(running.execution_id))
    runner.tables.before = writes
    for body in runner.queues.take(UPLOAD_TRIGGERS):  # meets the run, which has not ended
        runner.trigger(body["detail"]["object"]["key"])
    finish(runner, running.execution_id)
    assert [run.input_version_id for run in runner.list_executions()][-1] == last
    assert len(runner.list_executions()) == 2


def test_what_the_files_of_an_upload_share_is_read_once_for_all(runner: Runner) -> None:
    names = [f"statue/{number}.txt" for number in range(10)]
    for name in names:
        runner.upload(name)
    runner.trigger(names[0])  # which reads the buckets, once for the function
    requests: list[str] = []
    runner.tables.before = requests.append
    runner.trigger(names[0])
    result = len(requests)
    requests.clear()
    assert runner.trigger(*names) == {"batchItemFailures": []}
    assert (result, len(requests)) == (4, 4)
    assert runner.list_executions() == []


def test_uploads_of_several_assets_start_the_workflows_of_their_databases(runner: Runner) -> None:
    runner.define("everything", database_id="GLOBAL", triggers=".glb")
    runner.upload()
    runner.upload("statue/b.obj")
    runner.upload("unknown/c.glb")
    runner.trigger(KEY, "statue/b.obj", "unknown/c.glb", "statue/gone.glb")
    executions = {(run.workflow_id, run.input_asset_file_key) for run in runner.list_executions()}
    assert executions == {("publish", KEY), ("everything", KEY), ("publish", "statue/b.obj")}


def test_an_outage_returns_all_messages(runner: Runner) -> None:
    runner.upload()
    left = [3]

    def away(operation: str) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise UnavailableError("DynamoDB does not answer")

    runner.tables.before = away
    failed = runner.trigger(KEY, KEY)
    assert failed == {"batchItemFailures": [{"itemIdentifier": "m0"}, {"itemIdentifier": "m1"}]}
    runner.tables.before = lambda operation: None
    runner.trigger(KEY, KEY)
    assert len(runner.list_executions()) == 1


@pytest.mark.parametrize(
    "key",
    [
        "statue/a.png",
        "statue/a.glb.previewFile.png",
        "statue/preview.png",
        "statue/folder/",
        "statue/noextension",
        "temp-uploads/y1/0.glb",
        "previews/statue/a.glb",
        "pipelines/e1/1/files/a.glb",
        "a.glb",
    ],
)
def test_what_is_no_file_of_a_triggering_kind_starts_nothing(runner: Runner, key: str) -> None:
    runner.define("images", triggers=".jpg")
    runner.define("every", triggers=".glb,.jpeg")
    runner.upload(key)
    assert runner.trigger(key) == {"batchItemFailures": []}
    assert runner.list_executions() == []


@pytest.mark.parametrize(
    ("chain", "started"),
    [
        ("", {"publish", "everything"}),
        ("museum:publish", {"everything"}),
        ("museum:other,GLOBAL:everything", {"publish"}),
        ("museum:publish,GLOBAL:everything", set[str]()),
        ("a:1,a:2,a:3,a:4", {"publish", "everything"}),
        ("a:1,a:2,a:3,a:4,a:5", set[str]()),
    ],
)
def test_a_workflow_does_not_start_on_what_it_led_to(
    runner: Runner, chain: str, started: set[str]
) -> None:
    runner.define("everything", database_id="GLOBAL", triggers=".all")
    runner.upload(vitrine_workflows=chain)
    runner.trigger(KEY)
    executions = runner.list_executions()
    assert {element.workflow_id for element in executions} == started
    for item in executions:
        assert item.chain == [*filter(None, chain.split(",")), item.workflow_key]


def test_previews_and_gone_quarantined_or_foreign_objects_start_nothing(runner: Runner) -> None:
    runner.upload()
    runner.objects.delete(BUCKET, KEY)
    assert runner.trigger(KEY, "statue/never.glb") == {"batchItemFailures": []}
    assert runner.list_executions() == []
    # The sync of buckets names objects once they belong to an asset.
    runner.upload("garden/a.glb")
    assert runner.trigger("garden/a.glb") == {"batchItemFailures": []}
    assert runner.list_executions() == []
    assert runner.trigger(KEY, bucket="others") == {"batchItemFailures": []}
    assert runner.list_executions() == []
    version = runner.upload()
    verdict = {"scanStatus": "THREATS_FOUND", "scannedAt": "2026-03-01T12:00:00.000000Z"}
    runner.quarantine_version(ScannedVersion(BUCKET, KEY, version), verdict)
    runner.trigger(KEY)
    assert runner.list_executions() == []
    runner.define("everything", triggers=".all")
    for key in ("statue/a.glb.previewFile.png", "statue/preview.png", "statue/folder/"):
        runner.upload(key)
        runner.trigger(key)
    assert runner.list_executions() == []
    runner.upload("statue/a.png")
    runner.trigger("statue/a.png")
    assert [run.workflow_id for run in runner.list_executions()] == ["everything"]


@pytest.mark.parametrize("is_missing", [False, True])
def test_a_workflow_with_a_disabled_or_missing_pipeline_starts_nothing(
    runner: Runner, is_missing: bool
) -> None:
    if is_missing:
        runner.tables.items["PipelineStorageTable"].clear()
    else:
        runner.define("publish", triggers=".glb", enabled=False)
    runner.upload()
    assert runner.trigger(KEY) == {"batchItemFailures": []}
    assert runner.list_executions() == []


@pytest.mark.parametrize("body", [{}, [], {"detail": {"bucket": {"name": 1}}}])
def test_what_is_no_event_is_kept_with_the_failures(runner: Runner, body: Any) -> None:
    event = {"Records": [{"messageId": "m", "receiptHandle": "r", "body": json.dumps(body)}]}
    assert runner.triggers(event) == {"batchItemFailures": []}
    assert [name for name, _, _ in runner.kept] == ["m"]


def test_many_uploads_at_once_are_all_processed(runner: Runner) -> None:
    runner.limit = 10
    keys = [f"statue/{number:04}.glb" for number in range(120)]
    for key in keys:
        runner.upload(key)
    for at in range(0, len(keys), 10):
        runner.trigger(*keys[at : at + 10])
    most = 0
    while True:
        runner.start()
        under_way = [
            element for element, run in runner.runs.started.items() if run.state.status == "RUNNING"
        ]
        most = max(most, len(under_way))
        if not under_way:
            break
        ended = under_way[::2]
        for item in ended:
            runner.runs.end(item, "SUCCEEDED")
        runner.report(*map(status_event, ended))
    executions = runner.list_executions()
    assert {element.input_asset_file_key for element in executions} == set(keys)
    assert {element.execution_status for element in executions} == {"SUCCEEDED"}
    assert (len(executions), most, runner.counted) == (120, 10, 0)
    assert runner.tables.rows(ACTIVE_EXECUTIONS) == []


@pytest.mark.parametrize(
    ("name", "content", "starts"),
    [
        ("scene.xml", b'<?xml version="1.0"?><COLLADA version="1.4.1">', True),
        ("scene.XML", '<?xml version="1.0"?><mesh version="1">'.encode("utf-16"), True),
        ("pom.xml", b'<?xml version="1.0"?><project>', False),
        ("late.xml", b" " * 4096 + b"<COLLADA>", False),
        ("triangles.raw", b"0.5 0.5 0.5 0.0 0.0 0.0 0.0 1.0 0.0", True),
        ("photo.raw", b"II*\0\x10\0\0\0", False),
        ("lexer.x", b"%token NUMBER", False),
        ("cube.x", b"xof 0303txt 0032", True),
        ("circuit.mdl", b"Model { Name }", False),
        ("empty.xml", b"", True),
        ("a.fbx", b"no model either, which its reader says", True),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_an_ambiguous_extension_holds_decides_on_the_shipped_workflow(
    runner: Runner, name: str, content: bytes, starts: bool
) -> None:
    runner.define_inspection()
    extension = name.rpartition(".")[2].lower()
    runner.define("mine", triggers=f".{extension}")
    runner.upload(f"statue/{name}", content)
    runner.trigger(f"statue/{name}")
    expected = {"mine", INSPECT.id} if starts else {"mine"}
    assert {run.workflow_id for run in runner.list_executions()} == expected


AUTHOR = "user#curator"
TYPES = ("pipeline", "asset", "workflow")
ALL = [everything(name) for name in TYPES]


@pytest.fixture
def ruled() -> Runner:
    """Uploads with the stored rules instead of the fake ones; the author may do everything."""
    ruled = Runner()
    vars(ruled.context)["rules"] = PolicyAuthorization(PolicyRepository(ruled.tables), ruled.clock)
    put_policy(ruled.tables, AUTHOR, *ALL)
    ruled.define("publish", triggers=".glb")
    return ruled


def started_by_upload(runner: Runner) -> list[str]:
    """The workflows that a new version starts."""
    before = len(runner.tables.rows(WORKFLOW_EXECUTIONS))
    runner.wait(seconds=3)  # the rights are read again
    key = f"statue/{before}-{runner.now:%H%M%S}.glb"
    runner.upload(key)
    runner.trigger(key)
    rows = runner.tables.rows(WORKFLOW_EXECUTIONS)
    return sorted(row["workflowId"] for row in rows if row["inputAssetFileKey"] == key)


def without(object_type: str, *actions: str) -> list[dict[str, Any]]:
    kept = [action for action in ACTIONS if action not in actions]
    return [everything(name, actions=kept if name == object_type else ACTIONS)
            for name in TYPES]  # fmt: skip


NO_RIGHTS: dict[str, list[dict[str, Any]]] = {
    "no rules": [],
    "may not run the pipeline": without("pipeline", "POST"),
    "may not see the pipeline": without("pipeline", "GET"),
    "may not run anything on the asset": without("asset", "POST"),
    "may not see the asset": without("asset", "GET"),
    "may not run the workflow": without("workflow", "POST"),
    "may not see the workflow": without("workflow", "GET"),
    "is denied the asset": [*ALL, stored("asset", ("databaseId", "equals", "museum"),
                                         effect="deny")],
    "is denied the pipeline": [*ALL, stored("pipeline", ("pipelineId", "equals", "convert"),
                                            effect="deny", actions=["POST"])],
}  # fmt: skip


def test_each_start_needs_the_rights_that_the_author_has_then(ruled: Runner) -> None:
    assert started_by_upload(ruled) == ["publish"]
    for epoch, (name, rules) in enumerate(NO_RIGHTS.items(), start=2):
        put_policy(ruled.tables, AUTHOR, *rules, epoch=epoch)
        assert started_by_upload(ruled) == [], name
    put_policy(ruled.tables, AUTHOR, *ALL, epoch=99)
    assert started_by_upload(ruled) == ["publish"]
    ruled.define(
        "publish", triggers=".glb", pipelines=[("museum", "convert"), ("museum", "render")]
    )
    assert started_by_upload(ruled) == ["publish"]
    denial = stored("pipeline", ("pipelineId", "equals", "render"), effect="deny")
    put_policy(ruled.tables, AUTHOR, *ALL, denial, epoch=100)
    assert started_by_upload(ruled) == []


def test_triggers_of_unknown_and_deleted_users_start_nothing(ruled: Runner) -> None:
    ruled.define("old", triggers=".glb", stored_by=None)
    ruled.define("of-nobody", triggers=".glb", stored_by="")
    assert started_by_upload(ruled) == ["publish"]
    own = [("GLOBAL", "own")]
    ruled.define(INSPECT.id, database_id="GLOBAL", pipelines=own, triggers=".glb", stored_by=None)
    assert started_by_upload(ruled) == ["publish"]
    ruled.define_inspection(triggers=".glb", stored_by=None)
    assert started_by_upload(ruled) == ["publish", INSPECT.id]
    profile = {"userId": "curator", "deletedAt": "2026-02-01T12:00:00.000000Z"}
    ruled.tables.put_many(USERS, [profile])
    assert started_by_upload(ruled) == ["publish", INSPECT.id]  # it was stored after that
    ruled.tables.put_many(USERS, [{**profile, "deletedAt": "2026-03-01T12:00:00.000000Z"}])
    assert started_by_upload(ruled) == [INSPECT.id]
