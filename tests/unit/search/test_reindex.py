"""A reindex under changes, deaths and a change of mind: nothing is lost, nothing read too early."""

import random

import pytest

from backend.core.errors import UnavailableError
from backend.core.references import AssetRef, FileKeyRef, FileRef
from backend.core.search_engine import JsonObject
from backend.domains.jobs.errors import JobStateError
from backend.domains.jobs.models import Job
from backend.search.indexing.references import ObjectRef
from backend.search.maintenance.work import ReindexUnfinishedError
from backend.search.values import MAX_KEYS_OF_DATABASE
from backend.spec.jobs import REINDEX_SEARCH
from backend.spec.search_indexes import MAPPING_VERSION
from tests.factories.jobs import ADMIN, KilledError
from tests.factories.renewal import BUCKET, KEEP_SECONDS, Renewal
from tests.factories.search import store_metadata


@pytest.fixture
def renewal() -> Renewal:
    renewal = Renewal()
    renewal.add_database()
    return renewal


@pytest.fixture(autouse=True)
def small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backend.search.maintenance.walk.PAGE_ASSETS", 3)
    monkeypatch.setattr("backend.search.maintenance.walk.FULL", 5)
    monkeypatch.setattr("backend.search.maintenance.walk.PAGE_VERSIONS", 4)


def fill(renewal: Renewal) -> None:
    for number in range(5):
        renewal.add_asset(f"a{number}", files=number * 2)


def cancel(renewal: Renewal, job_id: str) -> None:
    renewal.world.jobs.cancel_job(ADMIN, job_id)


def require_no_drift(renewal: Renewal) -> None:
    report = renewal.check()
    assert (report.missing, report.stale, report.extra, report.refused) == (0, 0, 0, 0)


def phase(job: Job) -> str:
    return str(job.cursor.get("phase", "reserve"))


def test_a_reindex_builds_everything_again_and_removes_the_old(renewal: Renewal) -> None:
    fill(renewal)
    before = renewal.live(number=1)
    job = renewal.run(REINDEX_SEARCH)
    assert (job.state, job.problems, job.items_done) == ("done", [], 25)
    assert renewal.live(number=2) == before
    assert sorted(renewal.engine.indexes) == ["assets-2", "files-2"]
    assert renewal.engine.aliases == {"assets": "assets-2", "files": "files-2"}
    pointer = renewal.state.pointer()
    assert pointer.assets_read == "assets-2"
    assert (pointer.assets_write, pointer.files_write) == (("assets-2",), ("files-2",))
    assert renewal.state.moved_by() is None


def test_indexes_of_an_earlier_mapping_version_are_written_and_checked_as_such_until_renewed(
    renewal: Renewal,
) -> None:
    renewal.age()
    fill(renewal)
    renewal.add_file("a1", "preview.png")
    for name in ("a1/0000.glb", "a2/0000.glb"):
        renewal.objects.delete(BUCKET, name)
    renewal.objects.delete(BUCKET, "a3/markers only.glb")
    changed = ("a1/preview.png", "a1/0000.glb", "a2/0000.glb", "a3/markers only.glb")
    renewal.rebuild(*(ObjectRef(BUCKET, key) for key in changed))
    first = renewal.live(number=1)
    assert "num_filesize" not in first["museum:a1:a1/0000.glb"]
    assert {"museum:a1:a1/preview.png", "museum:a3:a3/markers only.glb"} <= set(first)
    require_no_drift(renewal)
    kept: list[int] = []

    def change(job: Job) -> None:
        if phase(job) == "keep":
            kept.append(1)
            renewal.add_asset("late", files=1)
            renewal.objects.delete(BUCKET, "late/0000.glb")
            renewal.rebuild(ObjectRef(BUCKET, "late/0000.glb"))
            old, new = (renewal.live(number=n)["museum:late:late/0000.glb"] for n in (1, 2))
            assert ("num_filesize" in old, "num_filesize" in new) == (False, True)

    renewal.before_step = change
    assert renewal.run(REINDEX_SEARCH).state == "done"
    assert kept
    second = renewal.live(number=2)
    assert second["museum:a1:a1/0000.glb"]["num_filesize"] == 1
    assert second["museum:a1"]["str_previewfilekey"] == "a1/preview.png"
    gone = {"museum:a1:a1/preview.png", "museum:a3:a3/markers only.glb"}
    assert set(first) - set(second) == gone
    assert renewal.state.mappings()["files-2"] == MAPPING_VERSION
    require_no_drift(renewal)


def test_a_reindex_frees_the_geographic_fields_that_no_document_has(renewal: Renewal) -> None:
    fill(renewal)
    geo_keys = renewal.checker.comparer.geo_keys
    geo_keys.add_keys(dict.fromkeys([f"k{n:02}" for n in range(MAX_KEYS_OF_DATABASE)], "museum"))
    place = '{"lat": 1, "long": 2}'
    for key in ("k07", "late"):
        store_metadata(renewal.tables, key, place, asset_id="a1", value_type="lla")
    renewal.rebuild(AssetRef("museum", "a1"))
    before = renewal.live(number=1)["museum:a1"]
    fields = ("gp_k07", "gp_late", "list_warnings")
    assert [field in before for field in fields] == [True, False, True]
    assert renewal.run(REINDEX_SEARCH).state == "done"
    after = renewal.live(number=2)["museum:a1"]
    assert [field in after for field in fields] == [True, True, False]
    keys = [f"new{n}" for n in range(MAX_KEYS_OF_DATABASE)]
    assert len(geo_keys.add_keys(dict.fromkeys(keys, "museum"))) == MAX_KEYS_OF_DATABASE - 2


def test_a_reindex_that_is_undone_leaves_the_mapping_version_that_was(
    renewal: Renewal,
) -> None:
    renewal.age()
    fill(renewal)
    job_id = renewal.start(REINDEX_SEARCH)
    renewal.after_step = lambda job: cancel(renewal, job_id) if phase(job) == "fill" else None
    renewal.world.drain()
    assert renewal.state.pointer().assets_read == "assets-1"
    renewal.objects.delete(BUCKET, "a1/0000.glb")
    renewal.rebuild(ObjectRef(BUCKET, "a1/0000.glb"))
    require_no_drift(renewal)


def test_the_old_indexes_are_kept_up_to_date_for_a_while(renewal: Renewal) -> None:
    fill(renewal)
    begun = renewal.world.now
    seen: list[tuple[str, float]] = []

    def change(job: Job) -> None:
        if phase(job) == "keep" and not seen:
            assert renewal.state.pointer().files_read == "files-2"
            renewal.add_asset("late", files=1)
            seen.append((phase(job), (renewal.world.now - begun).total_seconds()))
            assert renewal.live(number=1) == renewal.live(number=2)

    renewal.before_step = change
    renewal.run(REINDEX_SEARCH)
    assert seen
    assert (renewal.world.now - begun).total_seconds() >= KEEP_SECONDS


def test_nothing_reads_the_new_indexes_before_they_are_found_right(renewal: Renewal) -> None:
    fill(renewal)
    before = renewal.live(number=1)

    def look(job: Job) -> None:
        if renewal.state.pointer().assets_read == "assets-2":
            assert renewal.live(number=2) == before
        else:
            assert phase(job) in {"reserve", "create", "fill", "verify", "read"}

    renewal.before_step = renewal.after_step = look
    assert renewal.run(REINDEX_SEARCH).state == "done"


def test_documents_that_get_lost_on_the_way_are_built_in_the_next_round(renewal: Renewal) -> None:
    fill(renewal)
    before = renewal.live(number=1)
    lost: list[int] = []

    def lose(job: Job) -> None:
        if phase(job) == "verify" and not lost:
            lost.append(1)
            del renewal.engine.indexes["files-2"]["museum:a1:a1/0000.glb"]

    renewal.before_step = lose
    job = renewal.run(REINDEX_SEARCH)
    assert (job.state, len(job.problems)) == ("done", 1)
    assert renewal.live(number=2) == before


def test_a_reindex_whose_documents_never_come_right_fails_and_the_old_is_read(
    renewal: Renewal,
) -> None:
    fill(renewal)
    renewal.before_step = lambda job: (
        (
            renewal.engine.indexes["files-2"].pop("museum:a1:a1/0000.glb", None)
            if phase(job) == "verify"
            else None
        )
        and None
    )
    job = renewal.run(REINDEX_SEARCH)
    assert job.state == "failed"
    assert renewal.state.pointer().assets_read == "assets-1"
    with pytest.raises(ReindexUnfinishedError):
        renewal.start(REINDEX_SEARCH)
    cancel(renewal, job.job_id)
    renewal.world.drain()
    assert renewal.world.job(job.job_id).state == "cancelled"
    assert sorted(renewal.engine.indexes) == ["assets-1", "files-1"]
    assert renewal.start(REINDEX_SEARCH) != job.job_id


@pytest.mark.parametrize("at", ["create", "fill", "verify", "read", "keep"])
def test_a_cancelled_reindex_leaves_everything_as_it_was(renewal: Renewal, at: str) -> None:
    fill(renewal)
    requests: list[str] = []

    def change_of_mind(job: Job) -> None:
        if phase(job) == at and not requests:
            requests.append(job.job_id)
            renewal.add_asset("late", files=2)
            cancel(renewal, job.job_id)

    renewal.before_step = change_of_mind
    job = renewal.run(REINDEX_SEARCH)
    assert requests
    assert job.state == "cancelled"
    assert sorted(renewal.engine.indexes) == ["assets-1", "files-1"]
    assert renewal.engine.aliases == {"assets": "assets-1", "files": "files-1"}
    assert renewal.state.pointer().assets_write == ("assets-1",)
    renewal.before_step = lambda job: None
    require_no_drift(renewal)
    with pytest.raises(JobStateError, match="was cancelled; start a new one"):
        renewal.world.jobs.resume_job(ADMIN, job.job_id)


def test_it_is_too_late_once_the_old_indexes_are_left(renewal: Renewal) -> None:
    fill(renewal)

    def change_of_mind(job: Job) -> None:
        if phase(job) == "drop" and not job.undo:
            cancel(renewal, job.job_id)

    renewal.before_step = change_of_mind
    job = renewal.run(REINDEX_SEARCH)
    assert job.state == "done"
    assert sorted(renewal.engine.indexes) == ["assets-2", "files-2"]


def test_started_twice_it_is_one_job(renewal: Renewal) -> None:
    first = renewal.start(REINDEX_SEARCH)
    assert renewal.start(REINDEX_SEARCH) == first
    renewal.world.drain()
    second = renewal.run(REINDEX_SEARCH)
    assert second.job_id != first
    assert sorted(renewal.engine.indexes) == ["assets-3", "files-3"]


@pytest.mark.parametrize("seed", range(30))
def test_no_change_is_lost_whatever_happens_meanwhile(seed: int) -> None:
    """Changes between all steps, workers that die around them, an engine that is away."""
    chance = random.Random(seed)
    renewal = Renewal()
    renewal.add_database()
    fill(renewal)

    def live(job: Job) -> None:
        for _ in range(chance.randrange(3)):
            change(renewal, chance)
        if chance.random() < 0.1:
            raise KilledError

    def outage(operation: str) -> None:
        if operation == "bulk" and renewal.world.messages and chance.random() < 0.05:
            raise UnavailableError("OpenSearch does not answer")

    renewal.before_step = renewal.after_step = live
    renewal.engine.before = outage
    job_id = renewal.start(REINDEX_SEARCH)
    if seed % 3 == 0:
        for _ in range(chance.randrange(1, 12)):
            renewal.world.deliver_due()
        cancel_unless_finished(renewal, job_id)
    renewal.world.drain()
    number = int(renewal.state.pointer().assets_read.rpartition("-")[2])
    assert (number == 1) == (renewal.world.job(job_id).state == "cancelled")
    assert sorted(renewal.engine.indexes) == [f"assets-{number}", f"files-{number}"]
    assert renewal.live(number=number) == rebuilt_from_nothing(renewal)


def cancel_unless_finished(renewal: Renewal, job_id: str) -> None:
    if not renewal.world.job(job_id).is_finished:
        cancel(renewal, job_id)


def change(renewal: Renewal, chance: random.Random) -> None:
    """One change, and the rebuild that its event leads to, which tries until the engine is back."""
    asset_id = f"a{chance.randrange(8)}"
    name = f"{chance.randrange(10):04}.glb"
    key = f"{asset_id}/{name}"
    before = renewal.engine.before
    renewal.engine.before = lambda operation: None
    match chance.choice(["asset", "put", "remove", "gone"]):
        case "asset":
            renewal.add_asset(asset_id, assetName=f"Name {chance.random()}")
        case "put":
            renewal.add_file(asset_id, name, str(chance.random()).encode())
        case "remove":
            renewal.objects.delete(BUCKET, key)
        case _:
            renewal.remove_asset(asset_id)
    listed = renewal.objects.list_versions(BUCKET, f"{asset_id}/").versions
    paths = {f"/{number:04}.glb" for number in range(10)}
    paths |= {"/" + version.key.removeprefix(f"{asset_id}/") for version in listed}
    documents = {d for number in (1, 2) for d in renewal.engine.indexes.get(f"files-{number}", {})}
    renewal.rebuild(
        AssetRef("museum", asset_id),
        *(FileRef("museum", asset_id, path) for path in paths),
        *keys_of(documents, asset_id),
    )
    renewal.engine.before = before


def keys_of(documents: set[str], asset_id: str) -> list[FileKeyRef]:
    prefix = f"museum:{asset_id}:"
    return [
        FileKeyRef("museum", asset_id, document.removeprefix(prefix))
        for document in documents
        if document.startswith(prefix)
    ]


def rebuilt_from_nothing(renewal: Renewal) -> dict[str, JsonObject]:
    """Return the content that the indexes must have: everything built into empty ones."""
    renewal.before_step = renewal.after_step = lambda job: None
    renewal.engine.before = lambda operation: None
    job = renewal.run(REINDEX_SEARCH)
    assert (job.state, job.problems) == ("done", [])
    number = int(renewal.state.pointer().assets_read.rpartition("-")[2])
    return renewal.live(number=number)
