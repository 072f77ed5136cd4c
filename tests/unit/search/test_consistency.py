"""A check reports exactly the lasting differences, and a repair rebuilds only those."""

import json
import random
from collections.abc import Iterator
from datetime import timedelta

import pytest

from backend.core.objects import ObjectRef
from backend.core.references import AssetRef, FileKeyRef, FileRef
from backend.core.search_engine import DocumentWrite
from backend.core.transactions import Update
from backend.domains.jobs.models import Job
from backend.search.indexing.references import to_entries
from backend.search.maintenance.walk import EVERYTHING, START, Position, Scope, SourceWalk
from backend.search.maintenance.work import Report
from backend.spec.jobs import CHECK_SEARCH, REPAIR_SEARCH, JobKind
from backend.spec.tables.assets import ASSETS
from tests.factories.jobs import ADMIN, KilledError
from tests.factories.renewal import BUCKET, GRACE_SECONDS, Renewal
from tests.factories.search import store_asset

PUMP = "museum:pump"


@pytest.fixture
def renewal() -> Renewal:
    renewal = Renewal()
    renewal.add_database()
    return renewal


@pytest.fixture
def small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows so small that a handful of files fills many."""
    monkeypatch.setattr("backend.search.maintenance.walk.PAGE_ASSETS", 3)
    monkeypatch.setattr("backend.search.maintenance.walk.FULL", 6)
    monkeypatch.setattr("backend.search.maintenance.walk.PAGE_VERSIONS", 4)
    monkeypatch.setattr("backend.search.maintenance.comparison.MOST_STANDING", 6)
    monkeypatch.setattr("backend.search.maintenance.comparison._PAGE", 3)


def drift(report: Report) -> tuple[int, int, int]:
    return report.missing, report.stale, report.extra


def windows(walk: SourceWalk, scope: Scope = EVERYTHING) -> Iterator[tuple[Position, list[str]]]:
    at = scope.start
    while (window := walk.window(at, scope, named=lambda after: None)) is not None:
        yield window.upto, [_id_of(reference) for reference in window.references]
        assert window.upto > at
        at = window.upto


def _id_of(reference: AssetRef | FileKeyRef) -> str:
    return reference.key if isinstance(reference, FileKeyRef) else reference.asset_id


def rename(renewal: Renewal, asset_id: str, name: str) -> None:
    """Change an asset without an event."""
    renewal.tables.write(
        Update(
            table=ASSETS,
            key={"databaseId": "museum", "assetId": asset_id},
            set={"assetName": name},
        )
    )


def test_a_walk_comes_by_every_asset_and_file_once_in_bounded_windows(
    renewal: Renewal, small_windows: None
) -> None:
    renewal.add_database("arch")
    for number in range(7):
        renewal.add_asset(f"a{number}", files=number % 3)
    renewal.add_asset("large", files=11)
    renewal.add_asset("zoo", archived=True)
    renewal.add_asset("bridge", database_id="arch")
    walked = [name for _, names in windows(renewal.walk) for name in names]
    assert len(walked) == len(set(walked)) == 10 + 6 + 11
    assert max(len(names) for _, names in windows(renewal.walk)) <= 8
    within = [
        name for _, names in windows(renewal.walk, Scope("museum", "large")) for name in names
    ]
    assert within == ["large", *(f"large/{number:04}.glb" for number in range(11))]
    only = [name for _, names in windows(renewal.walk, Scope("arch")) for name in names]
    assert only == ["bridge"]


def test_an_index_that_is_as_its_sources_has_no_drift(
    renewal: Renewal, small_windows: None
) -> None:
    renewal.add_asset("pump", files=9)
    renewal.add_asset("crane", files=2, archived=True)
    report = renewal.check()
    assert (report.documents, drift(report), report.oldest_unindexed_seconds) == (13, (0, 0, 0), 0)
    assert [report.job_id for report in renewal.reports] == [report.job_id]


def test_each_class_of_drift_is_reported_with_its_documents(renewal: Renewal) -> None:
    renewal.add_asset("pump", files=3)
    renewal.add_asset("crane", files=2)
    renewal.add_asset("gone", files=2)
    renewal.lose(f"{PUMP}:pump/0001.glb")
    renewal.spoil("assets-1", "museum:crane")
    renewal.remove_asset("gone")
    report = renewal.check()
    assert drift(report) == (1, 1, 3)
    assert {(example.drift, example.document_id) for example in report.examples} == {
        ("missing", f"{PUMP}:pump/0001.glb"),
        ("stale", "museum:crane"),
        ("extra", "museum:gone"),
        ("extra", "museum:gone:gone/0000.glb"),
        ("extra", "museum:gone:gone/0001.glb"),
    }


def test_a_file_whose_name_resembles_a_preview_is_found_and_checked(renewal: Renewal) -> None:
    renewal.add_asset("lion", files=1)
    renewal.add_file("lion", "photo.previewfile.jpg")
    assert drift(renewal.check()) == (1, 0, 0)
    renewal.rebuild(ObjectRef(BUCKET, "lion/photo.previewfile.jpg"))
    assert "museum:lion:lion/photo.previewfile.jpg" in renewal.live(number=1)
    assert drift(renewal.check()) == (0, 0, 0)


def test_a_file_document_of_an_assets_preview_is_extra_until_it_is_repaired(
    renewal: Renewal, small_windows: None
) -> None:
    renewal.add_asset("lion", files=9)
    renewal.add_file("lion", "preview.png")
    renewal.rebuild(ObjectRef(BUCKET, "lion/preview.png"))
    assert drift(renewal.check()) == (0, 0, 0)
    key = "lion/preview.png"
    body = f'{{"str_databaseid":"museum","str_assetid":"lion","str_key":"{key}"}}'
    renewal.engine.indexes["files-1"][f"museum:lion:{key}"] = (1, json.loads(body))
    assert drift(renewal.check()) == (0, 0, 1)
    renewal.run(REPAIR_SEARCH)
    assert drift(renewal.check()) == (0, 0, 0)


def test_documents_of_an_unknown_database_are_extra(renewal: Renewal) -> None:
    renewal.add_asset("bridge", database_id="arch", files=1)
    renewal.remove_asset("bridge")
    renewal.tables.items["AssetStorageTable"].clear()
    assert drift(renewal.check()) == (0, 0, 2)


def test_a_document_that_is_being_written_is_no_drift(renewal: Renewal) -> None:
    renewal.add_asset("pump", files=1)
    rename(renewal, "pump", "New name")
    job_id = renewal.start(CHECK_SEARCH)
    renewal.world.deliver_due()  # the walk, which then waits
    assert renewal.world.job(job_id).cursor["suspects"]
    renewal.rebuild(AssetRef("museum", "pump"), FileRef("museum", "pump", "/0000.glb"))
    renewal.world.drain()
    assert drift(renewal.check()) == (0, 0, 0)


def test_what_changes_again_during_the_grace_is_in_progress_again(renewal: Renewal) -> None:
    renewal.add_asset("pump")
    rename(renewal, "pump", "New name")
    renewal.start(CHECK_SEARCH)
    renewal.world.deliver_due()
    rename(renewal, "pump", "Newer name")
    renewal.world.drain()
    assert drift(renewal.reports[-1]) == (0, 0, 0)
    assert drift(renewal.check()) == (0, 1, 0)  # nothing comes: it is drift after all


def test_a_second_look_waits_for_the_grace(renewal: Renewal) -> None:
    renewal.add_asset("pump")
    renewal.lose(PUMP)
    begun = renewal.world.now
    renewal.check()
    assert (renewal.world.now - begun).total_seconds() >= GRACE_SECONDS


def test_more_suspects_than_a_row_holds_are_looked_at_in_turns(
    renewal: Renewal, small_windows: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backend.search.maintenance.checks.MOST_SUSPECTS", 5)
    renewal.add_asset("pump", files=30)
    for number in range(30):
        renewal.lose(f"{PUMP}:pump/{number:04}.glb")
    report = renewal.check()
    assert (report.documents, drift(report)) == (31, (30, 0, 0))
    assert len(report.examples) == 10


def test_a_missing_file_is_as_old_as_its_object(renewal: Renewal) -> None:
    renewal.add_asset("pump")
    renewal.add_file("pump", "new.glb")
    assert renewal.check().oldest_unindexed_seconds == GRACE_SECONDS  # it was put at the start


def test_a_stub_in_the_place_of_a_refused_document_is_no_drift(renewal: Renewal) -> None:
    renewal.engine.refuses = lambda write: (
        "too deep" if write.id == PUMP and "str_description" in write.body else None
    )
    renewal.add_asset("pump")
    report = renewal.check()
    assert (drift(report), report.refused) == ((0, 0, 0), 1)


def test_an_asset_whose_bucket_is_unknown_is_distinguished(renewal: Renewal) -> None:
    renewal.add_asset("pump", files=2)
    key = {"databaseId": "museum", "assetId": "pump"}
    renewal.tables.write(Update(table=ASSETS, key=key, set={"bucketId": "nobody"}))
    report = renewal.check()
    assert (drift(report), report.unreadable) == ((0, 0, 0), 1)


@pytest.mark.parametrize("seed", range(12))
def test_a_check_counts_exactly_what_is_wrong_and_a_repair_leaves_nothing(
    seed: int, small_windows: None
) -> None:
    chance = random.Random(seed)
    renewal = Renewal()
    renewal.add_database()
    for name in chance.sample("abcdefghijkl", 7):
        renewal.add_asset(f"{name}-1", files=chance.randrange(9), archived=chance.random() < 0.3)
    expected = dict(renewal.live(number=1))
    changed = chance.sample(sorted(expected), min(9, len(expected)))
    missing, stale = changed[: len(changed) // 2], changed[len(changed) // 2 :]
    for document_id in missing:
        renewal.lose(document_id)
    for document_id in stale:
        alias = "files" if document_id.count(":") == 2 else "assets"
        renewal.spoil(f"{alias}-1", document_id)
    extra = chance.randrange(20)
    for number in range(extra):
        add_extra(renewal, f"{chance.choice('abcz')}-{number}", number)
    kill_sometimes(renewal, chance)
    assert drift(renewal.check()) == (len(missing), len(stale), extra)
    job = renewal.run(REPAIR_SEARCH)
    assert job.state == "done"
    assert renewal.live(number=1) == expected
    assert drift(renewal.check()) == (0, 0, 0)


def add_extra(renewal: Renewal, asset_id: str, number: int) -> None:
    body = f'{{"str_databaseid":"museum","str_assetid":"{asset_id}"'
    if number % 2:
        key = f"{asset_id}/x.glb"
        document_id = f"museum:{asset_id}:{key}"
        renewal.write(DocumentWrite("files-1", document_id, 1, f'{body},"str_key":"{key}"}}'))
    else:
        renewal.write(DocumentWrite("assets-1", f"museum:{asset_id}", 1, body + "}"))


def kill_sometimes(renewal: Renewal, chance: random.Random) -> None:
    """Have workers die before and after their steps."""

    def die(job: Job) -> None:
        if chance.random() < 0.15:
            raise KilledError

    renewal.before_step = renewal.after_step = die


def test_a_repair_builds_documents_that_are_named_in_any_case(renewal: Renewal) -> None:
    renewal.add_asset("pump", files=2)
    before = renewal.live(number=1)
    renewal.lose(f"{PUMP}:pump/0000.glb")
    named = to_entries([AssetRef("museum", "pump"), FileRef("museum", "pump", "/0000.glb")])
    job = renewal.run(REPAIR_SEARCH, references=named)
    assert (job.state, job.items_done) == ("done", 2)
    assert renewal.live(number=1) == before


def test_a_repair_of_one_asset_leaves_the_others(renewal: Renewal) -> None:
    for name in ("crane", "pump", "wheel"):
        renewal.add_asset(name, files=1)
        renewal.lose(f"museum:{name}")
    renewal.run(REPAIR_SEARCH, databaseId="museum", assetId="pump")
    assert sorted(renewal.engine.indexes["assets-1"]) == ["museum:pump"]
    renewal.run(REPAIR_SEARCH, databaseId="museum")
    assert len(renewal.engine.indexes["assets-1"]) == 3


def test_one_check_is_at_work_at_a_time(renewal: Renewal) -> None:
    first = renewal.start(CHECK_SEARCH)
    assert renewal.start(CHECK_SEARCH) == first
    renewal.world.drain()
    assert renewal.start(CHECK_SEARCH) != first


def test_a_file_below_no_prefix_of_its_asset_is_taken_out(renewal: Renewal) -> None:
    renewal.add_asset("pump", files=1)
    renewal.add_file("old", "0000.glb")
    body = '{"str_databaseid":"museum","str_assetid":"pump","str_key":"old/0000.glb"}'
    renewal.write(DocumentWrite("files-1", f"{PUMP}:old/0000.glb", 1, body))
    assert drift(renewal.check()) == (0, 0, 1)
    renewal.run(REPAIR_SEARCH)
    assert drift(renewal.check()) == (0, 0, 0)


def test_a_check_that_is_cancelled_leaves_the_last_report(renewal: Renewal) -> None:
    store_asset(renewal.tables)
    first = renewal.check()
    job_id = renewal.start(CHECK_SEARCH)
    renewal.world.jobs.cancel_job(ADMIN, job_id)
    renewal.world.drain()
    assert renewal.reports[-1].job_id == first.job_id
    assert renewal.world.job(job_id).state == "cancelled"
    assert renewal.objects.list_versions(BUCKET, "").versions == ()
    assert renewal.walk.window(START, EVERYTHING, named=lambda after: None) is not None


TYPE = {"vams-primarytype": "primary"}


def check_types(renewal: Renewal, **fields: object) -> object:
    """Store typed and plain files, check the asset, and return the names that its row has then."""
    renewal.add_asset("pump", files=1, **fields)
    for name in ("b.glb", "c.glb", "d.glb", "e.glb"):
        metadata = TYPE if name in {"b.glb", "d.glb"} else {}
        renewal.objects.put(
            BUCKET, f"pump/{name}", b"x", content_type="text/plain", metadata=metadata
        )
    renewal.objects.delete(BUCKET, "pump/d.glb")
    return named_types(renewal)


def named_types(renewal: Renewal) -> object:
    row = renewal.tables.get(ASSETS, {"databaseId": "museum", "assetId": "pump"})
    assert row is not None
    return row.get("typedFiles")


@pytest.mark.parametrize("kind", [CHECK_SEARCH, REPAIR_SEARCH])
def test_a_row_that_lacks_a_file_with_a_primary_type_is_corrected(
    renewal: Renewal, kind: JobKind
) -> None:
    assert check_types(renewal, typedFiles=["/c.glb"]) == ["/c.glb"]
    assert renewal.run(kind).state == "done"
    assert named_types(renewal) == ["/b.glb", "/c.glb"]


def test_a_row_without_types_remains(renewal: Renewal) -> None:
    assert check_types(renewal) is None
    renewal.check()
    assert named_types(renewal) is None


def test_a_later_check_requests_only_files_that_were_written_since(renewal: Renewal) -> None:
    check_types(renewal, typedFiles=[])
    renewal.check()
    renewal.world.now += timedelta(days=400)
    renewal.check()  # the last report is later than every object
    key = {"databaseId": "museum", "assetId": "pump"}
    renewal.tables.write(Update(table=ASSETS, key=key, set={"typedFiles": []}))
    renewal.check()
    assert named_types(renewal) == []
    assert renewal.run(REPAIR_SEARCH).state == "done"
    assert named_types(renewal) == ["/b.glb"]
