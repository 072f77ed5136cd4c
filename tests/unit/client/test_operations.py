"""Failures and dead letters seen from the client."""

import httpx
import pytest
from pydantic import JsonValue
from vitrine import ConflictError, NotFoundError, Vitrine

from tests.unit.client.fake_server import FakeServer
from tests.unit.client.shell import Shell

FAILURES = "/admin/failures"
KEY = "IndexChanges/2026-03-01/" + "0" * 32 + ".json"


def page(*items: JsonValue, **more: JsonValue) -> httpx.Response:
    return httpx.Response(200, json={"Items": list(items), **more})


def replayed(*outcomes: str, **more: JsonValue) -> httpx.Response:
    items = [{"key": f"{KEY}-{n}", "outcome": outcome} for n, outcome in enumerate(outcomes)]
    return httpx.Response(200, json={"items": items, **more})


def failure(**more: JsonValue) -> dict[str, JsonValue]:
    return {"key": KEY, "kind": "poison", "consumer": "IndexChanges", "reason": "odd", **more}


def refusal(status: int, message: str) -> httpx.Response:
    return httpx.Response(status, json={"message": message, "code": "Odd"})


def test_failures_are_listed_over_all_pages(client: Vitrine, server: FakeServer) -> None:
    server.fail("GET", FAILURES, page(failure(), NextToken="t"), page(failure(attempts=3)))
    assert [one.attempts for one in client.failures.list(consumer="IndexChanges")] == [0, 3]


def test_a_failure_is_shown(client: Vitrine, server: FakeServer) -> None:
    answer = httpx.Response(200, json={**failure(), "document": "{}", "size": 2})
    server.fail("GET", FAILURES, answer, refusal(404, "there is none"))
    assert client.failures.get(KEY).document == "{}"
    with pytest.raises(NotFoundError):
        client.failures.get(KEY)


def test_keys_are_replayed_in_as_many_requests_as_it_takes(
    client: Vitrine, server: FakeServer
) -> None:
    keys = [f"{KEY}-{number}" for number in range(3)]
    server.fail("POST", FAILURES, replayed("replayed", "failed"), replayed("x", "y", "absent"))
    found = [(one.key, one.outcome) for one in client.failures.replay([*keys, keys[0]])]
    assert found[:2] == [(keys[0], "replayed"), (keys[1], "failed")]
    assert found[-1] == (keys[2], "absent")


def test_a_reply_without_an_outcome_ends_the_polling(client: Vitrine, server: FakeServer) -> None:
    server.fail("POST", FAILURES, replayed())
    assert list(client.failures.replay([KEY])) == []


def test_all_of_a_consumer_are_replayed_from_where_time_was_up(
    client: Vitrine, server: FakeServer
) -> None:
    server.fail("POST", FAILURES, replayed("replayed", nextKey="a"), replayed("failed"))
    found = [one.outcome for one in client.failures.replay_all(consumer="IndexChanges")]
    assert found == ["replayed", "failed"]


def test_the_command_lists_failures_in_lines(shell: Shell, server: FakeServer) -> None:
    server.fail("GET", FAILURES, page(failure(failedAt="then")), page(failure()))
    assert shell.run("admin", "failures", "list") == f"{KEY}\tIndexChanges\tthen\t0\todd\n"
    found = shell.json("admin", "failures", "list", "--consumer", "IndexChanges")
    assert found["items"] == [failure()]


def test_the_command_shows_a_failure_or_reports_that_there_is_none(
    shell: Shell, server: FakeServer
) -> None:
    answer = httpx.Response(200, json={"key": KEY, "kind": "poison", "document": "\x1b[31m"})
    server.fail("GET", FAILURES, answer, refusal(404, "There is no failure"))
    assert "document\t\\x1b[31m" in shell.run("admin", "failures", "show", KEY)
    shell.run("admin", "failures", "show", KEY)
    assert shell.code == 3


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        (["replayed", "replayed"], 0),
        ([], 0),
        (["replayed", "failed"], 1),
        (["changed"], 1),
        (["absent", "replayed"], 3),
    ],
)
def test_the_exit_code_of_a_replay_shows_whether_all_succeeded(
    shell: Shell, server: FakeServer, outcomes: list[str], code: int
) -> None:
    server.fail("POST", FAILURES, replayed(*outcomes), replayed(*outcomes))
    output = shell.run("admin", "failures", "replay", "--consumer", "IndexChanges")
    assert (shell.code, len(output.splitlines())) == (code, len(outcomes))


def test_everything_can_be_replayed(shell: Shell, server: FakeServer) -> None:
    server.fail("POST", FAILURES, replayed("replayed", nextKey="a"), replayed("replayed"))
    assert len(shell.run("admin", "failures", "replay", "--all").splitlines()) == 2
    assert (shell.code, shell.err) == (0, "2 replayed\n")


def test_a_replay_requires_keys_a_consumer_or_all(shell: Shell) -> None:
    shell.run("admin", "failures", "replay")
    assert (shell.code, "--consumer" in shell.err) == (2, True)
    for more in (["--consumer", "IndexChanges"], ["--all"]):
        shell.run("admin", "failures", "replay", KEY, *more)
        assert shell.code == 2


def test_queues_are_listed_and_their_dead_letters_moved(shell: Shell, server: FakeServer) -> None:
    queue: JsonValue = {
        "queueName": "Settle",
        "waiting": 1,
        "inFlight": 2,
        "delayed": 3,
        "deadLetters": 4,
        "redrive": {"state": "COMPLETED", "moved": 9},
    }
    server.fail("GET", "/admin/queues", page(queue))
    assert shell.run("admin", "queues", "list") == "Settle\t1\t2\t3\t4\tcompleted\n"
    answer = {"queueName": "Settle", "deadLetters": 4, "started": True, "message": "Moving 4"}
    server.fail("POST", "/admin/queues", httpx.Response(200, json=answer))
    assert shell.run("admin", "queues", "redrive", "Settle") == "Settle\t4\n"
    assert shell.err == "Moving 4\n"


def test_a_second_redrive_and_an_unknown_queue_are_reported(
    client: Vitrine, shell: Shell, server: FakeServer
) -> None:
    server.fail("POST", "/admin/queues", refusal(409, "being moved"), refusal(404, "no queue"))
    with pytest.raises(ConflictError, match="being moved"):
        client.queues.redrive("Settle")
    shell.run("admin", "queues", "redrive", "Nobody")
    assert shell.code == 3
