"""The routes of queues: depths, and dead letters that are moved back."""

from dataclasses import replace

import pytest

from backend.spec.queues import QUEUES
from tests.factories.audit import entries
from tests.unit.operations.conftest import Operations

ROUTE = "POST /admin/queues/{queueName}/redrive"


def redrive(operations: Operations, name: str, user: str | None = "admin") -> tuple[int, object]:
    answer = replace(operations.of_queues, user_id=user).send(
        "POST", f"/admin/queues/{name}/redrive", route=ROUTE, parameters={"queueName": name}
    )
    return answer.status, answer.body


def test_every_declared_queue_is_listed_with_its_depths(operations: Operations) -> None:
    operations.dead_letters.dead["Settle"] = 7
    operations.dead_letters.moving.add("Settle")
    answer = operations.of_queues.send("GET", "/admin/queues")
    items = {one["queueName"]: one for one in answer.body["Items"]}
    assert set(items) == {queue.name for queue in QUEUES}
    settle = items["Settle"]
    assert settle["redrive"] == {
        "state": "RUNNING",
        "moved": 4,
        "startedAt": "2026-03-01T00:00:00.000000Z",
    }
    numbers = [settle[name] for name in ("waiting", "inFlight", "delayed", "deadLetters")]
    assert numbers == [1, 2, 3, 7]
    assert "redrive" not in items["ObjectEvents"]


@pytest.mark.parametrize("queue", QUEUES, ids=lambda queue: queue.name)
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


def test_without_dead_letters_nothing_is_moved(operations: Operations) -> None:
    status, body = redrive(operations, "Settle")
    assert (status, operations.dead_letters.moving) == (200, set())
    assert isinstance(body, dict)
    assert body["started"] is False


def test_a_second_move_at_the_same_time_is_a_conflict(operations: Operations) -> None:
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


def test_an_outage_is_a_503(operations: Operations) -> None:
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
