"""Reads are reported by every route that gives bytes or URLs, and entered once."""

import json
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from backend.core.errors import UnavailableError
from backend.core.identity import Identity
from backend.core.reads import Read, ReadAsset, UnrecordedReads
from backend.domains.audit.repository import AuditRepository
from backend.domains.audit.rules.reads import FILES_OF_ASSET, MESSAGE_BYTES, PATHS_OF_ASSET
from backend.domains.audit.service.consumers import ReadsConsumer
from backend.domains.audit.service.reads import REMEMBERED, QueuedReads
from backend.domains.downloads import rules as download_rules
from backend.entrypoints.wiring.api import reads as reads_of
from backend.entrypoints.wiring.context import Context
from backend.entrypoints.wiring.downloads import streams
from backend.spec import routes
from backend.spec.functions import FUNCTIONS
from backend.spec.functions.apis import DOWNLOADS_API
from backend.spec.metrics import BATCHES_GIVEN_BACK, Metric
from backend.spec.queues import READS
from backend.spec.settings import AUDIT_READS
from tests.factories.audit import DAYS, entries
from tests.factories.outages import unavailable
from tests.factories.search import NOON
from tests.fakes.objects import MemoryObjects
from tests.fakes.queues import MemoryQueues
from tests.fakes.tables import MemoryTables
from tests.model.deployment import in_memory_settings
from tests.unit.domains.audit.product import Product

ROOT = Path(__file__).resolve().parents[4]
ANN = Identity("ann")
STATUE = {"databaseId": "museum", "assetId": "statue"}
STREAM = Read((ReadAsset("museum", "statue", ("/a.glb",)),), hourly=True)
DOWNLOAD = Read((ReadAsset("museum", "statue", ("/a.glb",)),), urls=True)
PLACES_THAT_READ = {
    "domains/downloads/service.py",
    "domains/exports/service.py",
    "domains/facts/service/glbs.py",
    "domains/files/service/views.py",
    "domains/uploads/service/context.py",
    "search/query/previews.py",
}
"""Modules of slices and of search that presign URLs or read ranges of objects."""


@dataclass
class ReadTrail:
    """Both sides of the queue, and what is between them."""

    queues: MemoryQueues = field(default_factory=MemoryQueues)
    tables: MemoryTables = field(default_factory=MemoryTables)
    rung: list[Metric] = field(default_factory=list[Metric])
    now: datetime = NOON

    def __post_init__(self) -> None:
        self.reads = QueuedReads(self.queues, lambda: self.now)
        self.consumer = ReadsConsumer(
            AuditRepository(self.tables), lambda: DAYS, self.queues, self.rung.append
        )

    def read(self, read: Read, request_id: str = "r1", operation: str = "stream_file") -> None:
        self.reads.record(ANN, operation, request_id, read)

    def deliver(self) -> list[str]:
        """Give the consumer all messages twice; returns those that it did not take."""
        receive = self.queues.receive(self.queues.visible(READS))
        self.consumer.consume({"Records": receive})
        reply = self.consumer.consume({"Records": receive})
        return [failure["itemIdentifier"] for failure in reply["batchItemFailures"]]

    @property
    def entries(self) -> list[dict[str, Any]]:
        return [
            {name: value for name, value in entry.items() if not name.startswith("_")}
            for entry in entries(self.tables)
        ]


@pytest.fixture
def trail() -> ReadTrail:
    return ReadTrail()


def test_a_read_of_many_named_files_has_entries_that_name_each(trail: ReadTrail) -> None:
    names = (f"/{'ä' * 400}-{number:04}.png" for number in range(1500))
    paths = tuple(names)
    trail.read(Read((ReadAsset("museum", "statue", paths),), urls=True, all_named=True))
    assert trail.deliver() == []
    stored = [entry["read"] for entry in trail.entries]
    assert sorted(path for read in stored for path in read["files"]) == list(paths)
    assert sum(read["fileCount"] for read in stored) == 1500
    assert {read["requestId"] for read in stored} == {"r1"}


def test_a_download_is_one_entry_and_other_reads_have_their_own(trail: ReadTrail) -> None:
    trail.read(DOWNLOAD, operation="get_download_url")
    assert len(trail.queues.messages) == 1
    assert trail.deliver() == []
    assert trail.entries == [
        {
            "entity": "read:asset:museum:statue",
            "at": "2026-03-01T12:00:00.000000Z#r1",
            "userId": "ann",
            "operation": "get_download_url",
            "changes": {},
            "read": {"requestId": "r1", "urls": True, "files": ["/a.glb"], "fileCount": 1},
            "expiresAt": int((NOON + timedelta(days=DAYS)).timestamp()),
        }
    ]
    trail.read(STREAM)
    trail.reads.record(Identity("bob"), "stream_file", "r2", STREAM)
    trail.read(STREAM, operation="stream_auxiliary_file")
    trail.read(Read((ReadAsset("museum", "statue", ("/b.glb",)),), hourly=True))
    trail.deliver()
    assert len(trail.entries) == 5


def test_streams_of_an_hour_are_one_message_a_process_and_one_entry() -> None:
    trail = ReadTrail(now=NOON + timedelta(minutes=20))
    for number in range(500):
        trail.read(STREAM, f"r{number}")
    assert len(trail.queues.messages) == 1
    trail.reads = QueuedReads(trail.queues, lambda: trail.now)  # another process
    trail.now += timedelta(minutes=5)
    trail.read(STREAM, "later")
    assert len(trail.queues.messages) == 2
    trail.deliver()
    (entry,) = trail.entries
    assert entry["at"].startswith("2026-03-01T12:00:00.000000Z#")
    assert entry["read"]["firstAt"] == "2026-03-01T12:20:00.000000Z"
    assert entry["read"]["requestId"] == "r0"
    trail.now += timedelta(minutes=40)
    trail.read(STREAM, "next hour")
    trail.deliver()
    assert len(trail.entries) == 2


def test_a_process_remembers_a_limited_number_of_sent_reads(trail: ReadTrail) -> None:
    trail.queues.before = unavailable
    with pytest.raises(UnavailableError):
        trail.read(STREAM)
    trail.queues.before = lambda _: None
    trail.read(STREAM)
    assert len(trail.queues.messages) == 1
    for number in range(REMEMBERED + 1):
        trail.read(Read((ReadAsset("museum", "statue", (f"/{number}",)),), hourly=True))
    trail.read(Read((ReadAsset("museum", "statue", ("/0",)),), hourly=True))
    assert len(trail.queues.messages) == REMEMBERED + 3


def test_an_entry_names_a_limited_number_of_files_and_counts_all(trail: ReadTrail) -> None:
    short, long = (tuple(f"/{n}" + text for n in range(999)) for text in ("", "ä" * 300))
    trail.read(Read((ReadAsset("museum", "few", short), ReadAsset("museum", "bytes", long))))
    trail.deliver()
    result = {entry["entity"]: entry["read"] for entry in trail.entries}
    assert len(result["read:asset:museum:few"]["files"]) == FILES_OF_ASSET
    assert len(json.dumps(result["read:asset:museum:bytes"]["files"])) <= PATHS_OF_ASSET
    assert {item["fileCount"] for item in result.values()} == {999}


def test_no_message_is_too_large_and_no_asset_is_left_out(trail: ReadTrail) -> None:
    name = "𝄞" * 250
    files = tuple(f"/{'𝄞' * 250}{n}" for n in range(100))
    trail.read(Read(tuple(ReadAsset("museum", f"{name}{n}", files) for n in range(1000))))
    assert max(len(message.body) for message in trail.queues.messages) < MESSAGE_BYTES + 1000
    trail.deliver()
    assert len(trail.entries) == 1000
    usual = ReadTrail()
    usual.read(Read(tuple(ReadAsset("museum", f"asset-{n}", files) for n in range(1000))))
    assert len(usual.queues.messages) == 1


def test_after_an_outage_all_messages_come_again(
    monkeypatch: pytest.MonkeyPatch, trail: ReadTrail
) -> None:
    trail.read(DOWNLOAD)
    with monkeypatch.context() as patched:
        patched.setattr(MemoryTables, "write", unavailable)
        assert len(trail.deliver()) == 1
    assert set(trail.rung) == {BATCHES_GIVEN_BACK}
    trail.queues.now = lambda: 1000.0
    assert trail.deliver() == []
    assert len(trail.entries) == 1


def test_a_message_that_reports_no_read_stops_no_other(trail: ReadTrail) -> None:
    trail.queues.send(READS, [{"userId": "ann"}])
    trail.read(DOWNLOAD)
    assert trail.deliver() == [trail.queues.messages[0].id]
    assert len(trail.entries) == 1


def test_of_an_hourly_read_only_what_is_new_is_sent(trail: ReadTrail) -> None:
    def previews(*paths: str) -> Read:
        assets = tuple(ReadAsset("museum", "statue", (path,)) for path in paths)
        return Read(assets, urls=True, hourly=True)

    trail.read(previews("/a.png", "/b.png"), operation="search")
    trail.read(previews("/b.png", "/c.png"), operation="search")
    trail.read(previews("/c.png", "/a.png"), operation="search")
    trail.deliver()
    files = sorted(entry["read"]["files"] for entry in trail.entries)
    assert files == [["/a.png"], ["/b.png"], ["/c.png"]]


def test_every_preview_of_a_page_has_an_entry_also_with_long_paths(trail: ReadTrail) -> None:
    paths = [f"/{number:03}{'é' * 300}.png" for number in range(200)]
    assets = tuple(ReadAsset("museum", "statue", (path,)) for path in paths)
    trail.read(Read(assets, urls=True, hourly=True), operation="search")
    trail.deliver()
    assert sorted(entry["read"]["files"] for entry in trail.entries) == [[path] for path in paths]


@dataclass(frozen=True)
class Ranges:
    """The port `ObjectRanges` over objects in memory."""

    objects: MemoryObjects

    def read(
        self, bucket: str, key: str, *, version_id: str | None, etag: str, span: tuple[int, int]
    ) -> bytes:
        assert version_id or etag
        return b"".join(self.objects.read_chunks(bucket, key))[slice(*span)]


def with_a_file() -> Product:
    product = Product()
    served = replace(streams(product.context), ranges=Ranges(product.objects))
    vars(product.context)["streams"] = served
    bucket = product.send(routes.LIST_BUCKETS).body["Items"][0]["bucketId"]
    made = {"databaseId": "museum", "description": "For reads", "defaultBucketId": bucket}
    product.send(routes.CREATE_DATABASE, body=made)
    asset = {**STATUE, "assetName": "Statue", "description": "Marble", "isDistributable": True}
    assert product.send(routes.CREATE_ASSET, body=asset).status == 200
    product.objects.put(
        "assetbucket", "statue/a.glb", b"glTF", content_type="model/gltf-binary", metadata={}
    )
    return product


def test_every_route_that_returns_bytes_or_urls_reports_it(monkeypatch: pytest.MonkeyPatch) -> None:
    product = with_a_file()
    path = {**STATUE, "proxy": "a.glb"}
    wanted = {"downloadType": "assetFile", "key": "/a.glb"}
    file = {"relativeKey": "/b.glb", "file_size": 4, "num_parts": 1}
    of_asset = {**STATUE, "uploadType": "assetFile"}
    ingested = {**STATUE, "assetName": "Statue", "description": "Marble"}

    assert product.send(routes.DOWNLOAD, parameters=STATUE, body=wanted).status == 200
    assert product.send(routes.STREAM_FILE, parameters=path).status == 200
    assert product.send(routes.HEAD_FILE, parameters=path).status == 200
    monkeypatch.setattr(download_rules, "STREAMED_BYTES", 1)
    assert product.send(routes.STREAM_FILE, parameters=path).status == 307
    urls = {"generatePresignedUrls": True}
    assert product.send(routes.EXPORT_ASSETS, parameters=STATUE, body=urls).status == 200
    assert product.send(routes.EXPORT_ASSETS, parameters=STATUE).status == 200
    begun = product.send(routes.INITIALISE_UPLOAD, body={**of_asset, "files": [file]})
    assert begun.status == 200, begun.body
    upload = {"uploadId": begun.body["uploadId"]}
    more = {"relativeKey": "/b.glb", "partRanges": [{"first": 1, "last": 1}]}
    for request in ([more], [{"relativeKey": "/b.glb"}]):
        renewed = product.send(routes.RENEW_UPLOAD, parameters=upload, body={"files": request})
        assert renewed.status == 200, renewed.body
    files = [{"relativeKey": "statue/c.glb", "file_size": 4, "num_parts": 1}]
    assert product.send(routes.INGEST_ASSET, body={**ingested, "files": files}).status == 200

    assert {user for user, *_ in product.reads.recorded} == {"admin"}
    assert [
        (operation, read.assets[0].files, read.urls, read.hourly)
        for _, operation, _, read in product.reads.recorded
    ] == [
        ("get_download_url", ("/a.glb",), True, False),
        ("stream_file", ("/a.glb",), False, True),
        ("stream_file", ("/a.glb",), True, False),
        ("export_assets", ("/a.glb",), True, False),
        ("export_assets", (), False, False),
        ("initialise_upload", ("/b.glb",), True, False),
        ("renew_upload", ("/b.glb",), True, False),
        ("ingest_asset", ("/c.glb",), True, False),
    ]


def test_what_cannot_be_reported_is_not_given() -> None:
    product = with_a_file()
    product.reads.outage = True
    path = {**STATUE, "proxy": "a.glb"}
    answer = product.send(routes.STREAM_FILE, parameters=path)
    assert (answer.status, answer.body["code"]) == (503, "Unavailable")
    wanted = {"downloadType": "assetFile", "key": "/a.glb"}
    answer = product.send(routes.DOWNLOAD, parameters=STATUE, body=wanted)
    assert (answer.status, "downloadUrl" in answer.body) == (503, False)


def test_no_other_module_returns_bytes_or_urls() -> None:
    backend = ROOT / "backend"
    result = {
        str(path.relative_to(backend))
        for folder in ("domains", "search")
        for path in (backend / folder).rglob("*.py")
        if ".presign_" in (text := path.read_text()) or "ObjectRanges" in text
    }
    assert result == PLACES_THAT_READ
    reporting = {function.domain for function in FUNCTIONS if AUDIT_READS in function.settings}
    assert reporting == {"downloads", "exports", "facts", "uploads", "ingest", "search"}


@pytest.mark.parametrize(("value", "kind"), [("1", QueuedReads), ("0", UnrecordedReads)])
def test_the_setting_switches_reports(value: str, kind: type[object]) -> None:
    settings = in_memory_settings()
    environment = {**settings.environment, AUDIT_READS.variable: value}
    context = Context(DOWNLOADS_API, settings=type(settings)(environment))
    assert type(reads_of(context)) is kind
