"""Runs and traces that DynamoDB's time to live deletes are archived completely, on real engines."""

import base64
import gzip
import itertools
import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.exceptions import ClientError
from mlflow.entities import Dataset, DatasetInput, Metric, Param, RunTag
from mlflow.exceptions import MlflowException
from vitrine_mlflow.archive import TIME_TO_LIVE, Archive
from vitrine_mlflow.config import DELETED_RUNS_EXPIRE, RUN_NAMES, TRACES_EXPIRE, Config
from vitrine_mlflow.context import Context
from vitrine_mlflow.keys import Key
from vitrine_mlflow.store import DynamoTrackingStore
from vitrine_mlflow.table import EXPIRES_AT, create_request

from backend.core.ids import new_uuid
from infra.constructs.tracking_archive import PATTERN
from local.pumps.patterns import any_of
from local.pumps.records import event_record
from tests.engines import OPTIONS, RealEngines
from tests.integration.tables import TableStream
from tests.integration.tracking.stores import ARTIFACTS, Series, TrackingTables
from tests.integration.tracking.trace_histories import info_of, span_of

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

PATIENCE_SECONDS = 90
"""DynamoDB Local looks for expired items every few seconds."""
DAY = 86_400
_LOCAL = ("LSI2", "LSI3")


@dataclass
class Place:
    """A table with a stream and an archive of its own."""

    engines: RealEngines
    context: Context
    name: str
    bucket: str

    @property
    def config(self) -> Config:
        return self.context.config

    def archive(self, s3: "S3Client | None" = None) -> Archive:
        session = boto3.Session(OPTIONS.access_key, OPTIONS.secret_key, region_name=OPTIONS.region)
        resource = session.resource("dynamodb", endpoint_url=self.engines.url("dynamodb"))
        return Archive(resource.Table(self.name), s3 or self.engines.s3, self.bucket, "archive/")

    def expire(self, count: int) -> list[dict[str, Any]]:
        """Enable the time to live; return the records of its deletions, once there are so many."""
        self.engines.dynamodb.update_time_to_live(
            TableName=self.name,
            TimeToLiveSpecification={"Enabled": True, "AttributeName": EXPIRES_AT},
        )
        stream = TableStream(self.engines.streams, self.name)
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            records = [dict(event_record(change, stream.arn)) for change in stream.read()]
            expired = [record for record in records if any_of([PATTERN])(record)]
            if len(expired) >= count or time.monotonic() > until:
                return expired
            time.sleep(0.2)

    def expire_now(self, key: Key) -> dict[str, Any]:
        """Delete an item; return its record with the identity of the time to live."""
        stream = TableStream(self.engines.streams, self.name)
        names = {"PK": {"S": key.pk}, "SK": {"S": key.sk}}
        self.engines.dynamodb.delete_item(TableName=self.name, Key=names)
        for change in stream.read():
            record: dict[str, Any] = dict(event_record(change, stream.arn))
            if record["eventName"] == "REMOVE" and record["dynamodb"]["Keys"] == names:
                return record | {"userIdentity": TIME_TO_LIVE}
        raise AssertionError(f"the stream has no record of {key}")

    def objects(self) -> dict[str, list[dict[str, Any]]]:
        entries = self.engines.s3.list_objects_v2(Bucket=self.bucket).get("Contents", [])
        return {entry.get("Key", ""): self._lines(entry.get("Key", "")) for entry in entries}

    def _lines(self, key: str) -> list[dict[str, Any]]:
        content = self.engines.s3.get_object(Bucket=self.bucket, Key=key)["Body"].read()
        return [json.loads(line)["Item"] for line in gzip.decompress(content).splitlines()]

    def keys_with(self, text: str) -> list[tuple[str, str]]:
        """The keys of all items of the table that name something."""
        items: list[Any] = self.engines.dynamodb.scan(TableName=self.name)["Items"]
        keys = [(value["PK"]["S"], value["SK"]["S"]) for value in items]
        return sorted(key for key in keys if text in key[0] or text in key[1])


def _create_request(name: str) -> Any:
    """DynamoDB Local never expires an item that lacks the keys of one of the table's indexes, so
    this table has only the indexes whose keys all runs and traces have.
    """
    request = create_request(name)
    local = [index for index in request["LocalSecondaryIndexes"] if index["IndexName"] in _LOCAL]
    indexes = [*request["GlobalSecondaryIndexes"][:1], *local]
    used = {key["AttributeName"] for source in [request, *indexes] for key in source["KeySchema"]}
    return request | {
        "AttributeDefinitions": [
            attribute
            for attribute in request["AttributeDefinitions"]
            if attribute["AttributeName"] in used
        ],
        "GlobalSecondaryIndexes": indexes[:1],
        "LocalSecondaryIndexes": local,
        "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "OLD_IMAGE"},
    }


@pytest.fixture
def place(engines: RealEngines, tracking_tables: TrackingTables) -> Place:
    name = bucket = f"mlflow-{new_uuid()[:8]}"
    engines.dynamodb.create_table(**_create_request(name))
    engines.s3.create_bucket(Bucket=bucket)
    context = Context(tracking_tables.database(name), ARTIFACTS, Series().sources())
    return Place(engines, context, name, bucket)


@pytest.fixture
def store(place: Place) -> DynamoTrackingStore:
    """A store of years ago, by its clock."""
    return DynamoTrackingStore.of_context(place.context)


def _log_run(store: DynamoTrackingStore, name: str) -> str:
    run_id: str = store.create_run("0", "ann", 1, [RunTag("team", "a")], name).info.run_id
    metrics = [Metric(key, number, 1, number) for key in ("loss", "f 1/a") for number in range(3)]
    store.log_batch(run_id, metrics, [Param("rate", "0.1"), Param("empty", "")], [])
    source = json.dumps({"uri": "vitrine://museum/hall@1/a.csv", "digest": "d1"})
    store.log_inputs(run_id, [DatasetInput(Dataset("parts", "1", "vitrine", source), [])])
    return run_id


def _keep(place: Place, records: list[dict[str, Any]]) -> None:
    archive = place.archive()
    for record in records:
        archive.store(record)


def test_an_expired_run_is_archived_once_and_leaves_nothing(
    place: Place, store: DynamoTrackingStore
) -> None:
    kept_deleted, kept = _log_run(store, "first"), _log_run(store, "second")
    store.delete_run(kept_deleted)
    place.config.set(DELETED_RUNS_EXPIRE, "30")
    expired, restored = _log_run(store, "gone for good"), _log_run(store, "back again")
    for run_id in (expired, restored):
        store.delete_run(run_id)
    store.restore_run(restored)
    before = {run_id: place.keys_with(run_id) for run_id in (kept, kept_deleted, restored)}
    own = {key for key in place.keys_with(expired) if key[0] == "EXP#0"}

    records = place.expire(1)
    assert len(records) == 1
    with pytest.raises(MlflowException, match="not found"):
        store.get_run(expired)
    _keep(place, records)
    ((key, lines),) = place.objects().items()
    assert key.startswith(f"archive/0/runs/{expired}/")
    assert lines[0]["SK"]["S"] == f"R#{expired}"
    archived = {(line["PK"]["S"], line["SK"]["S"]) for line in lines}
    assert {key for key in own if not key[1].startswith("RANK#")} == archived
    histories = [line["value"]["S"] for line in lines if "#MHIST#loss#" in line["SK"]["S"]]
    assert histories == ["0.0", "1.0", "2.0"]
    assert place.keys_with(expired) == []
    assert {run_id: place.keys_with(run_id) for run_id in before} == before
    _keep(place, records)
    assert place.objects() == {key: lines}


def test_an_expired_trace_is_archived_with_its_spans_and_its_id_can_be_used_again(
    place: Place, store: DynamoTrackingStore
) -> None:
    place.config.set(TRACES_EXPIRE, "7")
    store.log_spans("0", [span_of("tr/1 #", 1), span_of("tr/1 #", 2, 1)])
    store.start_trace(info_of("tr/1 #", tags={"k": "v"}))
    store.set_trace_tag("tr/1 #", "later", "x")
    place.config.set(TRACES_EXPIRE, "off")
    store.start_trace(info_of("tr-kept"))
    kept = place.keys_with("tr-kept")
    records = place.expire(1)
    with pytest.raises(MlflowException, match="has expired and is being archived") as refused:
        store.start_trace(info_of("tr/1 #"))
    assert refused.value.error_code == "INVALID_STATE"
    _keep(place, records)
    ((key, lines),) = place.objects().items()
    assert key.startswith("archive/0/traces/tr%2F1%20%23/")
    names = [line["SK"]["S"].removeprefix("T#tr/1 %23") for line in lines]
    assert names == ["", "#SPANS", "#TAG#later"]
    assert base64.b64decode(lines[1]["spans"]["B"])
    assert place.keys_with("tr/1") == []
    assert place.keys_with("tr-kept") == kept
    store.start_trace(info_of("tr/1 #"))
    assert store.get_trace_info("tr/1 #").tags.get("later") is None


def test_the_full_text_rows_of_an_expired_run_are_deleted(
    place: Place, store: DynamoTrackingStore
) -> None:
    place.config.set(RUN_NAMES, "on")
    place.config.set(DELETED_RUNS_EXPIRE, "1")
    experiment_id = store.create_experiment("with rows", None, [])
    run_id = store.create_run(experiment_id, "ann", 1, [], "a name of words").info.run_id
    store.delete_run(run_id)
    assert len([sk for _, sk in place.keys_with(run_id) if sk.startswith("FTS#")]) > 1
    _keep(place, [place.expire_now(Key(f"EXP#{experiment_id}", f"R#{run_id}"))])
    assert place.keys_with(run_id) == []


def test_an_archival_whose_object_is_refused_deletes_nothing(
    place: Place, store: DynamoTrackingStore
) -> None:
    run_id, record = _expire_run(place, store)
    left = place.keys_with(run_id)

    class _Refusing:
        def put_object(self, **_: Any) -> None:
            raise ClientError({"Error": {"Code": "SlowDown"}}, "PutObject")

    refusing: Any = _Refusing()
    with pytest.raises(ClientError, match="SlowDown"):
        place.archive(refusing).store(record)
    assert place.keys_with(run_id) == left


def test_an_archival_that_dies_is_completed_later(place: Place, store: DynamoTrackingStore) -> None:
    run_id, record = _expire_run(place, store)
    whole: dict[str, Any] = {}
    deaths = 0
    for requests in itertools.count(1):
        archive = place.archive()
        events: Any = archive.table.meta.client.meta.events
        events.register("before-send.dynamodb", _Dying(requests))
        try:
            archive.store(record)
            break
        except _DyingError:
            deaths += 1
            objects = place.objects()
            whole = whole or objects
            assert objects == whole, "an object is written once, when everything is there"
    assert deaths >= 5
    assert place.keys_with(run_id) == []
    assert place.objects() == whole


class _DyingError(Exception):
    pass


@dataclass
class _Dying:
    """Serves this many requests, then none."""

    left: int

    def __call__(self, **_: Any) -> None:
        self.left -= 1
        if self.left < 0:
            raise _DyingError


def _expire_run(place: Place, store: DynamoTrackingStore) -> tuple[str, dict[str, Any]]:
    """A run that has expired, and the record of its deletion."""
    place.config.set(DELETED_RUNS_EXPIRE, "1")
    run_id = _log_run(store, "one")
    store.delete_run(run_id)
    return run_id, place.expire_now(Key("EXP#0", f"R#{run_id}"))


def test_deletions_by_others_are_not_archived(place: Place, store: DynamoTrackingStore) -> None:
    run_id = _log_run(store, "one")
    stream = TableStream(place.engines.streams, place.name)
    hooks: Any = store
    store.delete_run(run_id)
    hooks._hard_delete_run(run_id)
    records = [dict(event_record(change, stream.arn)) for change in stream.read()]
    removals = [record for record in records if record["eventName"] == "REMOVE"]
    assert removals
    assert [removal for removal in removals if any_of([PATTERN])(removal)] == []
    _keep(place, records)
    assert place.objects() == {}


def test_an_expired_item_that_is_no_run_and_no_trace_is_reported(place: Place) -> None:
    image = {"PK": {"S": "EXP#0"}, "SK": {"S": "E#META"}}
    record: Any = {
        "eventName": "REMOVE",
        "userIdentity": TIME_TO_LIVE,
        "dynamodb": {"OldImage": image, "SequenceNumber": "1"},
    }
    with pytest.raises(ValueError, match="EXP#0 E#META"):
        place.archive().store(record)


def test_what_expires_is_marked_with_the_days_of_the_setting(
    place: Place, store: DynamoTrackingStore
) -> None:
    def expiry(sk: str) -> Any:
        return (place.context.database.get(Key("EXP#0", sk)) or {}).get(EXPIRES_AT)

    run_id = _log_run(store, "one")
    store.delete_run(run_id)
    assert expiry(f"R#{run_id}") is None
    place.config.set(DELETED_RUNS_EXPIRE, "2")
    place.config.set(TRACES_EXPIRE, "3")
    now = Series().now_ms() // 1000
    store.delete_run(run_id)
    assert expiry(f"R#{run_id}") == now + 2 * DAY
    store.restore_run(run_id)
    assert expiry(f"R#{run_id}") is None
    store.start_trace(info_of("tr-1"))
    store.set_trace_tag("tr-1", "k", "v")
    assert expiry("T#tr-1") == now + 3 * DAY
