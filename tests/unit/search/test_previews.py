"""Pictures of hits: who gets an address of which preview, and what is said instead."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from backend.core.authorization import Secured
from backend.core.identity import Identity
from backend.domains.assets.service.commands import AssetService
from backend.domains.facts.repository import FactRepository
from backend.domains.metadata.models import Entity, Record
from backend.search.indexing.projections import document_id
from backend.search.indexing.state import FIRST_POINTER, Reading, SearchState
from backend.search.query.cursors import Cursors
from backend.search.query.freshness import Freshness
from backend.search.query.previews import PreviewQueries
from backend.search.query.routes import build_router
from backend.search.query.service import SearchService
from backend.spec.routes import Action, Route
from backend.spec.search_indexes import (
    ASSET_INDEX,
    FIELD_SINCE,
    FILE_INDEX,
    MAPPING_VERSION,
    PREVIEW_VERSION,
)
from tests.factories.access import OnlyUser
from tests.factories.assets import NOON, asset_service, created_asset, created_database
from tests.factories.http import Client, RecordedReads, Response
from tests.factories.metadata import record_service
from tests.factories.quarantine import ScanWorld, quarantine, scan_event
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables
from tests.unit.domains.access.matrix.searching import FilteringEngine

BUCKET = "assetbucket"


class SigningStore(MemoryObjects):
    """A store that only signs."""

    def head(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("a request to S3")

    list_objects = list_versions = read_start = head  # type: ignore[assignment]


@dataclass
class Door:
    """The permission port, which may close the route of downloads, or hide an asset."""

    may_download: bool = True
    hidden: set[str] = field(default_factory=set[str])

    def may_use(self, caller: Identity, route: Route, path: Mapping[str, str]) -> bool:
        return self.may_download or route.name != "get_download_url"

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        return target.fields.get("assetName") not in self.hidden


class SearchedMuseum:
    """A museum whose documents are searched."""

    def __init__(self, *, scans: bool = False, mapping_version: int = MAPPING_VERSION) -> None:
        self.tables, self.door = MemoryTables(), Door()
        self.processing, self.requested = True, list[str]()
        self.assets: AssetService = asset_service(self.tables, MemoryObjects())
        created_database(self.assets)
        self.documents: list[dict[str, Any]] = []
        self.reads = RecordedReads()
        self.mapping_version = mapping_version
        viewed = replace(self.assets, authorization=self.door)
        self.previews = PreviewQueries(
            assets=viewed,
            facts=FactRepository(self.tables),
            quarantine=quarantine(self.tables, scans=scans),
            objects=SigningStore(),
            authorization=self.door,
            is_processed=self.is_processed,
            url_seconds=900,
            clock=lambda: NOON,
        )

    def is_processed(self, database_id: str) -> bool:
        self.requested.append(database_id)
        return self.processing

    def read_names(self) -> Reading:
        return Reading(FIRST_POINTER, self.mapping_version)

    def mapping_version_read(self) -> int:
        return self.mapping_version

    def asset(self, name: str = "statue", *, is_distributable: bool = True, **more: Any) -> None:
        created_asset(self.assets, name, name=name, is_distributable=is_distributable)
        index = ASSET_INDEX
        self._add(index.record_type, document_id("museum", name), name, more)

    def file(self, path: str, name: str = "statue", **more: Any) -> None:
        key = f"{name}{path}"
        about = {"str_key": key, "str_s3_version_id": "v1", **more}
        self._add(FILE_INDEX.record_type, document_id("museum", name, key), name, about)

    def shown(self, path: str, name: str = "statue", version: str = "p1", **more: Any) -> None:
        """A file with a preview."""
        preview = {"str_previewfilekey": f"{name}{path}.previewFile.png"}
        self.file(path, name, str_previewversionid=version, **preview, **more)

    def _add(self, kind: str, name: str, asset_id: str, more: Mapping[str, Any]) -> None:
        ids = {"str_databaseid": "museum", "str_assetid": asset_id, "str_assetname": asset_id}
        stored = {"str_bucketname": BUCKET, "str_bucketprefix": "/"}
        self.documents.append({"_id": name, "_rectype": kind, **ids, **stored, **more})

    def store_facts(self, path: str, version: str, **facts: str) -> None:
        records = record_service(self.assets, self.tables)
        stored = {"fact_sourceVersionId": version, **facts}
        made = [Record(metadata_key=key, metadata_value=text) for key, text in stored.items()]
        records.put_facts(Entity("museum", "statue", path, "attribute"), made)

    def client(self) -> Client:
        engine = FilteringEngine(documents=self.documents)
        service = SearchService(
            engine=engine,
            state=cast("SearchState", self),
            visibility=OnlyUser(),
            cursors=cast("Cursors", None),
            freshness=lambda: cast("Freshness", None),
            previews=lambda: self.previews,
        )
        return Client(build_router(service), authorization=self.door, reads=self.reads)

    def search(self, **body: Any) -> Response:
        wanted = {"previews": True, "aggregations": False, **body}
        return self.client().send("POST", "/search", body=wanted)

    def request_previews(self, *items: dict[str, Any]) -> Response:
        return self.client().send("POST", "/previews", body={"items": list(items)})


@pytest.fixture
def hall() -> SearchedMuseum:
    return SearchedMuseum()


def hits(answer: Response) -> dict[str, Any]:
    """The hits by path or asset id."""
    assert answer.status == 200, answer.body
    rows = answer.body["hits"]["hits"]
    return {hit["_source"].get("str_key", hit["_source"]["str_assetid"]): hit for hit in rows}


def reasons(answer: Response) -> dict[str, str]:
    return {
        name: hit["previewMissing"]["reason"] if "preview" not in hit else "shown"
        for name, hit in hits(answer).items()
    }


def test_hits_have_addresses_only_if_they_are_requested(hall: SearchedMuseum) -> None:
    hall.asset()
    hall.shown("/a.obj")
    plain = hits(hall.search(previews=False))["statue/a.obj"]
    assert not {"preview", "previewMissing"} & plain.keys()
    assert hall.reads.recorded == []
    preview = hits(hall.search())["statue/a.obj"]["preview"]
    assert preview["url"] == f"memory://{BUCKET}/statue/a.obj.previewFile.png"
    assert preview["expiresAt"] == "2026-03-01T12:15:00.000000Z"
    # An id changes with the picture, and with nothing else.
    assert hits(hall.search(size=7))["statue/a.obj"]["preview"]["id"] == preview["id"]
    hall.documents[-1]["str_previewversionid"] = "p2"
    assert hits(hall.search())["statue/a.obj"]["preview"]["id"] != preview["id"]


def test_generated_previews_have_the_address_of_a_small_picture_too(hall: SearchedMuseum) -> None:
    hall.asset()
    hall.shown("/a.obj", str_smallpreviewversionid="s1")
    hall.shown("/b.obj")
    hall.asset(
        "made",
        str_previewfilekey="previews/made/generated/preview.png",
        str_previewversionid="p1",
        str_smallpreviewversionid="s1",
    )
    by_name = hits(hall.search())
    assert [by_name[name]["preview"].get("smallUrl") for name in ("statue/a.obj", "made")] == [
        f"memory://{BUCKET}/statue/a.obj.previewFile.webp",
        f"memory://{BUCKET}/previews/made/generated/preview.webp",
    ]
    assert "smallUrl" not in by_name["statue/b.obj"]["preview"]
    about = {"databaseId": "museum", "assetId": "statue", "key": "/a.obj"}
    (named,) = hall.request_previews(about).body["items"]
    assert named["preview"]["smallUrl"] == by_name["statue/a.obj"]["preview"]["smallUrl"]


def test_assets_show_previews_of_their_own_only(hall: SearchedMuseum) -> None:
    for name, key in (
        ("uploaded", "previews/uploaded/front.png"),
        ("root", "root/preview.png"),
        ("other", "uploaded/secret.png"),
        ("strange", "previews/uploaded/front.png"),
        ("bare", None),
    ):
        hall.asset(name, str_previewfilekey=key, str_previewversionid="p1")
    assert reasons(hall.search()) == {
        "uploaded": "shown",
        "root": "shown",
        **dict.fromkeys(("other", "strange", "bare"), "none"),
    }
    hall.asset()
    hall.file("/a.obj", str_previewfilekey="statue/b.obj.previewFile.png", str_previewversionid="1")
    hall.file("/c.obj", str_previewfilekey="statue/secret.obj", str_previewversionid="1")
    shown = {why for name, why in reasons(hall.search()).items() if name.startswith("statue")}
    assert shown <= {"none", "inspecting"}


def test_files_without_a_preview_have_the_reason(hall: SearchedMuseum) -> None:
    hall.asset()
    for path in ("/new.obj", "/broken.obj", "/empty.obj", "/notes.txt"):
        hall.file(path)
    hall.file("/old.obj", bool_archived=True)
    hall.store_facts("/new.obj", "v0")
    hall.store_facts("/broken.obj", "v1", fact_refused="line 7 is cut off")
    hall.store_facts("/empty.obj", "v1")
    reply = hall.search(includeArchived=True)
    assert {name.removeprefix("statue"): why for name, why in reasons(reply).items()} == {
        "": "none",
        "/new.obj": "inspecting",
        "/broken.obj": "refused",
        "/empty.obj": "none",
        "/notes.txt": "none",
        "/old.obj": "archived",
    }
    assert hits(reply)["statue/broken.obj"]["previewMissing"]["message"] == "line 7 is cut off"


def test_no_file_waits_for_an_inspection_in_a_database_without_processing(
    hall: SearchedMuseum,
) -> None:
    hall.asset()
    for path in ("/new.obj", "/newer.obj", "/broken.obj", "/notes.txt"):
        hall.file(path)
    hall.store_facts("/broken.obj", "v1", fact_refused="line 7 is cut off")
    hall.processing = False
    reply = hall.search()
    assert {name.removeprefix("statue"): why for name, why in reasons(reply).items()} == {
        "": "none",
        "/new.obj": "none",
        "/newer.obj": "none",
        "/broken.obj": "refused",
        "/notes.txt": "none",
    }
    message = hits(reply)["statue/new.obj"]["previewMissing"]["message"]
    assert message == "Files of this database are not inspected when they are uploaded"
    assert hall.requested == ["museum"], "one read a database, however many files wait"


def test_what_may_not_be_downloaded_has_no_address(hall: SearchedMuseum) -> None:
    hall.asset()
    hall.asset("kept", is_distributable=False)
    hall.asset("hidden")
    for name in ("statue", "kept", "hidden"):
        hall.shown("/a.obj", name)
    hall.door.hidden = {"hidden"}  # by a rule that the index did not see yet
    answer = hall.search()
    assert reasons(answer)["statue/a.obj"] == "shown"
    assert reasons(answer)["kept/a.obj"] == "notDistributable"
    assert reasons(answer)["hidden/a.obj"] in {"none", "inspecting"}
    hall.door.may_download = False
    assert set(reasons(hall.search()).values()) <= {"notPermitted", "none", "inspecting"}
    assert "memory://" not in str(hall.search().body)


def test_files_and_previews_in_which_a_scan_found_a_threat_have_no_address() -> None:
    hall = SearchedMuseum(scans=True)
    hall.asset()
    hall.shown("/bad.obj")
    hall.shown("/replaced.obj", str_s3_version_id="v2")
    hall.file("/waiting.obj")
    hall.shown("/unversioned.obj", version="null:etag", str_s3_version_id="null")
    hall.shown("/picture.obj", version="null:etag")
    hall.shown("/small.obj", str_smallpreviewversionid="s1")
    world = ScanWorld(hall.tables)
    for name in ("bad", "replaced", "waiting"):
        world.deliver_events(scan_event(f"statue/{name}.obj", "v1"))
    world.deliver_events(scan_event("statue/unversioned.obj", None))
    world.deliver_events(scan_event("statue/picture.obj.previewFile.png", None))
    world.deliver_events(scan_event("statue/small.obj.previewFile.webp", "s1"))
    answer = hall.search()
    assert {name.removeprefix("statue"): why for name, why in reasons(answer).items()} == {
        "": "none",
        "/bad.obj": "quarantined",
        "/replaced.obj": "shown",
        "/waiting.obj": "quarantined",
        "/unversioned.obj": "quarantined",
        "/picture.obj": "quarantined",
        "/small.obj": "quarantined",
    }
    said = {
        name: hit.get("previewMissing", {}).get("message") for name, hit in hits(answer).items()
    }
    assert said["statue/bad.obj"] == "A malware scan found a threat in the file"
    assert said["statue/picture.obj"] == "A malware scan found a threat in the preview"
    about = {"databaseId": "museum", "assetId": "statue", "key": "/bad.obj"}
    (named,) = hall.request_previews(about).body["items"]
    assert named["previewMissing"]["reason"] == "quarantined"
    recorded = [
        path for *_, read in hall.reads.recorded for asset in read.assets for path in asset.files
    ]
    assert recorded == ["/replaced.obj.previewFile.png"]


def test_each_preview_is_recorded_as_an_hourly_read(hall: SearchedMuseum) -> None:
    hall.asset()
    for path in ("/a.obj", "/b.obj", "/c.txt"):
        (hall.file if path == "/c.txt" else hall.shown)(path)
    hall.search()
    ((user, operation, _, read),) = hall.reads.recorded
    assert (user, operation, read.hourly, read.urls) == ("admin", "search", True, True)
    paths = [("/a.obj.previewFile.png",), ("/b.obj.previewFile.png",)]
    assert [(asset.database_id, asset.asset_id, asset.files) for asset in read.assets] == [
        ("museum", "statue", path) for path in paths
    ]


def test_without_the_audit_log_there_are_hits_but_no_addresses(hall: SearchedMuseum) -> None:
    hall.asset()
    hall.shown("/a.obj")
    hall.file("/c.txt")
    hall.reads.outage = True
    answer = hall.search()
    assert answer.status == 200
    assert "audit log" in answer.body["previewsOmitted"]
    assert hits(answer).keys() == {"statue", "statue/a.obj", "statue/c.txt"}
    assert "memory://" not in str(answer.body)
    answer = hall.request_previews({"databaseId": "museum", "assetId": "statue", "key": "/a.obj"})
    assert (answer.status, answer.body["items"]) == (200, [])
    assert "audit log" in answer.body["previewsOmitted"]


def test_replies_from_indexes_of_an_earlier_version_have_no_previews_and_the_reason() -> None:
    hall = SearchedMuseum(mapping_version=FIELD_SINCE[PREVIEW_VERSION] - 1)
    hall.asset()
    hall.shown("/a.obj")
    answer = hall.search()
    assert "reindex" in answer.body["reindexDue"]
    assert all("preview" not in hit for hit in hits(answer).values())
    named = hall.request_previews({"databaseId": "museum", "assetId": "statue"})
    assert (named.body["items"], "reindex" in named.body["reindexDue"]) == ([], True)


def test_previews_that_the_caller_holds_are_named_and_not_signed_again(
    hall: SearchedMuseum,
) -> None:
    hall.asset()
    hall.shown("/a.obj")
    hall.shown("/b.obj")
    first = hits(hall.search())
    held = first["statue/a.obj"]["preview"]["id"]
    hall.reads.recorded.clear()
    later = hits(hall.search(heldPreviews=[held, "0" * 32]))
    assert later["statue/a.obj"]["previewHeld"] == held
    assert "preview" not in later["statue/a.obj"]
    assert later["statue/b.obj"]["preview"] == first["statue/b.obj"]["preview"]
    ((*_, read),) = hall.reads.recorded
    assert [asset.files for asset in read.assets] == [("/b.obj.previewFile.png",)]
    hall.door.may_download = False
    denied = hits(hall.search(heldPreviews=[held]))["statue/a.obj"]
    assert (denied["previewMissing"]["reason"], "previewHeld" in denied) == ("notPermitted", False)


@pytest.mark.parametrize("held", [["0" * 32] * 201, ["0" * 31], ["G" * 32], [7], "0" * 32])
def test_held_previews_are_at_most_200_ids(hall: SearchedMuseum, held: object) -> None:
    refused = hall.search(heldPreviews=held)
    assert (refused.status, "heldPreviews" in refused.body["message"]) == (400, True)
    assert hall.search(heldPreviews=["0" * 32], previews=False).status == 400


def test_pages_with_previews_have_at_most_200_hits(hall: SearchedMuseum) -> None:
    assert hall.search(size=200).status == 200
    refused = hall.search(size=201)
    assert (refused.status, "200" in refused.body["message"]) == (400, True)
    asset = {"databaseId": "museum", "assetId": "statue"}
    assert hall.request_previews(*[asset] * 201).status == 400
    assert hall.request_previews().status == 400


def test_previews_are_found_by_name_in_the_order_of_the_request(hall: SearchedMuseum) -> None:
    hall.asset()
    hall.shown("/a.obj")
    hall.file("/c.txt")
    about = {"databaseId": "museum", "assetId": "statue"}
    answer = hall.request_previews(
        {**about, "key": "/c.txt"},
        {**about, "key": "statue/a.obj"},
        about,
        {**about, "key": "/none.obj"},
        {"databaseId": "museum", "assetId": "nobody"},
        {"databaseId": "elsewhere", "assetId": "statue"},
    )
    assert answer.status == 200, answer.body
    names = [item.get("key") for item in answer.body["items"]]
    assert names == ["/c.txt", "statue/a.obj", None]
    assert ["preview" in item for item in answer.body["items"]] == [False, True, False]
    ((_, operation, _, _),) = hall.reads.recorded
    assert operation == "list_previews"


def test_names_that_are_no_files_are_refused(hall: SearchedMuseum) -> None:
    hall.asset()
    about = {"databaseId": "museum", "assetId": "statue"}
    for key in ("/../a", "/folder/", "", "/a//b"):
        answer = hall.request_previews(about, {**about, "key": key})
        assert answer.status == 400, key
        assert "items.1.key" in str(answer.body), key
