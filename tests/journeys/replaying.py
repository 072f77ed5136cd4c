"""Clients that write, and batches and schedules that a test leaves behind."""

import json
import sqlite3
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import boto3
import httpx
from botocore.config import Config

from backend.spec.schedules import SCHEDULES
from local.engines import Options
from local.state import StateFolder
from tests.factories.failures import BATCH_KEY, failed_batch
from tests.factories.search import stream_record
from tests.journeys.runtime import Api, Runtime, noise, put_parts, wait_until

DATABASE = "workshop"
OPTIONS = Options()
SESSION = boto3.Session(
    aws_access_key_id=OPTIONS.access_key,
    aws_secret_access_key=OPTIONS.secret_key,
    region_name=OPTIONS.region,
)
"""For all engines but S3, which checks signatures with `Runtime.keys`."""


def nested_documents(runtime: Runtime, limit: int) -> None:
    """Maximum number of nested documents of an asset.

    With more, OpenSearch refuses the document.
    """
    answer = httpx.put(
        f"{runtime.endpoint['opensearch']}/assets-1/_settings",
        json={"index.mapping.nested_objects.limit": limit},
        timeout=30,
    )
    answer.raise_for_status()


def set_metadata(api: Api, database: str, asset: str, *keys: str) -> None:
    records = [
        {"metadataKey": key, "metadataValue": "brass", "metadataValueType": "string"}
        for key in keys
    ]
    path = f"/database/{database}/assets/{asset}/metadata"
    api.ok("POST", path, {"metadata": records})


def dead_letter(runtime: Runtime, bucket: str, key: str) -> None:
    """Put an object event into the queue where EventBridge puts undeliverable events."""
    url = runtime.admin("GET", "/health")["engines"]["queues"]["url"]
    sqs: Any = SESSION.client("sqs", endpoint_url=url)
    (queue,) = (
        item for item in sqs.list_queues().get("QueueUrls", []) if "ObjectEventsDeadLetters" in item
    )
    event = {
        "source": "aws.s3",
        "detail-type": "Object Created",
        "detail": {"bucket": {"name": bucket}, "object": {"key": key}},
    }
    sqs.send_message(QueueUrl=queue, MessageBody=json.dumps(event))


def s3_of(runtime: Runtime) -> Any:
    config = Config(signature_version="s3v4")
    return SESSION.client("s3", endpoint_url=runtime.endpoint["s3"], config=config, **runtime.keys)


def failure_bucket(s3: Any) -> str:
    names = [bucket["Name"] for bucket in s3.list_buckets()["Buckets"]]
    (item,) = (name for name in names if "failurebucket" in name.replace("-", "").lower())
    return item


def abandon_batch(runtime: Runtime, database: str, asset: str) -> None:
    """Store a batch of a stream as Lambda does after a consumer's last attempt."""
    record = stream_record({"databaseId": database, "assetId": asset}, {})
    s3 = s3_of(runtime)
    s3.put_object(Bucket=failure_bucket(s3), Key=BATCH_KEY, Body=json.dumps(failed_batch([record])))
    (listed,) = runtime.client().ok("GET", "/admin/failures")["Items"]
    assert (listed["key"], listed["consumer"], listed["attempts"]) == (BATCH_KEY, "IndexChanges", 0)


def let_schedules_be_due(runtime: Runtime) -> None:
    """Set the last run of all schedules to a time days ago, as after a long stop of the runtime."""
    base = sqlite3.connect(StateFolder(runtime.state).journal)
    with base:
        assert base.execute("UPDATE schedules SET last = 0").rowcount == len(SCHEDULES)
    base.close()


def break_something(runtime: Runtime) -> None:
    """Create an asset in the database `workshop` that OpenSearch refuses, and a dead letter."""
    api = runtime.client()
    api.new_database(DATABASE)
    pump, gear = (api.new_asset(DATABASE, name) for name in ("Pump", "Gear"))
    api.upload(DATABASE, gear, {"/gear.stl": [noise(100, "gear")]})
    runtime.drain()
    nested_documents(runtime, 1)
    set_metadata(api, DATABASE, pump, "material", "maker")
    set_metadata(api, DATABASE, gear, "material")
    runtime.drain()
    dead_letter(runtime, api.own_bucket()["bucketName"], f"{gear}/gear.stl")


def follow_the_guide(runtime: Runtime, say: Callable[[str], str], written: list[str]) -> None:
    """Run the guide's commands in their order, after `break_something`.

    Args:
        runtime: a runtime that no other test uses meanwhile.
        say: runs a command against that runtime and returns what it prints.
        written: the guide's five commands.
    """
    api = runtime.client()
    listing, show, replay, queues, redrive = written

    def found() -> set[str]:
        hits = api.search(databaseId=DATABASE, metadataKey="material")
        return {hit["str_assetname"] for hit in hits}

    (stub,) = api.search(databaseId=DATABASE, assetName="Pump")
    assert "MD_" not in stub
    assert found() == {"Gear"}
    assert "IndexChanges" in say(listing)
    assert "nested documents" in say(listing)
    assert f"assets-1/{DATABASE}:" in say(show)
    nested_documents(runtime, 10_000)
    assert "replayed\tIndexChanges/" in say(replay)
    assert say(listing) == ""
    wait_until(lambda: found() == {"Pump", "Gear"})  # after the next refresh
    assert "ObjectEvents\t0\t0\t0\t1\t" in say(queues)
    assert say(redrive) == "ObjectEvents\t1\n"
    wait_until(lambda: "ObjectEvents\t0\t0\t0\t0\tcompleted" in say(queues))
    runtime.drain()
    assert len(api.search(databaseId=DATABASE, entityTypes=["file"])) == 1


OUTAGES = {503, 504}
"""Statuses that clients may receive while an engine is unavailable; never a 500."""


PATIENCE = 900
"""Seconds within which a started process must reply, also on a busy machine."""


@dataclass(frozen=True)
class PatientApi(Api):
    """Repeats requests without a reply or with a 503: for use after a restart."""

    def send(self, method: str, path: str, body: Any = None, **more: Any) -> httpx.Response:
        deadline = time.monotonic() + PATIENCE
        while True:
            with suppress(httpx.TransportError):
                answer = super().send(method, path, body, **more)
                if answer.status_code not in OUTAGES:
                    return answer
            assert time.monotonic() < deadline, f"{method} {path}: no answer in {PATIENCE} s"
            time.sleep(0.5)


@dataclass
class Load:
    """Writers of one database; `acknowledged` has the confirmed writes by asset id."""

    database: str
    acknowledged: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    refused: list[str] = field(default_factory=list[str])
    wrong: list[str] = field(default_factory=list[str])
    stopped: threading.Event = field(default_factory=threading.Event)

    def write(self, api: Api, writer: int) -> None:
        """Create assets with a file and metadata, and rename them, until the stop event is set."""
        number = 0
        while not self.stopped.is_set():
            number += 1
            try:
                self._one(api, f"w{writer}-{number}")
            # the runtime or S3 does not respond, or a reply was lost
            except httpx.HTTPError as error:
                self.refused.append(repr(error))
                self.stopped.wait(0.2)

    def _one(self, api: Api, name: str) -> None:
        body: dict[str, Any] = {
            "databaseId": self.database,
            "assetId": f"{self.database}-{name}",
            "assetName": name,
            "description": "made under load",
            "isDistributable": True,
            "tags": [],
        }
        made = self._sent(api, "POST", "/assets", body)
        if made is None:
            return
        asset = made["assetId"]
        known = self.acknowledged[asset] = {"name": name}
        path = f"/database/{self.database}/assets/{quote(asset)}"
        entry = {"metadataKey": "k", "metadataValue": name, "metadataValueType": "string"}
        if self._sent(api, "POST", f"{path}/metadata", {"metadata": [entry]}) is not None:
            known["metadata"] = {"k": name}
        if self._uploaded(api, asset):
            known["files"] = {"/a.stl"}
        known["name"] = None  # the effect of a request whose reply was lost is not known
        if self._sent(api, "PUT", path, {"assetName": f"{name} again"}) is not None:
            known["name"] = f"{name} again"

    def _uploaded(self, api: Api, asset: str) -> bool:
        scope = {"assetId": asset, "databaseId": self.database, "uploadType": "assetFile"}
        content = noise(50, asset)
        wanted = [{"relativeKey": "/a.stl", "num_parts": 1, "file_size": len(content)}]
        begun = self._sent(api, "POST", "/uploads", {**scope, "files": wanted})
        if begun is None:
            return False
        done = put_parts(begun["files"][0], [content])
        complete = f"/uploads/{begun['uploadId']}/complete"
        reply = self._sent(api, "POST", complete, {**scope, "files": [done]})
        return reply is not None and reply["overallSuccess"]

    def _sent(self, api: Api, method: str, path: str, body: Any) -> Any:
        """Return the body of a reply; None if the request was refused."""
        reply = api.send(method, path, body)
        if reply.status_code == 200:
            return reply.json()
        self.refused.append(f"{method} {path}: {reply.status_code}")
        if reply.status_code not in OUTAGES and reply.status_code >= 500:
            self.wrong.append(f"{method} {path}: {reply.status_code} {reply.text}")
        self.stopped.wait(0.1)
        return None


@contextmanager
def load(runtime: Runtime, database: str, *, writers: int = 2) -> Generator[Load]:
    """Run writers while the block runs; then stop them."""
    result = Load(database)
    clients = [runtime.client() for _ in range(writers)]
    threads = [
        threading.Thread(target=result.write, args=(client, number))
        for number, client in enumerate(clients)
    ]
    for thread in threads:
        thread.start()
    try:
        yield result
    finally:
        result.stopped.set()
        for thread in threads:
            thread.join()


def stored(api: Api, database: str) -> dict[str, Any]:
    """The content of tables and S3, as returned by the API, by the name of each document."""
    result: dict[str, Any] = {}
    for asset in all_assets(api, database):
        path = f"/database/{database}/assets/{quote(asset['assetId'])}"
        records = api.ok("GET", f"{path}/metadata")["metadata"]
        result[asset["assetId"]] = (
            asset["assetName"],
            asset["assetType"],
            {record["metadataKey"]: record["metadataValue"] for record in records},
        )
        for file in files_of(api, path):
            result[file["key"]] = (asset["assetName"], file["size"])
    return result


def files_of(api: Api, asset: str) -> list[Any]:
    """The listed files of an asset (a path), without folders, on one page."""
    items = api.ok("GET", f"{asset}/listFiles")["items"]
    return [item for item in items if not item["isFolder"]]


def all_assets(api: Api, database: str) -> list[Any]:
    result: list[Any] = []
    query = "?pageSize=100"
    while True:
        page = api.ok("GET", f"/database/{database}/assets{query}")
        result += page["Items"]
        if not page.get("NextToken"):
            return result
        query = f"?pageSize=100&startingToken={quote(page['NextToken'])}"


def indexed(api: Api, database: str) -> dict[str, Any]:
    """The content of the indexes, in the form of `stored`."""
    return {
        item.get("str_key", item["str_assetid"]): (
            (item["str_assetname"], item["num_filesize"])
            if item["_rectype"] == "file"
            else (item["str_assetname"], item["str_assettype"], item.get("MD_", {}))
        )
        for item in api.search(databaseId=database)
    }


def drift(api: Api, database: str) -> dict[str, Any]:
    """The differences between index and tables: both sides of each."""
    there, ours = indexed(api, database), stored(api, database)
    return {
        name: (there.get(name), ours.get(name))
        for name in there.keys() | ours.keys()
        if there.get(name) != ours.get(name)
    }
