"""Failed batches and jobs, and the queues that hold them."""

from dataclasses import replace
from typing import Any

import pytest

from backend.search.indexing.failures import FailureStore
from tests.factories.audit import entries
from tests.factories.failures import BATCH_KEY, BUCKET, failed_batch, put_object
from tests.factories.search import NOON, store_asset, stream_record
from tests.unit.operations.conftest import DEPLOYED, Operations

ASSET_KEY = {"databaseId": "museum", "assetId": "pump"}
POISON_KEY = "IndexChanges/2026-03-01/" + "0" * 32 + ".json"


def store_failure(operations: Operations, name: str, *, consumer: str = "IndexChanges") -> None:
    store = FailureStore(operations.objects, BUCKET, consumer, lambda: NOON)
    store.store(name, stream_record({"odd": "x"}), "odd")


def listed(operations: Operations, **query: str) -> Any:
    answer = operations.client.send("GET", "/admin/failures", query=query)
    assert answer.status == 200
    return answer.body


def replay(operations: Operations, body: object) -> Any:
    return operations.client.send("POST", "/admin/failures/replay", body=body)


def test_failures_are_listed_in_pages(operations: Operations) -> None:
    assert listed(operations) == {"Items": []}
    assert replay(operations, {"consumer": "IndexChanges"}).body == {"items": []}
    for number in range(3):
        store_failure(operations, f"e{number}")
    put_object(operations.objects, failed_batch([{}]))
    first = listed(operations, maxItems="3")
    rest = listed(operations, maxItems="3", startingToken=first["NextToken"])
    assert [element["kind"] for element in (*first["Items"], *rest["Items"])] == ["poison"] * 3 + [
        "batch"
    ]
    assert "NextToken" not in rest
    assert first["Items"][0] == {
        "key": first["Items"][0]["key"],
        "kind": "poison",
        "size": first["Items"][0]["size"],
        "consumer": "IndexChanges",
        "name": first["Items"][0]["name"],
        "reason": "odd",
        "failedAt": "2026-03-01T12:00:00.000000Z",
        "attempts": 0,
    }
    store_failure(operations, "a")
    store_failure(operations, "b", consumer="IndexSettle")
    (item,) = listed(operations, consumer="IndexSettle")["Items"]
    assert item["consumer"] == "IndexSettle"
    for number in range(3):
        store_failure(operations, f"e{number}")
    token = listed(operations, maxItems="1")["NextToken"]
    query = {"consumer": "IndexSettle", "startingToken": token}
    assert operations.client.send("GET", "/admin/failures", query=query).status == 400


def test_a_failure_is_shown_with_its_text(operations: Operations) -> None:
    put_object(operations.objects, failed_batch([stream_record(ASSET_KEY)]))
    answer = operations.client.send("GET", "/admin/failures/entry", query={"key": BATCH_KEY})
    assert (answer.status, answer.body["reason"]) == (200, "RecordAgeExceeded")
    assert "museum" in answer.body["document"]
    assert answer.body["isTruncated"] is False
    answer = operations.client.send("GET", "/admin/failures/entry", query={"key": POISON_KEY})
    assert (answer.status, answer.body["code"]) == (404, "FailureNotFound")


@pytest.mark.parametrize("content", [b"\xff\x00 no text", "[" * 600_000, '{"name": "\\ud800"}', ""])
def test_what_is_no_json_is_shown_all_the_same(
    operations: Operations, content: str | bytes
) -> None:
    put_object(operations.objects, content, key=POISON_KEY)
    answer = operations.client.send("GET", "/admin/failures/entry", query={"key": POISON_KEY})
    assert answer.status == 200
    assert answer.body["isTruncated"] is (len(content) > 500_000)
    assert listed(operations)["Items"][0]["key"] == POISON_KEY


def test_failures_are_replayed_by_key(operations: Operations) -> None:
    store_asset(operations.tables)
    put_object(operations.objects, failed_batch([stream_record(ASSET_KEY, {})]))
    store_failure(operations, "a")
    poison = listed(operations)["Items"][0]["key"]
    answer = replay(operations, {"keys": [BATCH_KEY, poison, POISON_KEY, BATCH_KEY]})
    assert answer.status == 200
    batch, odd, absent = answer.body["items"]
    assert batch == {"key": BATCH_KEY, "outcome": "replayed"}
    assert (odd["key"], odd["outcome"]) == (poison, "failed")
    assert "no table with a stream" in odd["reason"]
    assert (absent["outcome"], absent["reason"]) == ("absent", "the failure does not exist")
    assert set(operations.engine.live()) == {"museum:pump"}
    (left,) = listed(operations)["Items"]
    assert (left["key"], left["attempts"]) == (poison, 1)


@pytest.mark.parametrize(
    ("body", "of"),
    [
        ({"keys": [BATCH_KEY]}, "keys"),
        ({"all": True}, "all"),
        ({"consumer": "IndexChanges"}, "IndexChanges"),
    ],
)
def test_the_audit_trail_shows_what_was_replayed(
    operations: Operations, body: dict[str, Any], of: str
) -> None:
    assert replay(operations, body).status == 200
    (entry,) = entries(operations.tables)
    assert (entry["entity"], entry["operation"]) == (f"failures:{of}", "replay_failures")
    assert entry["userId"] == "admin"
    assert {name: change["after"] for name, change in entry["changes"].items()} == body


def test_all_of_a_consumer_are_replayed_in_as_many_requests_as_time_requires(
    operations: Operations,
) -> None:
    for number in range(5):
        store_failure(operations, f"e{number}")
    put_object(operations.objects, failed_batch([stream_record(ASSET_KEY, {})]))
    store_failure(operations, "other", consumer="IndexSettle")
    operations.clock.seconds = 2  # a second replay begins in time, a third does not
    tried: list[str] = []
    body: dict[str, str] = {"consumer": "IndexChanges"}
    while True:
        answer = replay(operations, body).body
        tried += (item["key"] for item in answer["items"])
        assert len(answer["items"]) <= 2
        if "nextKey" not in answer:
            break
        body["after"] = answer["nextKey"]
    assert len(tried) == len(set(tried)) == 6
    assert not [key for key in tried if key.startswith("IndexSettle")]


def test_the_failures_of_all_consumers_are_replayed(operations: Operations) -> None:
    store_asset(operations.tables)
    put_object(operations.objects, failed_batch([stream_record(ASSET_KEY, {})]))
    store_failure(operations, "a")
    store_failure(operations, "b", consumer="IndexSettle")
    answer = replay(operations, {"all": True}).body
    assert [item["outcome"] for item in answer["items"]] == ["failed", "failed", "replayed"]
    left = replay(operations, {"all": True, "after": answer["items"][0]["key"]}).body
    assert [item["key"] for item in left["items"]] == [answer["items"][1]["key"]]


def test_entries_behind_many_of_other_consumers_are_replayed_too(
    operations: Operations, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        put_object(operations.objects, failed_batch([{}]), key=f"{BATCH_KEY}-{number}")
    starter = BATCH_KEY.replace("2d1b", "3d1b")
    put_object(operations.objects, failed_batch([{}], function="s-JobStarter-X"), key=starter)
    monkeypatch.setattr("backend.operations.failures._PAGE", 2)
    monkeypatch.setattr("backend.core.paging.MAX_ROWS_PER_PAGE", 2)
    answer = replay(operations, {"consumer": "JobStarter"}).body
    assert [item["key"] for item in answer["items"]] == [starter]
    operations.clock.seconds = 4  # no request has time for more than one look
    answer, looks = replay(operations, {"consumer": "JobStarter"}).body, 1
    while not answer["items"]:
        answer = replay(operations, {"consumer": "JobStarter", "after": answer["nextKey"]}).body
        looks += 1
    assert [item["key"] for item in answer["items"]] == [starter]
    assert looks > 1


def test_an_outage_is_a_503_and_replays_before_it_are_reported(operations: Operations) -> None:
    store_asset(operations.tables)
    put_object(operations.objects, failed_batch([stream_record(ASSET_KEY, {})]))
    store_failure(operations, "a")
    poison = listed(operations)["Items"][0]["key"]
    operations.engine.indexes.clear()
    assert replay(operations, {"keys": [BATCH_KEY]}).status == 503
    answer = replay(operations, {"keys": [poison, BATCH_KEY]})
    assert [item["key"] for item in answer.body["items"]] == [poison]
    assert answer.body["nextKey"] == poison
    assert replay(operations, {"consumer": "IndexChanges", "after": poison}).status == 503
    assert BATCH_KEY in {item["key"] for item in listed(operations)["Items"]}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, ""),
        ({"keys": []}, "keys"),
        ({"keys": [BATCH_KEY], "consumer": "IndexChanges"}, ""),
        ({"keys": [BATCH_KEY], "after": BATCH_KEY}, ""),
        ({"all": False}, "all"),
        ({"all": True, "consumer": "IndexChanges"}, ""),
        ({"all": True, "keys": [BATCH_KEY]}, ""),
        ({"after": BATCH_KEY}, ""),
        ({"keys": [BATCH_KEY, "a/b"]}, "keys.1"),
        ({"keys": ["IndexChanges/../AuditArchiver/x.json"]}, "keys.0"),
        ({"keys": ["../" + POISON_KEY]}, "keys.0"),
        ({"keys": ["/" + POISON_KEY]}, "keys.0"),
        ({"keys": [BATCH_KEY.replace("shardId", "..")[:60] + "/.."]}, "keys.0"),
        ({"keys": ["x" * 2000]}, "keys.0"),
        ({"keys": [7]}, "keys.0"),
        ({"keys": [BATCH_KEY] * 51}, "keys"),
        ({"keys": BATCH_KEY}, "keys"),
        ({"consumer": "SearchApi"}, "consumer"),
        ({"consumer": "../IndexChanges"}, "consumer"),
        ({"consumer": "IndexChanges", "after": "x"}, "after"),
        ({"consumer": "IndexChanges", "force": True}, "force"),
        ("no JSON", ""),
        ("[]", ""),
    ],
)
def test_a_replay_of_what_cannot_be_is_refused_by_its_field(
    operations: Operations, body: object, field: str
) -> None:
    answer = replay(operations, body)
    assert answer.status == 400
    if field:
        assert field in [error["field"] for error in answer.body["errors"]]


@pytest.mark.parametrize("key", ["", "x", "../" + POISON_KEY, "assets/pump.glb", "aws/lambda/"])
def test_only_keys_of_failures_can_be_shown(operations: Operations, key: str) -> None:
    put_object(operations.objects, "a secret", key="x")
    answer = operations.client.send("GET", "/admin/failures/entry", query={"key": key})
    assert answer.status == 400
    assert operations.client.send("GET", "/admin/failures/entry").status == 400


@pytest.mark.parametrize("user", ["stranger", None])
def test_only_administrators_see_or_replay_failures(
    operations: Operations, user: str | None
) -> None:
    client = operations.by(user)
    expected = 401 if user is None else 403
    put_object(operations.objects, failed_batch([{}]))
    assert client.send("GET", "/admin/failures").status == expected
    query = {"key": BATCH_KEY}
    assert client.send("GET", "/admin/failures/entry", query=query).status == expected
    body = {"keys": [BATCH_KEY]}
    assert client.send("POST", "/admin/failures/replay", body=body).status == expected


ROUTE = "POST /admin/queues/{queueName}/redrive"


def redrive(operations: Operations, name: str, user: str | None = "admin") -> tuple[int, object]:
    answer = replace(operations.of_queues, user_id=user).send(
        "POST", f"/admin/queues/{name}/redrive", route=ROUTE, parameters={"queueName": name}
    )
    return answer.status, answer.body


def test_every_deployed_queue_is_listed_with_its_depths(operations: Operations) -> None:
    operations.dead_letters.dead["Settle"] = 7
    operations.dead_letters.moving.add("Settle")
    answer = operations.of_queues.send("GET", "/admin/queues")
    items = {item["queueName"]: item for item in answer.body["Items"]}
    assert set(items) == {queue.name for queue in DEPLOYED}
    settle = items["Settle"]
    assert settle["redrive"] == {
        "state": "RUNNING",
        "moved": 4,
        "startedAt": "2026-03-01T00:00:00.000000Z",
    }
    numbers = [settle[name] for name in ("waiting", "inFlight", "delayed", "deadLetters")]
    assert numbers == [1, 2, 3, 7]
    assert "redrive" not in items["ObjectEvents"]


@pytest.mark.parametrize("queue", DEPLOYED, ids=lambda queue: queue.name)
def test_dead_letters_of_each_queue_can_be_moved_back(
    operations: Operations, queue: object
) -> None:
    name = getattr(queue, "name", "")
    operations.dead_letters.dead[name] = 3
    status, body = redrive(operations, name)
    assert status == 200
    assert body == {
        "queueName": name,
        "deadLetters": 3,
        "started": True,
        "message": "Moving 3 dead letters back to the queue",
    }
    assert operations.dead_letters.moving == {name}


def test_without_dead_letters_nothing_is_moved_and_a_second_move_is_a_conflict(
    operations: Operations,
) -> None:
    status, body = redrive(operations, "Settle")
    assert (status, operations.dead_letters.moving) == (200, set())
    assert isinstance(body, dict)
    assert body["started"] is False
    operations.dead_letters.dead["Settle"] = 3
    assert redrive(operations, "Settle")[0] == 200
    status, body = redrive(operations, "Settle")
    assert status == 409
    assert isinstance(body, dict)
    assert body["code"] == "RedriveRunning"


@pytest.mark.parametrize("name", ["Nobody", "settle", "SettleDeadLetters", "..", "Settle/x", " "])
def test_an_unknown_queue_is_a_404_that_shows_the_known_ones(
    operations: Operations, name: str
) -> None:
    operations.dead_letters.dead["Settle"] = 3
    answer = operations.of_queues.send(
        "POST", "/admin/queues/x/redrive", route=ROUTE, parameters={"queueName": name}
    )
    assert (answer.status, answer.body["code"]) == (404, "QueueNotFound")
    assert "Settle" in answer.body["message"]
    assert not operations.dead_letters.moving


def test_the_audit_trail_shows_who_moved_dead_letters(operations: Operations) -> None:
    redrive(operations, "Settle")
    assert entries(operations.tables) == []
    operations.dead_letters.dead["Settle"] = 3
    redrive(operations, "Settle")
    (entry,) = entries(operations.tables)
    assert (entry["entity"], entry["operation"]) == ("queue:Settle", "redrive_queue")
    assert entry["changes"] == {"deadLetters": {"after": 3}}
    operations.dead_letters.is_down = True
    assert operations.of_queues.send("GET", "/admin/queues").status == 503
    assert redrive(operations, "Settle")[0] == 503


def test_only_administrators_see_or_move_dead_letters(operations: Operations) -> None:
    operations.dead_letters.dead["Settle"] = 3
    for user, expected in (("stranger", 403), (None, 401)):
        assert (
            replace(operations.of_queues, user_id=user).send("GET", "/admin/queues").status
            == expected
        )
        assert redrive(operations, "Settle", user)[0] == expected
    assert not operations.dead_letters.moving
