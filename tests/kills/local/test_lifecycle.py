"""A runtime that was killed continues on its folder."""

from __future__ import annotations

import json
import os
import signal
import stat
from typing import TYPE_CHECKING

from tests.integration.local.test_lifecycle import alive, stored_request

if TYPE_CHECKING:
    from tests.integration.local.conftest import Small

_FILE_KEYS = [
    *("api", "adminApiKey", "opensearch", "dynamodb", "s3", "states", "aws", "admin"),
    *("adminToken", "accessKey", "secretKey", "pid"),
]


def test_a_killed_runtime_continues_where_it_was(fresh: Small) -> None:
    fresh.up()
    first = fresh.endpoint
    assert list(first) == _FILE_KEYS
    assert stat.S_IMODE((fresh.state / "endpoint.json").stat().st_mode) == 0o600
    assert len(first["adminApiKey"]) == 40
    fresh.put("before the kill")
    fresh.wait_drained()
    body = json.dumps({"id": "in work", "seconds_at_first": 8})
    fresh.sqs().send_message(QueueUrl=fresh.queue("Patient"), MessageBody=body)
    fresh.wait_for(lambda: fresh.admin("/drained").json().get("running", 0) > 0)
    engines = fresh.admin("/health").json()["engines"]
    started = {int(first["pid"]), *(int(engine["pid"]) for engine in engines.values())}
    fresh.put("just before the kill")
    fresh.s3().put_object(Bucket="small-objects", Key="just before the kill", Body=b"1")
    for pid in started:
        os.kill(pid, signal.SIGKILL)
    fresh.wait_for(lambda: not alive(started - {int(first["pid"])}))

    fresh.up()
    fresh.wait_drained()

    assert fresh.endpoint["adminApiKey"] == first["adminApiKey"]
    assert fresh.seen("before the kill") == 1
    assert fresh.seen("just before the kill") >= 1
    assert fresh.seen("Object Created:just before the kill") >= 1
    assert fresh.seen("in work") >= 1
    assert stored_request(fresh) == "Create 1"
