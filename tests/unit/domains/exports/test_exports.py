"""Exporting an asset and the tree below it, and how it reads the metadata of many files."""

import json
import re
from datetime import timedelta
from typing import Any

import pytest

from backend.core.paging import Page, PageRequest
from backend.core.references import AssetRef
from backend.core.tables import Query
from backend.core.transactions import Item
from backend.domains.assets.models import Asset
from backend.domains.exports import rules, service
from backend.domains.metadata.models import Entity, LinkEntity, NewRecord
from backend.spec import routes
from backend.spec.routes import Route
from tests.factories.access import Without
from tests.factories.assets import ADMIN, created_asset
from tests.factories.exports import Exports, exports
from tests.factories.lifecycle import ManualClock
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables
from tests.unit.domains.asset_links.test_links import NotNamed, archive


@pytest.fixture
def museum() -> Exports:
    return exports(MemoryTables(), MemoryObjects())


def describe(museum: Exports, entity: Any, key: str, value: str) -> None:
    record = NewRecord(metadata_key=key, metadata_value_type="string", metadata_value=value)
    museum.service.records.add_records(ADMIN, entity, [record])


def hall(museum: Exports) -> Asset:
    asset = museum.service.assets.find_asset("museum", "hall")
    assert asset is not None
    return asset


def record_type(museum: Exports, path: str) -> None:
    """Note that a file may have a primary type, as the change does that sets it."""
    museum.service.assets.record_typed_file(hall(museum), path)


def ids(body: Any) -> list[str]:
    return [asset.get("assetid") or asset["assetId"] for asset in body["assets"]]


def paths(asset: Any) -> list[str]:
    return [file["relativePath"] for file in asset["files"]]


def test_an_asset_is_returned_with_its_children_and_the_links_to_them(museum: Exports) -> None:
    describe(museum, LinkEntity("link-1", ("museum",)), "place", "north")
    answer = museum.export()
    assert answer.status == 200
    body = answer.body
    assert ids(body) == ["hall", "statue"]
    assert [asset["is_root_lookup_asset"] for asset in body["assets"]] == [True, False]
    assert (body["totalAssetsInTree"], body["assetsInThisPage"]) == (2, 2)
    assert "NextToken" not in body
    assert body["relationships"] == [
        {
            "parentAssetId": "hall",
            "parentAssetDatabaseId": "museum",
            "childAssetId": "statue",
            "childAssetDatabaseId": "museum",
            "assetLinkType": "parentChild",
            "assetLinkId": "link-1",
            "assetLinkAliasId": "left",
            "metadata": {"place": {"valueType": "string", "value": "north"}},
        }
    ]


def test_what_is_reported_of_an_asset_is_complete(museum: Exports) -> None:
    describe(museum, Entity("museum", "hall"), "colour", "red")
    hall = museum.export().body["assets"][0]
    bucket = museum.service.assets.buckets.get_bucket(hall.pop("bucketid"))
    assert hall.pop("asset_version_createdate").startswith("2026-03-01T12")
    assert hall == {
        "is_root_lookup_asset": True,
        "id": "hall",
        "databaseid": "museum",
        "assetid": "hall",
        "assetname": "The hall",
        "bucketname": bucket.bucket_name,
        "bucketprefix": bucket.base_assets_prefix,
        "assettype": "none",
        "description": "Made of marble",
        "isdistributable": False,
        "tags": ["red"],
        "asset_version_id": "0",
        "asset_version_comment": "The asset was created",
        "archived": False,
        "metadata": {"colour": {"valueType": "string", "value": "red"}},
        "files": [],
    }


def test_a_file_is_returned_with_its_metadata_and_its_attributes(museum: Exports) -> None:
    record_type(museum, "/a.glb")
    museum.put("hall", "/a.glb", **{"vams-primarytype": "primary"})
    describe(museum, Entity("museum", "hall", "/a.glb"), "scale", "1:1")
    describe(museum, Entity("museum", "hall", "/a.glb", "attribute"), "seen", "yes")
    (reply,) = museum.export().body["assets"][0]["files"]
    assert (reply["fileName"], reply["size"], reply["primaryType"]) == ("a.glb", 5, "primary")
    assert reply["metadata"] == {"scale": {"valueType": "string", "value": "1:1"}}
    assert reply["attributes"] == {"seen": {"valueType": "string", "value": "yes"}}
    assert reply["presignedFileDownloadUrl"] is None


def test_the_whole_tree_is_returned_on_request_or_one_asset_alone(museum: Exports) -> None:
    created_asset(museum.service.assets, "nail", database_id="depot")
    museum.links.link("plinth", "nail", toAssetDatabaseId="depot")
    museum.links.link("hall", "plinth")
    body = museum.export(fetchEntireChildrenSubtrees=True).body
    assert ids(body) == ["hall", "nail", "plinth", "statue"]
    assert len(body["relationships"]) == 4
    links = museum.service.links
    service = museum.service.assets
    few = museum.with_room(
        links=type(links)(links.links, service, service.authorization, max_nodes=2)
    )
    answer = few.export(fetchEntireChildrenSubtrees=True)
    assert (answer.status, answer.body["code"]) == (413, "AssetTreeTooLarge")
    alone = few.export(fetchAssetRelationships=False).body
    assert ids(alone) == ["hall"]
    assert "relationships" not in alone
    assert alone["totalAssetsInTree"] == 1


def test_parents_are_returned_by_their_links_on_request(museum: Exports) -> None:
    body = museum.export("statue", includeParentRelationships=True).body
    assert ids(body) == ["statue", "plinth"]
    ends = {
        (relationship["parentAssetId"], relationship["childAssetId"])
        for relationship in body["relationships"]
    }
    assert ends == {("statue", "plinth"), ("hall", "statue")}
    assert len(museum.export("statue").body["relationships"]) == 1


def test_flags_leave_metadata_and_files_out(museum: Exports) -> None:
    for path in ("/a.glb", "/b.PNG", "/sub/c.txt"):
        museum.put("hall", path)
    record_type(museum, "/d.glb")
    museum.put("hall", "/d.glb", **{"vams-primarytype": "lod1"})
    describe(museum, Entity("museum", "hall"), "colour", "red")
    describe(museum, Entity("museum", "hall", "/a.glb"), "scale", "1:1")
    describe(museum, LinkEntity("link-1", ("museum",)), "place", "north")
    bare = museum.export(
        includeFileMetadata=False, includeAssetMetadata=False, includeAssetLinkMetadata=False
    ).body
    assert bare["assets"][0]["metadata"] == bare["relationships"][0]["metadata"] == {}
    assert {str(file["metadata"]) for file in bare["assets"][0]["files"]} == {"{}"}
    assert paths(bare["assets"][0]) == ["/a.glb", "/b.PNG", "/d.glb", "/sub/c.txt"]
    folders = museum.export(includeFolderFiles=True).body["assets"][0]
    assert "/sub/" in paths(folders)
    some = museum.export(fileExtensions=[".GLB", ".png"]).body["assets"][0]
    assert paths(some) == ["/a.glb", "/b.PNG", "/d.glb"]
    primary = museum.export(includeOnlyPrimaryTypeFiles=True).body["assets"][0]
    assert paths(primary) == ["/d.glb"]
    for name in ("a.glb", "b.PNG", "d.glb", "sub/c.txt"):
        museum.objects.delete("assetbucket", hall(museum).asset_location.key + name)
    assert museum.export().body["assets"][0]["files"] == []
    reply = museum.export(includeArchivedFiles=True, generatePresignedUrls=True).body
    assert {file["isArchived"] for file in reply["assets"][0]["files"]} == {True}


def test_urls_are_made_of_files_that_are_for_download(museum: Exports) -> None:
    museum.put("hall", "/a.glb")
    museum.put("statue", "/b.glb")
    hall, statue = museum.export(generatePresignedUrls=True).body["assets"]
    assert hall["files"][0]["presignedFileDownloadUrl"] is None
    assert "b.glb" in statue["files"][0]["presignedFileDownloadUrl"]
    assert statue["files"][0]["presignedFileDownloadExpiresIn"] == 900


def test_pages_return_each_asset_once_and_links_on_the_first(museum: Exports) -> None:
    pages = museum.pages(fetchEntireChildrenSubtrees=True, maxAssets=1)
    assert [ids(page) for page in pages] == [["hall"], ["plinth"], ["statue"]]
    assert [len(page.get("relationships", [])) for page in pages] == [2, 0, 0]
    assert {page["totalAssetsInTree"] for page in pages} == {3}


@pytest.mark.parametrize("most", [1, 2, 3, 4, 7, 100])
def test_a_page_has_at_most_the_files_that_are_requested(museum: Exports, most: int) -> None:
    for asset_id, number in (("hall", 4), ("statue", 2)):
        for file in range(number):
            museum.put(asset_id, f"/{file}.txt")
            museum.put(asset_id, f"/{file}.png")
    wanted: dict[str, Any] = {"fetchEntireChildrenSubtrees": True, "fileExtensions": [".txt"]}
    (whole,) = museum.pages(**wanted)
    assert not any("files_truncated" in asset for asset in whole["assets"])
    pages = museum.pages(**wanted, maxFiles=most)
    files: dict[str, list[str]] = {asset["assetid"]: [] for asset in whole["assets"]}
    for page in pages:
        assert sum(len(asset["files"]) for asset in page["assets"]) <= most
        for asset in page["assets"]:
            files[asset["assetid"]] += [file["key"] for file in asset["files"]]
        cut = [asset["assetid"] for asset in page["assets"] if asset["files_truncated"]]
        assert cut in ([], [page["assets"][-1]["assetid"]])
        assert "NextToken" in page or not cut
    assert files == {
        asset["assetid"]: [file["key"] for file in asset["files"]] for asset in whole["assets"]
    }


def test_an_asset_with_more_files_than_a_page_continues_on_the_next(
    museum: Exports, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "FILES_AT_ONCE", 2)
    for number in range(5):
        museum.put("hall", f"/{number}.txt")
    slow = museum.with_room(clock=ManualClock(tick=timedelta(seconds=5)))
    pages = slow.pages(fetchEntireChildrenSubtrees=True)
    result = [
        (asset["assetid"], path)
        for page in pages
        for asset in page["assets"]
        for path in paths(asset)
    ]
    assert result == [("hall", f"/{number}.txt") for number in range(5)]
    assert [ids(page)[0] for page in pages][:2] == ["hall", "hall"]
    assert ids(pages[-1])[-1] == "statue"
    assert len(pages) > 2


def test_a_small_tree_is_one_page_on_a_busy_day(museum: Exports) -> None:
    for name in ("hall", "statue", "plinth"):
        museum.put(name, "/a.txt")
    slow = museum.with_room(clock=ManualClock(tick=timedelta(seconds=1)))
    (page,) = slow.pages(fetchEntireChildrenSubtrees=True)
    assert ids(page) == ["hall", "plinth", "statue"]


def test_a_page_ends_before_it_is_too_large(
    museum: Exports, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "FILES_AT_ONCE", 1)
    monkeypatch.setattr("backend.domains.exports.service._Room.__init__.__defaults__", (1500,))
    for number in range(4):
        museum.put("hall", f"/{number}.txt")
    pages = museum.pages()
    result = [path for page in pages for asset in page["assets"] for path in paths(asset)]
    assert result == [f"/{number}.txt" for number in range(4)]
    assert len(pages) > 1


def test_links_that_fill_a_page_are_refused(
    museum: Exports, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backend.domains.exports.service._Room.__init__.__defaults__", (10,))
    answer = museum.export()
    assert (answer.status, answer.body["code"]) == (413, "ExportTooLarge")


def test_hidden_assets_are_counted_and_not_named(museum: Exports) -> None:
    seen = museum.allowing(NotNamed(frozenset({"The statue"})))
    body = seen.export(fetchEntireChildrenSubtrees=True).body
    assert ids(body) == ["hall"]
    assert body["relationships"] == []
    assert (body["totalAssetsInTree"], body["unauthorizedAssetCount"]) == (1, 1)
    assert not {"statue", "link-1"} & set(re.findall(r"[\w-]+", json.dumps(body)))
    assert museum.export().body["unauthorizedAssetCount"] == 0


def test_by_setting_hidden_assets_and_links_to_them_are_named_as_in_vams(museum: Exports) -> None:
    describe(museum, LinkEntity("link-1", ("museum",)), "place", "north")
    seen = museum.allowing(NotNamed(frozenset({"The statue"}))).with_room(names_hidden=True)
    body = seen.export(fetchEntireChildrenSubtrees=True).body
    hidden = {"assetId": "statue", "databaseId": "museum", "unauthorizedAsset": True}
    assert body["assets"][1] == hidden
    assert ids(body) == ["hall", "statue"]
    assert (body["totalAssetsInTree"], body["unauthorizedAssetCount"]) == (2, 1)
    assert seen.export("statue").status == museum.export("nobody").status == 404
    assert seen.export().body["relationships"] == [
        {
            "parentAssetId": "hall",
            "parentAssetDatabaseId": "museum",
            "childAssetId": "statue",
            "childAssetDatabaseId": "museum",
            "assetLinkType": "parentChild",
            "assetLinkId": "link-1",
            "assetLinkAliasId": None,
            "metadata": {},
        }
    ]


def test_archived_assets_are_left_out(museum: Exports) -> None:
    archive(museum.links, "statue")
    body = museum.export(fetchEntireChildrenSubtrees=True).body
    assert (ids(body), body["relationships"]) == (["hall"], [])
    assert museum.export("statue").status == 404


def test_a_token_is_good_for_its_caller_asset_and_flags_only(museum: Exports) -> None:
    token = museum.export(maxAssets=1).body["NextToken"]
    assert ids(museum.export(maxAssets=7, startingToken=token).body) == ["statue"]
    assert museum.export(maxFiles=7, startingToken=token).status == 200
    foreign: tuple[dict[str, Any], ...] = (
        {"startingToken": token, "includeFileMetadata": False},
        {"startingToken": token[:-2] + "AA"},
        {"startingToken": "no token"},
        {"startingToken": "é"},
    )
    for body in foreign:
        assert museum.export(**body).status == 400
    assert museum.export("statue", startingToken=token).status == 400


def test_what_is_wrong_is_refused(museum: Exports) -> None:
    wrong: tuple[dict[str, Any], ...] = (
        {"maxAssets": 0},
        {"maxAssets": 1001},
        {"maxAssets": "ten"},
        {"maxFiles": 0},
        {"maxFiles": 10_001},
        {"maxFiles": "ten"},
        {"fileExtensions": "glb"},
        {"fileExtensions": ["glb"]},
        {"fileExtensions": [""]},
        {"fileExtensions": [".glb,.png"]},
        {"fileExtensions": [".a"] * 101},
        {"includeFolderFiles": "yes"},
    )
    for body in wrong:
        assert museum.export(**body).status == 400, body
    stranger = Exports(museum.links, museum.service, museum.objects, "stranger")
    assert stranger.export().status == 403


def test_a_position_moves_no_asset_when_others_come_and_go() -> None:
    root, members = AssetRef("m", "root"), {AssetRef("m", name) for name in ("root", "b", "d", "f")}
    after = rules.position_after(AssetRef("m", "d"))
    assert list(rules.remaining_assets(root, members, after)) == [AssetRef("m", "f")]
    changed = (members - {AssetRef("m", "d")}) | {AssetRef("m", "a"), AssetRef("m", "e")}
    rest = [AssetRef("m", "e"), AssetRef("m", "f")]
    assert list(rules.remaining_assets(root, changed, after)) == rest


@pytest.mark.parametrize(
    ("denied", "has_url"),
    [
        ((routes.DOWNLOAD,), True),
        ((routes.STREAM_FILE, routes.STREAM_AUXILIARY_FILE), True),
        ((routes.DOWNLOAD, routes.STREAM_FILE), False),
    ],
)
def test_addresses_of_files_also_need_a_route_that_returns_files(
    museum: Exports, denied: tuple[Route, ...], *, has_url: bool
) -> None:
    museum.put("statue", "/b.glb")
    museum.service.assets.authorization = Without(denied=denied)
    answer = museum.export("statue", generatePresignedUrls=True)
    (file,) = answer.body["assets"][0]["files"]
    assert (file["presignedFileDownloadUrl"] is not None) == has_url


class CountedTables(MemoryTables):
    """Counts queries; those of all files of an asset have pages of the size that a test sets."""

    def __init__(self) -> None:
        super().__init__()
        self.queries = 0
        self.page = 1000

    def query(self, query: Query, page: PageRequest) -> Page[Item]:
        self.queries += 1
        whole = query.index is not None and query.index.name == "DatabaseIdAssetIdIndex"
        return super().query(query, PageRequest(self.page if whole else page.limit, page.after))


def test_the_metadata_of_many_files_is_read_at_once() -> None:
    tables = CountedTables()
    museum = exports(tables, MemoryObjects())
    for asset, files in (("hall", 30), ("statue", 7)):
        describe(museum, Entity("museum", asset), "of", "the asset")
        describe(museum, Entity("museum", asset, "/01.glb", "attribute"), "seen", "yes")
        describe(museum, Entity("museum", asset, "/01.glb"), "first", "1")
        for number in range(files):
            museum.put(asset, f"/{number:02}.glb")
            entity = Entity("museum", asset, f"/{number:02}.glb")
            describe(museum, entity, "scale", f"1:{number}")
    alone: dict[str, Any] = {"fetchAssetRelationships": False}
    for asset, files, page, wanted in (
        ("hall", 30, 1000, 2),
        ("hall", 30, 10, 5),  # 32 values are four pages
        ("hall", 30, 1, 8 + 2 + 30),  # 32 pages are too many, those of attributes are not
        ("statue", 7, 1000, 14),
    ):
        tables.page, tables.queries = page, 0
        museum.export(asset, **alone, includeFileMetadata=False)
        without, tables.queries = tables.queries, 0
        (reply,) = museum.export(asset, **alone).body["assets"]
        assert tables.queries - without == wanted, (asset, page)
        result = [
            {key: record["value"] for key, record in file["metadata"].items()}
            for file in reply["files"]
        ]
        first = {"first": "1", "scale": "1:1"}
        assert result == [first if n == 1 else {"scale": f"1:{n}"} for n in range(files)]
        seen = [file["relativePath"] for file in reply["files"] if file["attributes"]]
        assert seen == ["/01.glb"]


def test_values_of_one_file_that_may_fill_a_query_are_queried_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tables = CountedTables()
    museum = exports(tables, MemoryObjects())
    for number in range(10):
        museum.put("hall", f"/{number}.glb")
    describe(museum, Entity("museum", "hall", "/3.glb"), "text", "x" * 20)
    counts: list[int] = []
    for most in (20, 19):
        monkeypatch.setattr(service, "_MOST_CHARS", most)
        tables.queries = 0
        (hall,) = museum.export(fetchAssetRelationships=False).body["assets"]
        assert hall["files"][3]["metadata"]["text"]["value"] == "x" * 20
        counts.append(tables.queries)
    assert counts[1] == counts[0] + 1
