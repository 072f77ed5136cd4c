"""One user's executions do not keep those of others waiting."""

import json
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

from backend.core.identity import SYSTEM
from backend.domains.executions.models import ActiveExecution
from backend.domains.executions.rules.places import executions_to_admit
from backend.spec.tables.workflows import ACTIVE_EXECUTIONS
from tests.factories.executions import Runner, status_event

ROOT = Path(__file__).resolve().parents[4]


def active(*users: str, since: int = 0, state: str = "waiting") -> list[ActiveExecution]:
    """Executions of these users, in this order of age."""
    return [
        ActiveExecution.model_validate(
            {
                "state": state,
                "executionId": f"e{since + number:05}",
                "databaseId": "museum",
                "assetId": "statue",
                "reservation": "Run#1",
                "since": "2026-03-01T12:00:00.000000Z",
                "user": user,
            }
        )
        for number, user in enumerate(users)
    ]


def taken(waiting: list[ActiveExecution], limit: int, *running: str) -> dict[str, int]:
    found = executions_to_admit(
        waiting, active(*running, since=90_000, state="admitted"), limit, {}
    )
    return dict(Counter(one.user for one in found))


def test_a_user_alone_takes_all_places_and_the_oldest_execution_comes_first() -> None:
    waiting = active(*["ann"] * 60)
    assert executions_to_admit(waiting, [], 50, {}) == waiting[:50]


@pytest.mark.parametrize("limit", [2, 4, 50])
def test_one_file_beside_a_thousand_of_another_user_comes_first(limit: int) -> None:
    waiting = active(*["ann"] * 1000, "bob")
    found = executions_to_admit(waiting, active(*["ann"] * (limit - 1), since=90_000), limit, {})
    assert [one.user for one in found] == ["bob"]


def test_while_others_wait_no_one_has_more_than_half_and_one_place_stays_free() -> None:
    ann, bob = ["ann"] * 100, ["bob"] * 100
    assert taken(active(*ann, *bob), 50) == {"ann": 25, "bob": 24}
    assert taken(active(*ann, *bob), 50, *["ann"] * 25, *["bob"] * 24) == {}
    assert taken(active(*ann, *bob, "eve"), 50, *["ann"] * 25, *["bob"] * 24) == {"eve": 1}
    assert taken(active(*ann, *bob), 4) == {"ann": 2, "bob": 1}
    assert taken(active(*ann, *bob), 1) == {"ann": 1}
    assert taken(active(*ann), 50, *["bob"] * 49) == {"ann": 1}


def test_three_users_of_ten_files_each_take_turns() -> None:
    waiting = active(*(["ann"] * 10 + ["bob"] * 10 + ["eve"] * 10))
    assert [one.user for one in executions_to_admit(waiting, [], 4, {})] == ["ann", "bob", "eve"]


def test_of_users_without_a_place_the_one_who_has_waited_longest_for_one_comes_first() -> None:
    waiting = active(*["ann"] * 10, *["bob"] * 10, *["eve"] * 10, "zoe")
    running = active("bob", "eve", since=90_000, state="admitted")
    ended = {"ann": "2026-03-01T12:00:09.000000Z", "zoe": "2026-03-01T11:00:00.000000Z"}
    assert [one.user for one in executions_to_admit(waiting, running, 3, ended)] == ["zoe"]


def test_a_file_waits_for_one_turn_of_each_of_three_users_who_hold_all_places() -> None:
    runner = Runner()
    runner.limit = 3
    for user in ("ann", "bob", "eve"):
        for number in range(10):
            key = f"statue/{user}{number}.las"
            runner.create(f"e{user}{number}", input_asset_file_key=key, started_by=user)
    runner.start()
    assert {one[1:4] for one in runner.runs.started} == {"ann", "bob", "eve"}
    runner.now += timedelta(seconds=1)
    runner.create("late", started_by="zoe")
    runner.now += timedelta(seconds=1)
    runner.report(status_event("eann0"))
    runner.start()
    assert [*runner.runs.started][3:] == ["late"]


def test_uploads_of_the_system_count_as_one_user_and_old_items_are_read() -> None:
    old = [one.model_copy(update={"user": ""}) for one in active(*["x"] * 5)]
    system = active(*[SYSTEM.user_id] * 5, since=100)
    assert taken([*old, *system, *active("ann", since=200)], 4) == {
        "": 1,
        SYSTEM.user_id: 1,
        "ann": 1,
    }


def test_a_waiting_execution_carries_its_user_also_in_its_place() -> None:
    runner = Runner()
    runner.limit = 4
    for number in range(30):
        key = f"statue/bomb{number}.las"
        runner.create(f"e{number:03}", input_asset_file_key=key, started_by="eve")
    runner.start()
    assert len(runner.runs.started) == 4
    runner.create("e900", started_by="ann")
    runner.start()
    assert "e900" not in runner.runs.started  # all places are taken
    runner.report(status_event("e000"))
    runner.start()
    assert [*runner.runs.started][4:] == ["e900"]
    users = Counter(str(row.get("user")) for row in runner.tables.rows(ACTIVE_EXECUTIONS))
    assert users == {"eve": 29, "ann": 1}
    (row,) = (row for row in runner.tables.rows(ACTIVE_EXECUTIONS) if row["user"] == "ann")
    assert row["state"] == "admitted"


def test_an_item_without_a_user_is_admitted() -> None:
    runner = Runner()
    runner.create()
    (row,) = runner.tables.rows(ACTIVE_EXECUTIONS)
    runner.tables.put_many(ACTIVE_EXECUTIONS, [{k: v for k, v in row.items() if k != "user"}])
    runner.start()
    assert set(runner.runs.started) == {"e1"}


def test_the_local_stage_admits_no_more_executions_than_two_processors_run() -> None:
    """Two are read, and the results of one are stored."""
    stages = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["context"]["stages"]
    assert stages["local"]["executionsAtOnce"] == 3
