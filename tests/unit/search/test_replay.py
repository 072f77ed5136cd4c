"""Replays: what is whole again, what stays, what is lost never."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from backend.aws.objects import S3Objects
from backend.core.errors import UnavailableError
from backend.core.references import AssetRef, FileRef
from backend.core.search_engine import DocumentWrite
from backend.core.tables import Tables
from backend.core.transactions import Put
from backend.search.maintenance.failure_entries import FailureEntries
from backend.search.maintenance.replay import (
    LONGEST_PAUSE,
    MOST_ATTEMPTS,
    next_attempt,
)
from backend.spec import keys
from backend.spec.queues import FAN_OUT, LIFECYCLE, SETTLE
from backend.spec.tables.assets import ASSETS
from tests.factories.buckets import stored_bucket
from tests.factories.failures import BATCH_KEY, failed_batch, put_object
from tests.factories.replays import ReplaySetup
from tests.factories.search import (
    NOON,
    object_message,
    remove_asset,
    store_asset,
    store_metadata,
    stream_record,
)
from tests.fakes.queues import MemoryQueues
from tests.fakes.search_engine import MemorySearchEngine

ASSET_KEY = {"databaseId": "museum", "assetId": "pump"}
RECORD_KEY = {"metadataKey": "k", keys.FILE.name: "museum:pump:/"}
SOON = NOON + timedelta(minutes=1)
RUNG = '"ReplaysGivenUp":[1.0]'


@pytest.fixture
def bench(
    tables: Tables, objects: S3Objects, engine: MemorySearchEngine, sent: MemoryQueues
) -> ReplaySetup:
    return ReplaySetup(tables, objects, engine, sent)


def with_metadata(write: DocumentWrite) -> str | None:
    return "too many nested documents" if "metadata" in json.loads(write.body) else None


def refuse_metadata(bench: ReplaySetup) -> None:
    store_asset(bench.tables)
    store_metadata(bench.tables, "material", "brass")
    bench.engine.refuses = with_metadata
    bench.indexing.rebuild([AssetRef("museum", "pump")])


def refuse_file(bench: ReplaySetup) -> None:
    store_asset(bench.tables)
    bench.objects.put("assetbucket", "pump/a.glb", b"x", content_type="x/y", metadata={})
    bench.engine.refuses = lambda write: "odd" if "str_etag" in write.body else None
    bench.indexing.rebuild([FileRef("museum", "pump", "/a.glb")])


def store_batch(bench: ReplaySetup) -> None:
    """Store an asset, and the failed batch of its change."""
    store_asset(bench.tables)
    put_object(bench.objects, failed_batch([stream_record(ASSET_KEY, {})]))


def test_a_stub_becomes_whole_when_the_cause_is_removed(bench: ReplaySetup) -> None:
    refuse_metadata(bench)
    assert "MD_" not in bench.engine.live()["museum:pump"]
    assert bench.outcomes() == ["failed"]
    assert bench.engine.live()["museum:pump"]["str_assetname"] == "The pump"
    bench.engine.refuses = lambda write: None
    assert bench.outcomes() == ["replayed"]
    assert bench.engine.live()["museum:pump"]["MD_"] == {"material": "brass"}
    assert bench.listed() == []


def test_an_entry_that_fails_again_counts_its_attempts_and_shows_the_last_reason(
    bench: ReplaySetup, capsys: pytest.CaptureFixture[str]
) -> None:
    refuse_metadata(bench)
    before = bench.only()
    bench.engine.refuses = lambda write: "out of memory" if "MD_" in write.body else None
    bench.now = SOON
    assert bench.outcomes() == ["failed"]
    assert bench.outcomes() == ["failed"]
    failure = bench.only()
    assert (failure.key, failure.failed_at) == (before.key, before.failed_at)
    assert (failure.reason, failure.replays.attempts) == ("out of memory", 2)
    assert RUNG not in capsys.readouterr().out  # poison has an alarm of its own
    assert failure.replays.last_at == "2026-03-01T12:01:00.000000Z"
    assert failure.replays.next_at is None


def test_a_refused_file_is_named_by_its_key_and_found_again(bench: ReplaySetup) -> None:
    refuse_file(bench)
    assert "str_etag" not in bench.engine.live()["museum:pump:pump/a.glb"]
    bench.engine.refuses = lambda write: None
    assert bench.outcomes() == ["replayed"]
    assert bench.engine.live()["museum:pump:pump/a.glb"]["str_fileext"] == ".glb"


def test_a_file_whose_asset_is_deleted_meanwhile_gets_its_tombstone(bench: ReplaySetup) -> None:
    refuse_file(bench)
    remove_asset(bench.tables)
    assert bench.outcomes() == ["replayed"]
    tombstone = bench.engine.document("files-1", "museum:pump:pump/a.glb") or {}
    assert (tombstone["deleted"], tombstone["date_deleted"]) == (True, "2026-03-01T12:00:00Z")


def test_files_of_an_asset_that_cannot_be_read_are_remembered_each_time(bench: ReplaySetup) -> None:
    store_asset(bench.tables, bucketId="nobody-knows")
    for name in ("a.glb", "b.glb"):
        bench.objects.put("assetbucket", f"pump/{name}", b"x", content_type="x/y", metadata={})
        bench.indexing.rebuild([FileRef("museum", "pump", f"/{name}")])
    assert [entry.name for entry in bench.listed()] == ["museum:pump"] * 2
    assert bench.outcomes() == ["failed"] * 2
    stored_bucket(bench.tables, bucket_id="nobody-knows", name="assetbucket")
    bench.replayer = ReplaySetup(bench.tables, bench.objects, bench.engine, bench.sent).replayer
    assert bench.outcomes() == ["replayed"] * 2
    assert set(bench.engine.live()) == {f"museum:pump:pump/{name}.glb" for name in "ab"}


@pytest.mark.parametrize(
    ("consumer", "event"),
    [
        ("IndexChanges", stream_record(ASSET_KEY, {})),
        ("IndexObjects", object_message("assetbucket", "pump/a.glb")),
        (
            "IndexSettle",
            {"messageId": "m", "body": '{"references": [["asset", "museum", "pump"]]}'},
        ),
    ],
)
def test_an_event_that_is_understood_now_is_processed(
    bench: ReplaySetup, consumer: str, event: dict[str, Any]
) -> None:
    store_asset(bench.tables)
    bench.objects.put("assetbucket", "pump/a.glb", b"x", content_type="x/y", metadata={})
    bench.store_failure(consumer, event)
    assert bench.outcomes() == ["replayed"]
    assert len(bench.engine.live()) == 1


@pytest.mark.parametrize(
    ("consumer", "body"),
    [
        ("IndexChanges", stream_record({"odd": "x"})),
        ("IndexChanges", None),
        ("IndexChanges", "AssetRef(database_id='a', asset_id='b')"),
        ("IndexObjects", {"body": "no JSON"}),
        ("IndexObjects", {}),
        ("IndexSettle", {"body": "[" * 100_000}),
        ("LifecycleWorker", {"messageId": "1"}),
        ("LifecycleWorker", {"body": "no JSON"}),
        ("LifecycleWorker", {"body": 7}),
        ("JobStarter", {"no": "record"}),
        ("SearchApi", {"body": "{}"}),
        ("NobodyKnows", {"body": "{}"}),
    ],
)
def test_an_entry_that_still_cannot_be_read_gets_a_reason(
    bench: ReplaySetup, consumer: str, body: object
) -> None:
    bench.store_failure(consumer, body)
    assert bench.outcomes() == ["failed"]
    failure = bench.only()
    assert failure.replays.attempts == 1
    assert failure.reason
    assert failure.reason != "odd"


def test_a_batch_that_was_abandoned_is_indexed_and_fans_out(bench: ReplaySetup) -> None:
    row = store_asset(bench.tables, inheritedRevision=2)
    image = {"inheritedRevision": {"N": "2"}}
    put_object(
        bench.objects,
        failed_batch([stream_record(ASSET_KEY, image), stream_record(RECORD_KEY, {})]),
    )
    assert bench.outcomes() == ["replayed"]
    assert bench.engine.live()["museum:pump"]["str_assetname"] == row["assetName"]
    assert bench.listed() == []
    assert bench.sent.take(SETTLE)


def test_poison_in_a_batch_becomes_an_entry_of_its_own(bench: ReplaySetup) -> None:
    store_asset(bench.tables)
    records = [stream_record({"odd": "x"}, event_id="7"), stream_record(ASSET_KEY, {})]
    put_object(bench.objects, failed_batch(records))
    assert bench.outcomes() == ["replayed"]
    assert set(bench.engine.live()) == {"museum:pump"}
    failure = bench.only()
    assert (failure.kind, failure.consumer, failure.name) == ("poison", "IndexChanges", "7")


def test_jobs_are_started_again(bench: ReplaySetup) -> None:
    body = '{"jobId": "deleteAsset.a.b.1"}'
    bench.store_failure("LifecycleWorker", {"messageId": "1", "body": body})
    image = {"jobId": {"S": "fanOut.a.b.2"}, "kind": {"S": "fanOut"}, "state": {"S": "queued"}}
    records = [stream_record({"jobId": "fanOut.a.b.2"}, image)]
    put_object(bench.objects, failed_batch(records, function="vitrine-prod-indexing-JobStarter-X"))
    assert bench.outcomes() == ["replayed"] * 2
    assert bench.sent.take(LIFECYCLE) == [{"jobId": "deleteAsset.a.b.1"}]
    assert bench.sent.take(FAN_OUT) == [{"jobId": "fanOut.a.b.2"}]


def test_a_bug_in_a_consumer_is_an_attempt_and_ends_nothing(bench: ReplaySetup) -> None:
    other = BATCH_KEY.replace("2d1b", "3d1b")
    put_object(bench.objects, failed_batch([{"no": "record"}], function="s-JobStarter-X"))
    store_asset(bench.tables)
    put_object(bench.objects, failed_batch([stream_record(ASSET_KEY, {})]), key=other)
    assert bench.run() == {"failed": 1, "replayed": 1}
    assert "KeyError" in (bench.only().reason or "")


def test_an_outage_is_no_attempt_and_loses_nothing(bench: ReplaySetup) -> None:
    store_batch(bench)
    indexes, bench.engine.indexes = bench.engine.indexes, {}
    with pytest.raises(UnavailableError):
        bench.replayer.replay(BATCH_KEY)
    assert bench.run() == {"outage": 1}
    assert bench.only().replays.attempts == 0
    bench.engine.indexes = indexes
    assert bench.run() == {"replayed": 1}
    assert set(bench.engine.live()) == {"museum:pump"}


@pytest.mark.parametrize("step", ["read", "write", "send", "remove"])
def test_a_replay_that_dies_anywhere_is_repeated_by_the_next(
    bench: ReplaySetup, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store_asset(bench.tables)
    records = [stream_record(ASSET_KEY, {}), stream_record(RECORD_KEY, {})]
    put_object(bench.objects, failed_batch(records))

    def die(*_: object, **__: object) -> None:
        raise SystemExit(step)

    targets: dict[str, Callable[[], None]] = {
        "read": lambda: monkeypatch.setattr(S3Objects, "read_chunks", die),
        "write": lambda: monkeypatch.setattr(MemorySearchEngine, "bulk", die),
        "send": lambda: monkeypatch.setattr(MemoryQueues, "send", die),
        "remove": lambda: monkeypatch.setattr(FailureEntries, "remove", die),
    }
    targets[step]()
    with pytest.raises(SystemExit):
        bench.replayer.replay(BATCH_KEY)
    monkeypatch.undo()
    assert bench.only().replays.attempts == 0
    assert bench.outcomes() == ["replayed"]
    assert set(bench.engine.live()) == {"museum:pump"}


def test_an_entry_that_fails_again_during_its_replay_remains(
    bench: ReplaySetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse_metadata(bench)
    key = bench.only().key
    bench.engine.refuses = lambda write: None
    remove = FailureEntries.remove

    def after_another_failure(entries: FailureEntries, stored: Any) -> bool:
        bench.now = SOON
        store_asset(bench.tables, description="even worse")
        bench.engine.refuses = with_metadata
        bench.indexing.rebuild([AssetRef("museum", "pump")])
        return remove(entries, stored)

    monkeypatch.setattr(FailureEntries, "remove", after_another_failure)
    assert bench.replayer.replay(key).outcome == "changed"
    failure = bench.only()
    assert (failure.key, failure.failed_at) == (key, "2026-03-01T12:01:00.000000Z")


def test_two_replays_of_one_entry_do_no_harm(
    bench: ReplaySetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    store_batch(bench)
    remove = FailureEntries.remove
    inner: list[str] = []

    def while_another_replays(entries: FailureEntries, stored: Any) -> bool:
        monkeypatch.setattr(FailureEntries, "remove", remove)
        inner.append(bench.replayer.replay(BATCH_KEY).outcome)
        return remove(entries, stored)

    monkeypatch.setattr(FailureEntries, "remove", while_another_replays)
    outcome = bench.replayer.replay(BATCH_KEY).outcome
    assert (inner, outcome in {"replayed", "changed"}) == (["replayed"], True)
    assert bench.listed() == []
    assert set(bench.engine.live()) == {"museum:pump"}


def test_what_is_not_there_is_reported(bench: ReplaySetup) -> None:
    assert bench.replayer.replay(BATCH_KEY).outcome == "absent"
    assert bench.replayer.replay("../secrets").outcome == "absent"


def test_the_schedule_waits_longer_after_each_attempt_and_stops_at_last(
    bench: ReplaySetup, capsys: pytest.CaptureFixture[str]
) -> None:
    put_object(bench.objects, failed_batch([{"no": "record"}], function="s-JobStarter-X"))
    pauses: list[timedelta] = []
    for _ in range(MOST_ATTEMPTS - 1):
        assert bench.run() == {"failed": 1}
        following = datetime.fromisoformat(bench.only().replays.next_at or "")
        pauses.append(following - bench.now)
        bench.now = following - timedelta(seconds=1)
        assert bench.run() == {}
        bench.now = following
    assert RUNG not in capsys.readouterr().out
    assert bench.run() == {"failed": 1}
    assert capsys.readouterr().out.count(RUNG) == 1
    assert pauses == sorted(pauses)
    assert (pauses[0], pauses[-1]) == (timedelta(minutes=5), LONGEST_PAUSE)
    assert bench.only().replays.next_at is None
    bench.now += timedelta(days=365)
    assert bench.run() == {}
    assert bench.outcomes() == ["failed"]  # by command it can be tried at any time
    assert RUNG not in capsys.readouterr().out


def test_the_schedule_leaves_poison_alone_and_ends_when_its_time_is_used_up(
    bench: ReplaySetup,
) -> None:
    bench.store_failure("IndexChanges", stream_record({"odd": "x"}))
    assert bench.run() == {}
    store_batch(bench)
    assert bench.run(minutes=0) == {}
    assert [failure.replays.attempts for failure in bench.listed()] == [0, 0]


@pytest.mark.parametrize("content", ["[1]", "[" * 5000, '{"payload": 7}', b"\xff\xfe no JSON"])
def test_a_batch_without_sense_is_tried_once_and_left(
    bench: ReplaySetup, content: str | bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    put_object(bench.objects, content)
    assert [bench.run(), bench.run()] == [{"failed": 1}, {}]
    assert capsys.readouterr().out.count(RUNG) == 1
    assert bench.only().reason
    assert bench.outcomes() == ["failed"]
    assert bench.only().replays.attempts == 2


def test_pauses_do_not_overflow() -> None:
    assert next_attempt(NOON, MOST_ATTEMPTS - 1) == NOON + LONGEST_PAUSE
    assert next_attempt(NOON, 10**9) is None


def test_a_row_that_only_the_replay_finds_is_indexed_as_it_is_now(bench: ReplaySetup) -> None:
    put_object(bench.objects, failed_batch([stream_record(ASSET_KEY, {})]))
    row = store_asset(bench.tables, assetName="Old")
    bench.tables.write(Put(table=ASSETS, item={**row, "assetName": "New"}))
    bench.outcomes()
    assert bench.engine.live()["museum:pump"]["str_assetname"] == "New"
