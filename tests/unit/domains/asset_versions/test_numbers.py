"""Numbers of versions: drawn once, with gaps where creators die; the highest is current."""

from collections.abc import Callable
from datetime import timedelta
from unittest.mock import Mock, patch

import pytest

from backend.aws.tables import DynamoTables
from backend.core.paging import PageRequest
from backend.core.tables import Tables
from backend.core.transactions import Delete, Update
from backend.domains.asset_versions import rules
from backend.domains.asset_versions.models import NamedFile
from backend.domains.asset_versions.models.jobs import Capture
from backend.domains.jobs.errors import JobChangedError
from backend.domains.jobs.models import Job
from backend.spec.tables.assets import (
    ASSET_FILE_METADATA_VERSIONS,
    ASSET_FILE_VERSIONS,
    ASSET_VERSIONS,
    ASSETS,
)
from backend.spec.tables.operations import JOBS, RESERVATIONS
from tests.factories.assets import ADMIN, created_asset
from tests.factories.audit import entries
from tests.factories.files import BUCKET
from tests.factories.lifecycle import KilledError, interrupt
from tests.factories.versions import Versions, named
from tests.unit.domains.asset_versions.world import (
    died_making,
    killed_at,
    pages,
    put,
    put_records,
    snapshot_rows,
)

COUNTER = {"reservationKey": "Versions#museum:statue"}


def before_the_first(
    museum: Versions, monkeypatch: pytest.MonkeyPatch, method: str, others: Callable[[], object]
) -> None:
    """Let others act before the first call of a method of the repository, while its caller sleeps
    for longer than it has its job."""

    def act() -> None:
        museum.lifecycle.hands.now += timedelta(minutes=5)
        others()

    interrupt(monkeypatch, type(museum.creation.repository), method, act)


def unfinished(museum: Versions) -> Job:
    (job,) = (item for item in museum.stored_jobs() if not item.is_finished)
    return job


def abandons(museum: Versions) -> None:
    """Let another worker cancel a creation, because its asset is archived for a moment."""
    job = unfinished(museum)
    museum.lifecycle.archive()
    assert museum.work_off(job.job_id).state == "failed"
    museum.lifecycle.unarchive()


def cancels(museum: Versions) -> None:
    job = unfinished(museum)
    museum.lifecycle.jobs.cancel_job(ADMIN, job.job_id)
    assert museum.work_off(job.job_id).state == "cancelled"


def current_flags(tables: DynamoTables) -> dict[str, bool]:
    rows = tables.scan(ASSET_VERSIONS, PageRequest(100)).items
    return {row["assetVersionId"]: row["isCurrentVersion"] for row in rows if "comment" in row}


def test_all_rows_of_a_version_are_stored_under_its_number_and_go_with_its_asset(
    museum: Versions, tables: DynamoTables
) -> None:
    put(museum, "/a.glb")
    put_records(tables, [("/", "metadata", 1)])
    museum.made(versionAlias="v1")
    for table in (ASSET_FILE_VERSIONS, ASSET_FILE_METADATA_VERSIONS):
        (row,) = tables.scan(table, PageRequest(10)).items
        assert row["databaseId:assetId:assetVersionId"] == "museum:statue:1"
    for row in tables.scan(ASSET_VERSIONS, PageRequest(10)).items:
        assert "snapshotId" not in row
    (asset,) = tables.scan(ASSETS, PageRequest(10)).items
    assert asset["currentVersion"].keys().isdisjoint({"snapshotId"})
    museum.lifecycle.work_off(museum.lifecycle.delete())
    for table in (ASSET_VERSIONS, ASSET_FILE_VERSIONS, ASSET_FILE_METADATA_VERSIONS):
        assert not tables.scan(table, PageRequest(10)).items
    counters = tables.scan(RESERVATIONS, PageRequest(100)).items
    keys = [row["reservationKey"] for row in counters if "statue" in row["reservationKey"]]
    assert keys == [COUNTER["reservationKey"]]


def test_of_two_concurrent_versions_the_higher_number_is_current(
    museum: Versions, tables: DynamoTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = put(museum, "/a.glb")
    second: dict[str, str] = {}

    def overtake() -> None:
        museum.lifecycle.hands.now -= timedelta(minutes=5)  # the first creator keeps its lease
        # As jobs that an earlier release started.
        monkeypatch.setattr(type(museum.creation.steps), "is_early", Mock(return_value=None))
        second.update(put(museum, "/a.glb", "/b.glb"))
        assert museum.made("the second", versionAlias="v2") == "2"

    before_the_first(museum, monkeypatch, "commit", overtake)
    assert museum.made("the first", versionAlias="v1") == "1"
    assert museum.asset.current_version.version == "2"
    assert current_flags(tables) == {"0": False, "1": False, "2": True}
    flags = {version["Version"]: version["isCurrent"] for version in museum.listed()}
    assert flags == {"2": True, "1": False, "0": False}
    assert (museum.files("1"), museum.files("2")) == (first, second)
    made = [e["changes"] for e in entries(tables) if e["operation"] == "create_asset_version"]
    assert sorted(sorted(changes) for changes in made) == [
        ["assetVersionId", "currentVersion"],
        ["assetVersionId", "version.1"],
    ]


def test_a_number_that_no_version_got_is_passed_over(
    museum: Versions, tables: DynamoTables
) -> None:
    museum.made(versionAlias="v1")
    for _ in range(3):
        museum.creation.repository.draw_number(museum.lifecycle.gallery.asset)
    assert museum.made(versionAlias="9th") == "5"
    for size in ("1", "2", "1000"):
        parts = pages(museum, "getVersions", pageSize=size)
        assert [version["Version"] for p in parts for version in p["versions"]] == ["5", "1", "0"]
    assert museum.send("GET", "getVersion/3").body["code"] == "AssetVersionNotFound"
    gap = {"from": "1", "to": "3"}
    assert museum.send("GET", "compareVersions", **gap).body["code"] == "AssetVersionNotFound"
    assert museum.revert("1").body["assetVersionId"] == "6"


def test_a_worker_that_wakes_up_after_its_job_was_resumed_writes_under_its_own_number(
    museum: Versions, tables: DynamoTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(museum, "/a.glb")

    def another_attempt() -> None:
        job = unfinished(museum)
        abandons(museum)
        museum.lifecycle.hide("/a.glb")
        put(museum, "/b.glb")
        museum.lifecycle.jobs.resume_job(ADMIN, job.job_id)
        assert (museum.work_off(job.job_id).result or {})["assetVersionId"] == "2"

    before_the_first(museum, monkeypatch, "put_files", another_attempt)
    museum.create()
    assert [item["Version"] for item in museum.listed()] == ["2", "0"]
    assert museum.files("2").keys() == {"/b.glb"}
    assert museum.send("GET", "getVersion/1").body["code"] == "AssetVersionNotFound"


@pytest.mark.parametrize("meanwhile", [abandons, cancels])
def test_a_worker_that_wakes_up_after_its_rows_were_swept_commits_nothing(
    museum: Versions, monkeypatch: pytest.MonkeyPatch, meanwhile: Callable[[Versions], None]
) -> None:
    put(museum, "/a.glb")
    before_the_first(museum, monkeypatch, "commit", lambda: meanwhile(museum))
    assert museum.create().status == 200  # with the job, which has ended
    assert [item["Version"] for item in museum.listed()] == ["0"]
    assert museum.asset.current_version.version == "0"
    assert museum.made() == "2"


def test_a_worker_that_wakes_up_in_a_sweep_removes_no_row_of_the_next_attempt(
    museum: Versions, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = died_making(museum, monkeypatch)
    museum.lifecycle.archive()

    def another_attempt() -> None:
        assert museum.work_off(job.job_id).state == "failed"
        museum.lifecycle.unarchive()
        museum.lifecycle.jobs.resume_job(ADMIN, job.job_id)
        assert (museum.work_off(job.job_id).result or {})["assetVersionId"] == "2"

    before_the_first(museum, monkeypatch, "delete_rows", another_attempt)
    museum.work_off(job.job_id)
    assert museum.files("2").keys() == {"/a.glb"}


def test_a_creation_that_is_cancelled_leaves_a_gap_and_no_rows(
    museum: Versions, tables: DynamoTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = died_making(museum, monkeypatch)
    assert snapshot_rows(tables, "1") == 1
    museum.lifecycle.jobs.cancel_job(ADMIN, job.job_id)
    assert museum.work_off(job.job_id).state == "cancelled"
    assert snapshot_rows(tables, "1") == 0
    assert museum.made() == "2"
    assert [item["Version"] for item in museum.listed()] == ["2", "0"]


def test_a_cancellation_that_comes_after_the_commit_changes_nothing(
    museum: Versions, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = put(museum, "/a.glb")
    killed_at(museum, monkeypatch, "commit")
    with pytest.raises(KilledError):
        museum.create()
    job = unfinished(museum)
    museum.lifecycle.jobs.cancel_job(ADMIN, job.job_id)
    museum.lifecycle.hands.now += timedelta(minutes=5)
    assert museum.work_off(job.job_id).state == "done"
    assert museum.files("1") == files


def taken_again(museum: Versions) -> None:
    """Delete the asset, and create another one of the same id."""
    museum.lifecycle.work_off(museum.lifecycle.delete())
    assert museum.lifecycle.asset() is None
    created_asset(museum.lifecycle.gallery.assets)


def test_the_asset_of_a_deleted_ones_id_gets_numbers_that_were_never_drawn(
    museum: Versions, tables: DynamoTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = died_making(museum, monkeypatch)
    taken_again(museum)
    counter = tables.get(RESERVATIONS, COUNTER) or {}
    assert counter["expiresAt"] >= old.expires_at  # as long as the old job can be resumed
    files = put(museum, "/a.glb", "/b.glb")
    assert museum.made() == "2"
    assert "expiresAt" not in (tables.get(RESERVATIONS, COUNTER) or {})
    for _ in range(2):
        assert museum.work_off(old.job_id).state == "failed"
        museum.lifecycle.jobs.resume_job(ADMIN, old.job_id)
    assert museum.files("2") == files
    assert [item["Version"] for item in museum.listed()] == ["2", "0"]


def test_a_worker_that_wakes_up_after_its_asset_was_deleted_changes_no_version_of_the_next(
    museum: Versions, tables: DynamoTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(museum, "/a.glb", "/z.glb")
    files: dict[str, str] = {}

    def another_asset() -> None:
        taken_again(museum)
        files.update(put(museum, "/b.glb"))
        assert museum.made() == "2"

    before_the_first(museum, monkeypatch, "put_files", another_asset)
    answer = museum.create()
    assert snapshot_rows(tables, "1") == len(("/a.glb", "/z.glb"))
    assert museum.work_off(answer.body["jobId"]).state == "failed"
    assert snapshot_rows(tables, "1") == 0
    assert museum.files("2") == files
    assert [item["Version"] for item in museum.listed()] == ["2", "0"]


def made_by_an_earlier_release(museum: Versions, tables: DynamoTables) -> None:
    """Store version 1 as releases did that wrote rows under the id of a snapshot."""
    assert museum.made(versionAlias="v1") == "1"
    for table in (ASSET_FILE_VERSIONS, ASSET_FILE_METADATA_VERSIONS):
        for row in tables.scan(table, PageRequest(100)).items:
            names = table.key_names
            tables.delete_many(table, [{name: row[name] for name in names}])
            tables.put_many(table, [{**row, names[0]: "museum:statue:0a1b"}])
    key = {"databaseId:assetId": "museum:statue", "assetVersionId": "1"}
    tables.write(Update(table=ASSET_VERSIONS, key=key, set={"snapshotId": "0a1b"}))
    (row,) = tables.scan(ASSETS, PageRequest(10)).items
    current = {**row["currentVersion"], "snapshotId": "0a1b"}
    key = {"databaseId": "museum", "assetId": "statue"}
    tables.write(Update(table=ASSETS, key=key, set={"currentVersion": current}))
    tables.write(Delete(table=RESERVATIONS, key=COUNTER))


def test_versions_of_earlier_releases_are_read_compared_reverted_to_and_deleted(
    museum: Versions, tables: DynamoTables
) -> None:
    first = put(museum, "/a.glb", "/b.glb")
    put_records(tables, [("/", "metadata", 1)])
    made_by_an_earlier_release(museum, tables)
    listed = museum.lifecycle.gallery.list_files
    assert museum.files("1") == first
    assert len(museum.whole("1")["versionedMetadata"]) == 1
    mismatches = [f["currentAssetVersionFileVersionMismatch"] for f in listed().body["items"]]
    assert mismatches == [False, False]
    query = {"assetVersionIdAlias": "v1"}
    assert [f["versionId"] for f in listed(**query).body["items"]] == list(first.values())
    put(museum, "/b.glb", "/c.glb")
    assert museum.made() == "2"
    compared = museum.send("GET", "compareVersions", **{"from": "1", "to": "2"}).body["files"]
    result = {kind: [item["relativeKey"] for item in some] for kind, some in compared.items()}
    assert result == {"added": ["/c.glb"], "removed": [], "changed": ["/b.glb"]}
    assert museum.revert("1").body["assetVersionId"] == "3"
    assert museum.files("3")["/a.glb"] == first["/a.glb"]
    museum.lifecycle.work_off(museum.lifecycle.delete())
    assert snapshot_rows(tables, "0a1b") == 0


def test_a_job_that_an_earlier_release_began_draws_a_number_and_begins_again(
    museum: Versions, tables: DynamoTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = put(museum, "/a.glb")
    killed_at(museum, monkeypatch, "start")
    with pytest.raises(KilledError):
        museum.create(files=named(files))
    job = unfinished(museum)
    request_id = job.parameters.pop("requestId")
    parameters = {**job.parameters, "snapshotId": request_id}
    cursor = {"part": "commit", "files": 7}
    begun = Update(
        table=JOBS, key={"jobId": job.job_id}, set={"parameters": parameters, "cursor": cursor}
    )
    tables.write(begun)
    pages = rules.named_pages([NamedFile.model_validate(item) for item in named(files)])
    museum.creation.repository.put_named(museum.lifecycle.gallery.asset, request_id, pages)
    museum.lifecycle.hands.now += timedelta(minutes=1)  # the lease of the request that died
    assert (museum.work_off(job.job_id).result or {})["assetVersionId"] == "2"  # 1 was drawn
    assert museum.files("2") == files
    assert museum.whole("2")["fileCount"] == 1


@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_a_version_that_was_committed_since_the_asset_was_read_is_changed_as_the_current_one(
    museum: Versions, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    before_the_first(museum, monkeypatch, "get", museum.made)
    if method == "PUT":
        answer = museum.send("PUT", "assetversions/1", body={"comment": "changed"})
        assert answer.status == 200
        asset = museum.asset
        assert asset.current_version.comment == "changed"
    else:
        answer = museum.send("POST", "assetversions/1/archive")
        assert (answer.status, answer.body["code"]) == (409, "ConfirmArchiveAssetMissing")


@pytest.mark.parametrize("method", ["start", "put_files", "put_records", "count_files", "commit"])
def test_a_version_whose_request_died_is_made_once_by_its_job(
    museum: Versions, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    files = put(museum, "/a.glb", "/b.glb")
    killed_at(museum, monkeypatch, method)
    with pytest.raises(KilledError):
        museum.create("once", versionAlias="v1")
    museum.lifecycle.hands.now += timedelta(seconds=300)
    (job,) = museum.stored_jobs()
    done = museum.work_off(job.job_id)
    assert (done.state, (done.result or {})["assetVersionId"]) == ("done", "1")
    assert [item["Version"] for item in museum.listed()] == ["1", "0"]
    assert museum.files("1") == files


def test_a_request_that_dies_over_its_number_starts_nothing(
    museum: Versions, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed_at(museum, monkeypatch, "draw_number")
    with pytest.raises(KilledError):
        museum.create("once", versionAlias="v1")
    assert museum.stored_jobs() == []
    assert museum.made(versionAlias="v1") == "2"
    assert [item["Version"] for item in museum.listed()] == ["2", "0"]


def test_a_worker_that_died_while_it_swept_is_followed_by_one_that_sweeps_the_rest(
    museum: Versions, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = died_making(museum, monkeypatch)
    museum.lifecycle.archive()
    assert snapshot_rows(tables, "1") == 1
    killed_at(museum, monkeypatch, "delete_named_rows")
    with pytest.raises(KilledError):
        museum.work_off(job.job_id)
    assert snapshot_rows(tables, "1") == 1
    museum.lifecycle.hands.now += timedelta(seconds=300)
    museum.lifecycle.unarchive()
    done = museum.work_off(job.job_id)
    assert done.state == "failed"
    assert Capture.model_validate(done.cursor) == Capture(again=True)
    assert done.problems == [
        "Asset statue was archived or deleted while the version was being created"
    ]
    assert snapshot_rows(tables, "1") == 0
    museum.lifecycle.jobs.resume_job(ADMIN, job.job_id)
    assert (museum.work_off(job.job_id).result or {})["assetVersionId"] == "2"


def test_a_request_that_died_over_its_files_makes_no_version(museum: Versions) -> None:
    files = put(museum, "/a.glb")
    put_named = patch.object(type(museum.creation.repository), "put_named", side_effect=KilledError)
    with put_named, pytest.raises(KilledError):
        museum.create(files=named(files))
    museum.lifecycle.hands.now += timedelta(seconds=300)
    (job,) = museum.stored_jobs()
    assert museum.work_off(job.job_id).state == "failed"
    assert museum.made() == "2"


def test_a_worker_that_wakes_up_after_a_revert_hides_nothing_that_was_put_since(
    museum: Versions, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(museum, "/a.glb")
    museum.made()
    gallery, objects = museum.lifecycle.gallery, museum.lifecycle.objects
    gallery.put("/a.glb", b"newer")

    def act() -> None:
        """Let another worker end the job of the revert, and others do more."""
        museum.lifecycle.hands.now += timedelta(seconds=300)
        assert museum.work_off(unfinished(museum).job_id).state == "done"
        gallery.put("/a.glb", b"newest")

    interrupt(monkeypatch, type(objects), "copy", act)
    museum.revert("1")
    assert objects.read_start(BUCKET, "statue/a.glb", length=9) == b"newest"
    assert museum.files("2").keys() == {"/a.glb"}


def test_a_worker_that_wakes_up_after_a_version_was_made_and_the_asset_archived_removes_no_rows(
    museum: Versions, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    stale = died_making(museum, monkeypatch)
    assert museum.work_off(stale.job_id).state == "done"
    rows = snapshot_rows(tables, "1")
    museum.lifecycle.archive()
    with pytest.raises(JobChangedError):
        museum.creation.steps.make(stale)
    assert snapshot_rows(tables, "1") == rows > 0
