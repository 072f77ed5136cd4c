"""Events of a local runtime are shown once each, and removed only after that."""

import json
from typing import Any

import httpx
import pytest

from tests.unit.client.fake_server import API, KEY, FakeServer
from tests.unit.client.shell import ADMIN, Shell

FEED = "http://127.0.0.1:1/000000000000/feed"
DETAIL = {
    "id": "e1",
    "number": 7,
    "at": "2026-03-01T12:00:00Z",
    "actor": "ann",
    "operation": "update_file_metadata",
    "databaseId": "museum",
    "assetId": "statue",
    "filePath": "/a\t\x9b\u202e.glb",
}
EVENT = {"source": "vitrine", "detail-type": "file.changed", "time": "x", "detail": DETAIL}


class Feed:
    """Replaces the queue: batches of messages, and the receipts that were removed."""

    def __init__(self, *batches: list[str]) -> None:
        self.batches, self.removed = list(batches), list[str]()
        self.waited: list[int] = []

    def serve(self, request: httpx.Request) -> httpx.Response:
        body: dict[str, Any] = json.loads(request.content)
        assert (str(request.url), body["QueueUrl"]) == ("http://127.0.0.1:1/", FEED)
        if request.headers["X-Amz-Target"] == "AmazonSQS.DeleteMessage":
            self.removed.append(body["ReceiptHandle"])
            return httpx.Response(200, json={})
        self.waited.append(body["WaitTimeSeconds"])
        if not self.batches:
            return httpx.Response(200, json={})
        bodies = enumerate(self.batches.pop(0))
        messages = [{"Body": text, "ReceiptHandle": f"r{number}"} for number, text in bodies]
        return httpx.Response(200, json={"Messages": messages})


@pytest.fixture
def events_shell(shell: Shell, server: FakeServer) -> Shell:
    place = {"api": API, "adminApiKey": KEY, "admin": ADMIN, "eventFeed": FEED}
    shell.endpoint.write_text(json.dumps(place))
    return shell


def test_events_are_printed_as_lines_or_as_json_and_removed(events_shell: Shell) -> None:
    shell = events_shell
    again = {**EVENT, "detail": {**DETAIL, "id": "e2", "number": 8}}
    feed = Feed([json.dumps(EVENT), json.dumps(again), json.dumps(EVENT)], [json.dumps(EVENT)])
    shell.server.admin = httpx.MockTransport(feed.serve)
    line = "2026-03-01T12:00:00Z\t7\tfile.changed\tmuseum/statue/a \\x9b\\u202e.glb\tann\n"
    assert shell.run("events") == line + line.replace("\t7\t", "\t8\t")
    assert (shell.code, feed.removed, feed.waited) == (0, ["r0", "r1", "r2", "r0"], [0, 0, 0])
    feed.batches.append([json.dumps(EVENT)])
    assert shell.json("events") == EVENT


def test_an_event_is_not_removed_before_it_is_read(events_shell: Shell) -> None:
    shell = events_shell
    feed = Feed([json.dumps(EVENT), "no event"])
    shell.server.admin = httpx.MockTransport(feed.serve)
    shell.run("events", "--follow")
    assert (shell.code, feed.removed, feed.waited) == (1, [], [10])
    assert "no event" in shell.err
    shell.server.admin = httpx.MockTransport(lambda _: httpx.Response(500, text="down"))
    shell.run("events")
    assert (shell.code, shell.err) == (
        1,
        "error: http://127.0.0.1:1/ refused ReceiveMessage: down\n",
    )


def test_a_deployment_without_a_feed_is_named(shell: Shell) -> None:
    shell.run("events")
    assert shell.code == 2
    assert "--endpoint" in shell.err
