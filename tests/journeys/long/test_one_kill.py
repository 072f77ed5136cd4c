"""Everything is killed amid long work: jobs, a reindex, and all at once."""

import hashlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.journeys.foreign_workflows import (
    ALLOWED_QUEUES,
    WORKFLOW,
    define_workflow,
    queue_of,
)
from tests.journeys.many_files import INDEXED_SECONDS, ON_DISK_SECONDS, ManyFiles
from tests.journeys.replaying import (
    PATIENCE,
    Load,
    PatientApi,
    abandon_batch,
    let_schedules_be_due,
    load,
    stored,
)
from tests.journeys.runtime import (
    Api,
    Runtime,
    kill_with_children,
    noise,
    put_parts,
    wait_until,
)
from tests.journeys.test_jobs import tags_of
from tests.journeys.test_lifecycle import change, job, states
from tests.journeys.test_search import CONSISTENCY, REINDEX, checked, ended
from tests.journeys.test_uploads import figures, folder_of_assets, vitrine_command
from tests.kills.right_again import (
    RIGHT_AGAIN_SECONDS,
    TRUTHFUL_ENDS,
    becomes_right,
    lost,
)

MIB = 1024**2
LARGE = ("--set", f"largeFileBytes={20 * MIB}")
"""Larger files are copied after the reply, in parts of a quarter of it."""
OPTIONS = (*LARGE, "--set", f"allowedPipelineQueues={ALLOWED_QUEUES}")
PARTS, PART = 8, 50 * MIB
COPIED_PARTS = 80
FILES = 200
TAGGED = 40
ASSETS = 36
HAMMER = "/database/forge/assets/hammer"
MODELS = 10
TRIANGLE = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"


@dataclass
class StateBeforeKill:
    """The data before the kill, and the work in progress."""

    runtime: Runtime
    key: str
    written: Load
    folder: Path
    lion: ManyFiles
    versions: dict[str, str]
    job_id: str
    upload: str
    digest: str
    answered: str = ""
    """An execution whose pipeline was called and has not replied."""
    inspections: list[str] = field(default_factory=list[str])
    """Executions that wait, run, or have ended."""
    restarted: datetime = field(default_factory=lambda: datetime.now(UTC))


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StateBeforeKill]:
    """Start all the work, kill all processes in the middle of it, and start the runtime again."""
    folder = tmp_path_factory.mktemp("one-kill")
    runtime = Runtime(folder / "state")
    try:
        runtime.up(*OPTIONS)
        furnished = _furnished(runtime, folder_of_assets(folder / "import me", ASSETS))
        _kill_amid_work(furnished)
        let_schedules_be_due(runtime)
        runtime.up(*OPTIONS)
        furnished.restarted = datetime.now(UTC)
        yield furnished
    finally:
        runtime.down()


def _kill_amid_work(found: StateBeforeKill) -> None:
    runtime, api = found.runtime, found.runtime.client()
    completion = _uploaded_large_file(found)
    # One upload at a time, so that the import lasts until the kill.
    command = ("import", found.folder, "--database", "imported-folder", "--jobs", "1")
    importing = vitrine_command(runtime, *command)
    with importing, load(runtime, "killed") as found.written, ThreadPoolExecutor(1) as pool:
        _wait_for_assets(api, "imported-folder")
        found.job_id = api.ok("DELETE", "/tags/brass")["jobId"]
        pool.submit(_unarchive, runtime, found.lion)
        wait_until(lambda: api.send("GET", found.lion.path).status_code == 200)
        found.inspections = _inspections(api)
        answer = api.ok("POST", f"{found.upload}/complete", completion)
        assert answer["largeFileAsynchronousHandling"] is True
        _kill_amid_the_copy(found, importing)
    assert importing.returncode != 0
    assert found.written.wrong == []


def _furnished(runtime: Runtime, folder: Path) -> StateBeforeKill:
    api = runtime.client()
    for database in ("killed", "museum", "replayed", "tagged", "large", "forge"):
        api.new_database(database)
    api.ok("POST", "/tag-types", {"tagTypeName": "material", "description": "What it is of"})
    tag = {"tagName": "brass", "tagTypeName": "material", "description": "A tag"}
    api.ok("POST", "/tags", tag)
    for number in range(TAGGED):
        api.new_asset("tagged", f"Gear {number}", tags=["brass"])
    pump = api.new_asset("replayed", "Pump")
    abandon_batch(runtime, "replayed", pump)
    asset = api.new_asset("museum", "Lion", assetId="lion")
    names = tuple(f"/d{number % 7}/{number}.bin" for number in range(FILES))
    lion = ManyFiles(runtime, "museum", asset, names)
    lion.put(drained=False)  # `drain` below waits for these files, too
    versions = lion.versions()
    assert len(versions) == FILES
    change(api, "archive", lion.path)
    answered = _called_pipeline(runtime)
    runtime.drain(INDEXED_SECONDS)
    key = runtime.endpoint["adminApiKey"]
    return StateBeforeKill(
        runtime, key, Load("killed"), folder, lion, versions, "", "", "", answered
    )


def _called_pipeline(runtime: Runtime) -> str:
    """Start an execution that waits for the reply of a foreign pipeline; return its id."""
    api = runtime.client()
    api.new_asset("forge", "Hammer", assetId="hammer")
    api.upload("forge", "hammer", {f"/{number}.obj": [TRIANGLE] for number in range(MODELS)})
    sqs, queue = queue_of(runtime)
    define_workflow(api, "forge")
    body = {"workflowDatabaseId": "forge", "fileKey": "/0.obj"}
    execution_id: str = api.ok("POST", f"{HAMMER}/workflows/{WORKFLOW}", body)["message"]
    wait_until(lambda: "Messages" in sqs.receive_message(QueueUrl=queue, WaitTimeSeconds=1))
    # The starter records the start after the state machine has made the first call.
    wait_until(lambda: _execution(api, execution_id)["executionStatus"] == "RUNNING")
    return execution_id


def _inspections(api: Api) -> list[str]:
    """Start the shipped workflow on each model; return the ids of the executions."""
    keys = [f"/{number}.obj" for number in range(MODELS)]
    body = {"workflowDatabaseId": "GLOBAL", "fileKeys": keys}
    started = api.ok("POST", f"{HAMMER}/workflows/vitrine-inspect", body)["executions"]
    assert len(started) == MODELS
    return [item["executionId"] for item in started]


def _execution(api: Api, execution_id: str) -> dict[str, Any]:
    message: dict[str, Any] = api.ok("GET", f"{HAMMER}/executions/{execution_id}")["message"]
    return message


def _wait_for_assets(api: Api, database: str) -> None:
    def some_are_there() -> bool:
        answer = api.send("GET", f"/database/{database}/assets")
        return answer.status_code == 200 and len(answer.json()["Items"]) >= 2

    wait_until(some_are_there)


def _unarchive(runtime: Runtime, lion: ManyFiles) -> None:
    with suppress(httpx.TransportError, AssertionError):  # the kill may happen before the reply
        change(runtime.client(), "unarchive", lion.path)


def _uploaded_large_file(found: StateBeforeKill) -> dict[str, Any]:
    """Upload 400 MiB; return the request that completes it, after which the copy begins."""
    api = found.runtime.client()
    api.new_asset("large", "statue", assetId="statue")
    bodies = [os.urandom(MIB) * (PART // MIB) for _ in range(PARTS)]
    scope = {"assetId": "statue", "databaseId": "large", "uploadType": "assetFile"}
    wanted = [{"relativeKey": "/cloud.bin", "num_parts": PARTS, "file_size": PARTS * PART}]
    begun = api.ok("POST", "/uploads", {**scope, "files": wanted})
    done = put_parts(begun["files"][0], bodies)
    found.upload = f"/uploads/{begun['uploadId']}"
    found.digest = hashlib.sha256(b"".join(bodies)).hexdigest()
    return {**scope, "files": [done]}


def _kill_amid_the_copy(found: StateBeforeKill, importing: subprocess.Popen[str]) -> None:
    wait_until(lambda: _copied(found.runtime) > PARTS, every=0.005)  # it may take a second
    wait_until(lambda: len(found.written.acknowledged) >= 3)
    assert importing.poll() is None, "the import ended before the kill"
    kill_with_children(found.runtime.endpoint["pid"])
    assert PARTS < _copied(found.runtime) < COPIED_PARTS


def _copied(runtime: Runtime) -> int:
    """Return the number of parts of the copy, as versitygw stores them."""
    folder = hashlib.sha256(b"statue/cloud.bin").hexdigest()
    return len(list(_buckets(runtime).glob(f"*/.sgwtmp/multipart/{folder}/*/*")))


def _buckets(runtime: Runtime) -> Path:
    """Return where versitygw stores the objects."""
    return runtime.state / "data" / "s3" / "buckets"


def test_acknowledged_writes_are_there_and_the_index_is_right(before: StateBeforeKill) -> None:
    """First, because its minute begins with the restart."""
    becomes_right(before.runtime, "killed")
    assert before.runtime.endpoint["adminApiKey"] == before.key
    assert lost(before.written, stored(before.runtime.client(), "killed")) == []


def test_executions_end_truthfully_within_a_minute(before: StateBeforeKill) -> None:
    api = before.runtime.client()
    ids = [before.answered, *before.inspections]

    def have_ended() -> bool:
        statuses = [_execution(api, element)["executionStatus"] for element in ids]
        return not {"NEW", "RUNNING"} & set(statuses)

    wait_until(have_ended)
    waited, *inspected = [_execution(api, element) for element in ids]
    assert (waited["executionStatus"], waited["error"]["code"]) == ("FAILED", "Interrupted")
    for item in inspected:
        error = item.get("error", {}).get("code")
        assert (item["executionStatus"], error) in TRUTHFUL_ENDS
    latest = max(datetime.fromisoformat(element["stoppedAt"]) for element in (waited, *inspected))
    assert latest - before.restarted < timedelta(seconds=RIGHT_AGAIN_SECONDS)
    # Their files have no other lock any more.
    api.ok("POST", f"{HAMMER}/executions/{before.answered}/rerun")


def test_files_that_were_coming_back_are_all_there(before: StateBeforeKill) -> None:
    before.lion.check(archived=False)
    assert before.lion.versions() == before.versions  # nothing was copied


def test_the_job_is_done(before: StateBeforeKill) -> None:
    before.runtime.drain()
    api = before.runtime.client()
    assert api.ok("GET", f"/jobs/{before.job_id}")["state"] == "done"
    assert set(tags_of(api, "tagged")) == {()}


def test_the_large_file_is_whole(before: StateBeforeKill) -> None:
    api = before.runtime.client()
    wait_until(lambda: api.ok("GET", before.upload)["state"] != "working", seconds=600)
    (file,) = api.ok("GET", before.upload)["files"]
    assert (file["state"], file["largeFileAsynchronousHandling"]) == ("done", True)
    place = "/database/large/assets/statue"
    query = {"filePath": "/cloud.bin", "includeVersions": "true"}
    info = api.ok("GET", f"{place}/fileInfo", params=query)
    assert [version["size"] for version in info["versions"]] == [PARTS * PART]
    assert _downloaded(api, place) == before.digest
    # Uploads of the killed import may be left: they are removed when they expire.
    assert _copied(before.runtime) == 0


def _downloaded(api: Api, place: str) -> str:
    body = {"downloadType": "assetFile", "key": "/cloud.bin"}
    link: Any = api.ok("POST", f"{place}/download", body)
    digest = hashlib.sha256()
    with httpx.stream("GET", link["downloadUrl"], timeout=60) as response:
        for piece in response.iter_bytes(MIB):
            digest.update(piece)
    return digest.hexdigest()


def test_the_next_import_finishes_the_one_that_died(before: StateBeforeKill) -> None:
    result = figures(before.runtime, before.folder, "imported-folder")
    files = 10 * ASSETS
    assert (result["assets"], result["files"], result["searchable"]) == (ASSETS, files, files)


def test_the_schedule_replays_batches_that_a_stream_abandoned(before: StateBeforeKill) -> None:
    api = before.runtime.client()
    wait_until(lambda: api.ok("GET", "/admin/failures")["Items"] == [])


LIFECYCLE_FILES = 300
ROUNDS = int(os.environ.get("KILL_ROUNDS", "1"))


@pytest.mark.parametrize("round_", range(ROUNDS))
def test_every_change_of_state_survives_the_death_of_everything(
    own_runtime: Runtime, round_: int
) -> None:
    own_runtime.up()
    api = own_runtime.client()
    database = api.new_database("museum")
    asset = api.new_asset(database, "Lion", assetId=f"lion-{round_}")
    names = tuple(f"/d{number % 7}/{number}.bin" for number in range(LIFECYCLE_FILES))
    lion = ManyFiles(own_runtime, database, asset, names)
    lion.put()
    lion.check(archived=False)
    before = lion.versions()
    assert len(before) == LIFECYCLE_FILES

    for operation, gone in (("archive", True), ("unarchive", False)):
        lion.kill_during(operation, archived=gone)
        lion.check(archived=gone)
    assert lion.versions() == before
    api = own_runtime.client()

    job_id = change(api, "delete", lion.path)["jobId"]
    wait_until(lambda: job(api, job_id)["itemsDone"] > 0, seconds=30)
    time.sleep(ON_DISK_SECONDS)
    kill_with_children(own_runtime.endpoint["pid"])
    own_runtime.up()
    api = own_runtime.client()
    wait_until(lambda: job(api, job_id)["state"] == "done", seconds=120)
    own_runtime.drain()
    assert states(api, database) == {}
    api.new_asset(database, "Tiger", assetId=asset)
    own_runtime.drain()
    assert states(api, database) == {asset: False}
    assert api.ok("GET", f"{lion.path}/listFiles?includeArchived=true")["items"] == []


REINDEX_FILES = 400
AT_ONCE = 50


def fill(api: Api, database: str) -> None:
    for number in range(REINDEX_FILES // AT_ONCE):
        asset = api.new_asset(database, f"Asset {number}", assetId=f"{database}-{number}")
        files = {f"/{n}.bin": [noise(20, f"{number}/{n}")] for n in range(AT_ONCE)}
        api.upload(database, asset, files)


def drift(api: Api) -> int:
    report = checked(api)
    return report["missing"] + report["stale"] + report["extra"]


def indexes_become_right(api: Api) -> None:
    """Maximum time until there is no drift, including the check itself."""
    wait_until(lambda: drift(api) == 0, seconds=RIGHT_AGAIN_SECONDS)


@pytest.mark.parametrize("phase", ["fill", "verify", "keep"])
def test_a_reindex_survives_the_death_of_opensearch_and_of_everything(
    own_runtime: Runtime, phase: str
) -> None:
    own_runtime.up()
    api = PatientApi(own_runtime.client().http)
    database = api.new_database("museum")
    fill(api, database)
    own_runtime.drain()
    assert drift(api) == 0
    with load(own_runtime, database) as written:
        job_id = api.ok("POST", REINDEX)["jobId"]
        _reaches(api, phase)
        os.kill(own_runtime.admin("GET", "/health")["engines"]["opensearch"]["pid"], signal.SIGKILL)
        time.sleep(2)
    assert written.wrong == []
    time.sleep(ON_DISK_SECONDS)
    kill_with_children(own_runtime.endpoint["pid"])
    own_runtime.up()
    api = PatientApi(own_runtime.client().http)
    indexes_become_right(api)
    assert ended(api, job_id)["state"] == "done"
    indexes_become_right(api)
    names = {name for index in api.ok("GET", CONSISTENCY)["indexes"] for name in index["writes"]}
    assert names == {"assets-2", "files-2"}
    missing = [a for a in written.acknowledged if a not in stored(api, database)]
    assert missing == []


def _reaches(api: Api, phase: str) -> None:
    """Wait until the reindex is in the phase, or has just passed it."""

    def is_there() -> bool:
        work = api.ok("GET", CONSISTENCY)["work"]
        return any(item.get("phase") == phase for item in work) or not work

    wait_until(is_there, seconds=PATIENCE)
