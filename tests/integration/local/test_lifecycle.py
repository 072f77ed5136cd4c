"""Starts and stops of the small deployment, and the permissions of its functions."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import threading
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from conftest import Small


def stored_request(runtime: Small) -> str:
    kept = json.loads((runtime.state / "custom-resources.json").read_text(encoding="utf-8"))
    return kept["small/Custom"]["data"]["Asked"]


def alive(pids: set[int]) -> set[int]:
    """Return the running ones; one that ended may still wait for its parent."""
    alive: set[int] = set()
    for pid in pids:
        with contextlib.suppress(psutil.NoSuchProcess):
            if psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                alive.add(pid)
    return alive


def test_a_stop_is_complete_and_a_second_start_is_refused(fresh: Small) -> None:
    fresh.keep_only("Custom", "Objects")
    fresh.up()
    second = fresh.up(check=False)
    assert second.returncode == 2
    assert second.stderr.count("\n") == 1
    assert "already" in second.stderr
    assert "Traceback" not in second.stdout + second.stderr
    engines = fresh.admin("/health").json()["engines"]
    pids = {int(fresh.endpoint["pid"]), *(int(engine["pid"]) for engine in engines.values())}
    fresh.wait_for(lambda: "healthy: True" in fresh.command("status").stdout)

    runner = int(fresh.endpoint["pid"])
    os.killpg(runner, signal.SIGTERM)
    threading.Event().wait(0.1)
    os.killpg(runner, signal.SIGTERM)  # as `timeout` and `make` pass on a signal

    fresh.wait_for(lambda: not alive(pids))
    assert not (fresh.state / "endpoint.json").exists()
    assert not (fresh.state / "runner.json").exists()
    assert fresh.command("status", check=False).returncode == 1
    fresh.change("Custom", Version=2)
    fresh.up()
    assert stored_request(fresh) == "Update 2"
    fresh.command("down")
    fresh.command("reset")
    assert {entry.name for entry in fresh.state.iterdir()} <= {"lock"}


def test_a_custom_resource_that_fails_stops_the_start_with_its_reason(fresh: Small) -> None:
    fresh.keep_only("Custom")
    fresh.change("Custom", Fail="no room left")

    refused = fresh.up("--in-memory", check=False)

    assert refused.returncode == 1
    assert "small/Custom (Custom::Small): failed: no room left" in refused.stdout
    assert "Traceback" not in refused.stdout


def test_a_port_in_use_is_one_clear_line(fresh: Small) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        refused = fresh.up("--port", str(port), check=False)

    assert refused.returncode == 1
    assert refused.stdout.strip() == f"error: port {port} of 127.0.0.1 is in use"


def test_a_half_dead_runtime_is_stopped(fresh: Small) -> None:
    fresh.keep_only("Objects")
    fresh.up("--in-memory")
    engines = fresh.admin("/health").json()["engines"]
    assert engines.keys() == {"aws", "s3"}
    pids = {int(engine["pid"]) for engine in engines.values()}
    runner = int(fresh.endpoint["pid"])
    os.kill(runner, signal.SIGSTOP)
    os.kill(runner, signal.SIGKILL)
    fresh.wait_for(lambda: not alive({runner}))

    fresh.command("down")

    assert not alive(pids)


_TABLE = "arn:aws:dynamodb:us-east-1:000000000000:table/small-Seen"
_KEY = {"id": {"S": "1"}}
_WHO = "arn:aws:sts::000000000000:assumed-role/small-LimitedRole/small-Limited"


def _calls(small: Small, *calls: tuple[str, str, dict[str, object]]) -> list[tuple[str, str]]:
    with small.http() as http:
        answer = http.post("/limited", json=calls)
    assert answer.status_code == 200, answer.text
    return [(code, message) for code, message in answer.json()]


def test_a_call_is_made_when_the_role_grants_it_and_refused_in_the_words_of_aws(
    small: Small,
) -> None:
    calls = _calls(
        small,
        ("dynamodb", "get_item", {"TableName": "small-Seen", "Key": _KEY}),
        ("dynamodb", "put_item", {"TableName": "small-Seen", "Item": _KEY}),
        ("dynamodb", "get_item", {"TableName": "small-Source", "Key": _KEY}),
        ("sqs", "send_message", {"QueueUrl": small.queue("Work"), "MessageBody": "{}"}),
        ("s3", "presign get_object", {"Bucket": "small-objects", "Key": "open/a"}),
        ("s3", "presign get_object", {"Bucket": "small-objects", "Key": "a"}),
    )
    where = f"on resource: {_TABLE}"
    why = "because no identity-based policy allows the dynamodb:PutItem action"
    assert calls[:2] == [
        ("ok", ""),
        (
            "AccessDeniedException",
            f"User: {_WHO} is not authorized to perform: dynamodb:PutItem {where} {why}",
        ),
    ]
    assert calls[2][0] == "AccessDeniedException"
    # a deny of another policy of the role wins
    assert calls[3][1].endswith("with an explicit deny in an identity-based policy")
    assert [code for code, _ in calls[4:]] == ["ok", "AccessDenied"]
    assert small.seen_item("1") == {}


def _refused(fresh: Small, name: str, **properties: object) -> str:
    """The error of a start after these changes of a resource's properties."""
    fresh.change(name, **properties)
    done = fresh.up("--in-memory", check=False)
    assert done.returncode == 1
    assert "Traceback" not in done.stdout
    return done.stdout


def test_a_mapping_requires_a_function_that_may_read_the_stream(fresh: Small) -> None:
    fresh.keep_only("StreamMapping")
    statement = {"Effect": "Allow", "Action": "logs:*", "Resource": "*"}
    document = {"Version": "2012-10-17", "Statement": [statement]}
    policies = [{"PolicyName": "all", "PolicyDocument": document}]
    error = _refused(fresh, "Role", Policies=policies)
    assert "small/StreamMapping (AWS::Lambda::EventSourceMapping)" in error
    assert "does not have permissions to call dynamodb:DescribeStream" in error
