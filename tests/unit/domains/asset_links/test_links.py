"""Links: making, changing and removing them, their trees, for which caller, and their metadata."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from backend.core.authorization import Secured
from backend.core.errors import NotFoundError
from backend.core.identity import Identity
from backend.core.paging import PageRequest
from backend.core.tables import Tables
from backend.domains.asset_links.models import MAX_LINKS, AssetLink
from backend.domains.asset_links.service.commands import AssetLinkService
from backend.domains.asset_links.service.queries import LinkQueries
from backend.domains.assets.models import Asset
from backend.domains.assets.repository import row_of
from backend.domains.metadata.models import NewRecord
from backend.spec.routes import Action, Route
from backend.spec.tables.assets import ASSET_LINK_EDGES, ASSET_LINKS, ASSET_LINKS_METADATA, ASSETS
from backend.spec.tables.metadata import RECORD_SETS
from backend.spec.tables.model import Table
from backend.spec.tables.operations import AUDIT
from tests.factories.assets import ADMIN, created_asset
from tests.factories.links import Links


def rows(tables: Tables, table: Table) -> list[dict[str, Any]]:
    return list(tables.scan(table, PageRequest(1000)).items)


def names(found: list[dict[str, Any]]) -> list[str]:
    return [item["assetId"] for item in found]


def test_a_link_from_parent_to_child_is_reported_at_both_ends(museum: Links) -> None:
    answer = museum.create("hall", "statue", assetLinkAliasId="left", tags=["north", "old wing"])
    assert answer.status == 200
    assert answer.body == {
        "assetLinkId": "link-1",
        "message": "Assets hall and statue were linked",
    }
    child = {
        "assetId": "statue",
        "assetName": "The statue",
        "databaseId": "museum",
        "assetLinkId": "link-1",
        "assetLinkAliasId": "left",
    }
    parent = {**child, "assetId": "hall", "assetName": "The hall"}
    nobody = {"related": 0, "parents": 0, "children": 0}
    assert museum.list("hall").body == {
        "related": [],
        "parents": [],
        "children": [child],
        "unauthorizedCounts": nobody,
        "message": "Success",
    }
    assert museum.list("statue").body["parents"] == [parent]
    assert museum.get("link-1").body == {
        "assetLink": {
            "assetLinkId": "link-1",
            "fromAssetId": "hall",
            "fromAssetDatabaseId": "museum",
            "toAssetId": "statue",
            "toAssetDatabaseId": "museum",
            "relationshipType": "parentChild",
            "assetLinkAliasId": "left",
            "tags": ["north", "old wing"],
        },
        "message": "Success",
    }
    assert (museum.counts("hall"), museum.counts("statue")) == ((1, 0, 0), (0, 1, 0))


def test_a_link_that_relates_is_the_same_from_both_sides(museum: Links) -> None:
    museum.link("statue", "twin", "related")
    assert names(museum.list("statue").body["related"]) == ["twin"]
    assert names(museum.list("twin").body["related"]) == ["statue"]
    assert museum.list("twin").body["related"][0]["assetLinkAliasId"] is None
    assert (museum.counts("statue"), museum.counts("twin")) == ((0, 0, 1), (0, 0, 1))
    assert museum.refused("statue", "twin", "related") == (409, "AssetLinkExists")
    assert museum.refused("twin", "statue", "related") == (409, "AssetLinkExists")
    museum.link("hall", "statue")  # they may be parent and child too
    museum.link("statue", "hall", "related")
    assert museum.counts("hall") == (1, 0, 1)
    created_asset(museum.assets, "crate", database_id="depot")
    museum.link("plinth", "crate", toAssetDatabaseId="depot")
    assert museum.list("plinth").body["children"][0]["databaseId"] == "depot"
    assert names(museum.list("crate", database_id="depot").body["parents"]) == ["plinth"]


def test_several_links_from_parent_to_child_differ_in_their_alias(museum: Links) -> None:
    museum.link("hall", "statue")
    museum.link("hall", "statue", assetLinkAliasId="left")
    museum.link("hall", "statue", assetLinkAliasId="right")
    again = {"assetLinkAliasId": "left"}
    assert museum.refused("hall", "statue", **again) == (409, "AssetLinkExists")
    assert museum.refused("hall", "statue") == (409, "AssetLinkExists")
    assert museum.refused("hall", "statue", assetLinkAliasId="") == (409, "AssetLinkExists")
    assert museum.counts("hall") == (3, 0, 0)


def test_the_reverse_direction_and_every_cycle_is_refused(museum: Links) -> None:
    link_id = museum.link("hall", "statue")
    museum.link("statue", "plinth")
    museum.link("plinth", "twin")
    for child, parent in (("hall", "statue"), ("hall", "plinth"), ("hall", "twin")):
        assert museum.refused(parent, child) == (409, "AssetLinkCycle")
    assert museum.refused("twin", "statue") == (409, "AssetLinkCycle")
    museum.link("hall", "twin")
    assert museum.counts("twin") == (0, 2, 0)
    assert museum.delete(link_id).status == 200
    museum.link("statue", "hall")  # what was unlinked may be linked the other way round
    assert museum.refused("hall", "statue") == (409, "AssetLinkCycle")


def test_trees_that_are_too_large_on_both_sides_are_not_joined(
    museum: Links, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backend.domains.asset_links.rules.MAX_WALKED", 3)
    museum.make("a", "b", "c", "v", "w", "x", "y")
    for parent, child in (("a", "b"), ("b", "c"), ("c", "hall")):
        museum.link(parent, child)
    for parent, child in (("v", "w"), ("w", "x"), ("x", "y")):
        museum.link(parent, child)
    assert museum.refused("hall", "v") == (409, "AssetLinkTreesTooLarge")
    museum.link("hall", "y")
    museum.link("plinth", "a")


def test_what_no_link_can_be_is_refused(museum: Links) -> None:
    invalid = (400, "InvalidInput")
    assert museum.refused("hall", "hall") == invalid
    assert museum.refused("hall", "statue", "cousin") == invalid
    assert museum.refused("hall", "statue", "related", assetLinkAliasId="left") == invalid
    assert museum.refused("hall", "statue", assetLinkAliasId="x" * 129) == invalid
    assert museum.refused("hall", "statue", tags=["a", "a"]) == invalid
    assert museum.refused("hall", "statue", tags=[""]) == invalid
    assert museum.refused("hall", "statue", tags=[str(n) for n in range(51)]) == invalid
    assert museum.refused("hall", "statue", tags="old") == invalid
    assert museum.refused("hall", 7) == invalid  # type: ignore[arg-type] - a wrong type is sent
    for name in ("fromAssetId", "fromAssetDatabaseId", "toAssetId", "toAssetDatabaseId"):
        missing: dict[str, Any] = {name: None}
        assert museum.refused("hall", "statue", **missing) == invalid
    assert museum.refused("hall", "statue", fromAssetId="a#b") == invalid
    assert museum.counts("hall") == (0, 0, 0)


def test_only_active_assets_are_linked(museum: Links, tables: Tables) -> None:
    missing = (404, "AssetNotFound")
    assert museum.refused("hall", "nobody") == missing
    assert museum.refused("nobody", "hall") == missing
    assert museum.refused("hall", "statue", toAssetDatabaseId="nowhere") == missing
    archive(museum, "statue")
    assert museum.refused("hall", "statue") == missing
    assert rows(tables, ASSET_LINK_EDGES) == rows(tables, ASSET_LINKS) == []
    hall = stored_asset(museum, "hall")
    tables.put_many(ASSETS, [row_of(hall.model_copy(update={"child_count": MAX_LINKS}))])
    assert museum.refused("hall", "plinth") == (409, "TooManyAssetLinks")
    museum.link("hall", "plinth", "related")


def test_alias_and_tags_change_and_type_and_ends_stay(museum: Links) -> None:
    link_id = museum.link("hall", "statue", assetLinkAliasId="left", tags=["old"])
    renamed = museum.update(link_id, assetLinkAliasId="right").body
    assert renamed == {"message": "Asset link link-1 was changed"}
    assert museum.list("hall").body["children"][0]["assetLinkAliasId"] == "right"
    assert museum.list("statue").body["parents"][0]["assetLinkAliasId"] == "right"
    museum.link("hall", "statue", assetLinkAliasId="left")
    assert museum.update(link_id, assetLinkAliasId="left").status == 409
    moved = museum.update(link_id, tags=[], toAssetId="twin")
    assert moved.headers["X-Ignored-Fields"] == "toAssetId"
    assert museum.update(link_id, assetLinkAliasId="").status == 200
    link = museum.get(link_id).body["assetLink"]
    assert (link["assetLinkAliasId"], link["tags"], link["toAssetId"]) == (None, [], "statue")
    assert museum.update(link_id).status == 400
    assert museum.update(link_id, tags=None).status == 400
    assert museum.update("nothing", tags=[]).status == 404
    related = museum.link("hall", "twin", "related")
    assert museum.update(related, assetLinkAliasId="left").status == 400
    assert museum.update(related, tags=["near"]).status == 200
    assert museum.counts("hall") == (2, 0, 1)


def test_a_removed_link_leaves_nothing(museum: Links, tables: Tables) -> None:
    link_id = museum.link("hall", "statue")
    records = [{"assetLinkId": link_id, "metadataKey": f"k{n:03}"} for n in range(130)]
    tables.put_many(ASSET_LINKS_METADATA, records)
    assert museum.delete(link_id).body == {"message": "Asset link link-1 was deleted"}
    assert rows(tables, ASSET_LINKS) == rows(tables, ASSET_LINKS_METADATA) == []
    assert {row["edge"] for row in rows(tables, ASSET_LINK_EDGES)} <= {"revision"}
    assert (museum.counts("hall"), museum.counts("statue")) == ((0, 0, 0), (0, 0, 0))
    assert museum.delete(link_id).status == museum.get(link_id).status == 404


def test_a_link_is_removed_though_its_ends_are_archived_or_deleted(museum: Links) -> None:
    first, second = museum.link("hall", "statue"), museum.link("twin", "plinth")
    archived = museum.link("plinth", "hall")
    archive(museum, "plinth")
    assert museum.delete(archived).status == 200
    assert (museum.counts("plinth"), museum.counts("hall")) == ((0, 1, 0), (1, 0, 0))
    museum.forget_row("statue")
    assert museum.delete(first).status == 200
    assert museum.counts("hall") == (0, 0, 0)
    museum.forget_row("twin")
    museum.forget_row("plinth")
    assert museum.delete(second).status == 200


def test_each_write_has_its_entry(museum: Links, tables: Tables) -> None:
    link_id = museum.link("hall", "statue", tags=["old"])
    museum.update(link_id, tags=["new"])
    museum.update(link_id, tags=["new"])
    museum.delete(link_id)
    result = [row for row in rows(tables, AUDIT) if row["entity"] == "assetLink:link-1"]
    operations = sorted(row["operation"] for row in result)
    assert operations == ["create_link", "delete_link", "update_link"]
    changes = next(row["changes"] for row in result if row["operation"] == "update_link")
    assert changes["tags"] == {"before": ["old"], "after": ["new"]}


def stored_asset(museum: Links, asset_id: str) -> Asset:
    asset = museum.assets.find_asset("museum", asset_id)
    assert asset is not None
    return asset


def archive(museum: Links, asset_id: str, status: str = "archived") -> None:
    """Archive an asset or restore it, as its lifecycle does."""
    asset = stored_asset(museum, asset_id)
    changed = asset.model_copy(update={"status": status, "revision": asset.revision + 1})
    museum.tables.transact(museum.assets.move_writes(ADMIN, asset, changed))
    assert (museum.assets.assets.get("museum", asset_id) is None) is (status == "archived")


Nested = tuple[str, list[Any]]


@dataclass(frozen=True)
class NotNamed:
    """The permission port of a caller to whom some assets are invisible, others read only."""

    hidden: frozenset[str] = frozenset()
    actions: frozenset[str] = frozenset({"GET", "PUT", "POST", "DELETE"})

    def may_use(self, caller: Identity, route: Route, path: Mapping[str, str]) -> bool:
        return True

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        return target.fields.get("assetName") not in self.hidden and action in self.actions


def hiding(museum: Links, *asset_ids: str) -> Links:
    return museum.allowing(NotNamed(frozenset(f"The {item}" for item in asset_ids)))


def grown(museum: Links) -> None:
    """hall > statue > (plinth > nail, twin > nail); hall > twin."""
    museum.make("nail")
    for parent, child in (
        ("hall", "statue"),
        ("hall", "twin"),
        ("statue", "plinth"),
        ("statue", "twin"),
        ("plinth", "nail"),
        ("twin", "nail"),
    ):
        museum.link(parent, child)


def shape(nodes: list[dict[str, object]]) -> object:
    """A tree as names within names."""
    return [(node["assetId"], shape(node["children"])) for node in nodes]  # type: ignore[arg-type]


def test_the_tree_view_nests_children_wherever_they_are_reached(museum: Links) -> None:
    grown(museum)
    nail: Nested = ("nail", [])
    twin: Nested = ("twin", [nail])
    tree: list[Nested] = [("statue", [("plinth", [nail]), twin]), twin]
    answer = museum.tree("hall")
    assert shape(answer.body["children"]) == tree
    assert "truncated" not in answer.body
    assert set(answer.body["children"][0]) == {
        *("assetId", "assetName", "databaseId", "assetLinkId", "assetLinkAliasId", "children")
    }
    flat = museum.list("hall").body["children"]
    assert names(flat) == ["statue", "twin"]
    assert "children" not in flat[0]


def test_a_tree_is_limited_in_nodes_and_levels_and_marked_as_incomplete(museum: Links) -> None:
    grown(museum)
    few = replace(museum, reader=bounded(museum, nodes=4))
    answer = few.tree("hall")
    assert shape(answer.body["children"]) == [
        ("statue", [("plinth", []), ("twin", [])]),
        ("twin", []),
    ]
    assert answer.body["truncated"] is True
    assert "1000 assets" in answer.body["message"]
    flat = replace(museum, reader=bounded(museum, depth=1)).tree("hall")
    assert shape(flat.body["children"]) == [("statue", []), ("twin", [])]
    assert flat.body["truncated"] is True
    enough = replace(museum, reader=bounded(museum, nodes=7, depth=3)).tree("hall")
    assert "truncated" not in enough.body


def bounded(museum: Links, *, nodes: int = 1000, depth: int = 32) -> LinkQueries:
    return replace(museum.reader, max_nodes=nodes, max_depth=depth)


def test_what_the_caller_may_not_see_is_only_counted(museum: Links) -> None:
    grown(museum)
    museum.link("statue", "nail", "related")
    seen = hiding(museum, "twin", "hall", "nail").list("statue").body
    assert (seen["related"], seen["parents"], names(seen["children"])) == ([], [], ["plinth"])
    assert seen["unauthorizedCounts"] == {"related": 1, "parents": 1, "children": 1}
    tree = hiding(museum, "plinth").tree("hall").body
    assert shape(tree["children"]) == [
        ("statue", [("twin", [("nail", [])])]),
        ("twin", [("nail", [])]),
    ]
    assert tree["unauthorizedCounts"]["children"] == 1
    assert hiding(museum, "hall").list("hall").status == 404
    assert museum.list("nobody").status == 404


def test_a_link_to_what_the_caller_may_not_see_is_not_there(museum: Links) -> None:
    link_id = museum.link("hall", "statue")
    for hidden in ("hall", "statue"):
        seen = hiding(museum, hidden)
        assert seen.get(link_id).status == 404
        assert seen.update(link_id, tags=[]).status == 404
        assert seen.delete(link_id).status == 404
        assert seen.refused("hall", "statue") == (404, "AssetNotFound")


def test_archived_assets_are_left_out_and_come_back_with_their_links(museum: Links) -> None:
    grown(museum)
    archive(museum, "statue")
    body = museum.tree("hall").body
    assert shape(body["children"]) == [("twin", [("nail", [])])]
    assert body["unauthorizedCounts"]["children"] == 0
    assert museum.refused("nail", "hall") == (409, "AssetLinkCycle")
    archive(museum, "statue", "active")
    assert names(museum.list("hall").body["children"]) == ["statue", "twin"]


def test_bad_ids_are_reported(museum: Links) -> None:
    assert museum.get("a:b").status == museum.delete("x").status == 400
    assert museum.list("hall", childTreeView="perhaps").status == 400


def record(key: str, value: str = "1", kind: str = "string") -> dict[str, Any]:
    return {"metadataKey": key, "metadataValue": value, "metadataValueType": kind}


@pytest.fixture
def link_id(museum: Links) -> str:
    return museum.link("hall", "statue")


def keys(museum: Links, link_id: str) -> list[str]:
    answer = museum.describe("GET", link_id)
    assert answer.status == 200, answer.body
    return [item["metadataKey"] for item in answer.body["metadata"]]


def test_records_are_added_changed_and_removed(museum: Links, link_id: str) -> None:
    place = record("place", '{"x":1,"y":2,"z":3}', "xyz")
    added = museum.describe("POST", link_id, metadata=[place, record("note")])
    assert (added.status, added.body["successCount"]) == (200, 2)
    assert len(rows(museum.tables, RECORD_SETS)) == 1
    again = museum.describe("POST", link_id, metadata=[record("note"), record("more")])
    assert again.body["failedItems"] == [{"key": "note", "error": "The key already exists"}]
    reply = museum.describe("GET", link_id).body
    assert reply["restrictMetadataOutsideSchemas"] is False
    assert [item["metadataKey"] for item in reply["metadata"]] == ["more", "note", "place"]
    assert reply["metadata"][2]["assetLinkId"] == link_id
    assert reply["metadata"][2]["metadataValueType"] == "xyz"
    changed = museum.describe("PUT", link_id, metadata=[record("note", "2")])
    assert changed.body["successfulItems"] == ["note"]
    replaced = [record("only")]
    museum.describe("PUT", link_id, metadata=replaced, updateType="replace_all")
    assert keys(museum, link_id) == ["only"]
    removed = museum.describe("DELETE", link_id, metadataKeys=["only", "none"])
    assert (removed.body["successCount"], removed.body["failureCount"]) == (1, 1)
    assert keys(museum, link_id) == []
    museum.describe("POST", link_id, metadata=[record("a"), record("b")])
    assert museum.delete(link_id).status == 200  # with its records and their count
    assert rows(museum.tables, ASSET_LINKS_METADATA) == rows(museum.tables, RECORD_SETS) == []


def test_what_is_wrong_is_refused(museum: Links, link_id: str) -> None:
    wrong: tuple[list[dict[str, Any]], ...] = (
        [],
        [record("")],
        [record("x" * 257)],
        [record("a", "no number", "number")],
        [record("a", kind="colour")],
        [record("a"), record("a")],
        [record(f"k{n}") for n in range(501)],
    )
    for metadata in wrong:
        assert museum.describe("POST", link_id, metadata=metadata).status == 400
    assert museum.describe("PUT", link_id, metadata=[record("a")], updateType="x").status == 400
    assert museum.describe("DELETE", link_id, metadataKeys=[]).status == 400
    assert keys(museum, link_id) == []


def test_pages_of_metadata_of_links_have_at_most_a_thousand_records(
    museum: Links, link_id: str
) -> None:
    answer = museum.describe("GET", link_id, query={"pageSize": "1001"})
    assert answer.status == 400
    assert "pageSize: must be at most 1000" in answer.body["message"]


def test_a_link_that_is_not_there_has_no_metadata(museum: Links, link_id: str) -> None:
    assert museum.delete(link_id).status == 200
    body = {"metadata": [record("a")]}
    answers = [
        museum.describe("GET", link_id),
        museum.describe("POST", link_id, **body),
        museum.describe("PUT", link_id, **body),
        museum.describe("DELETE", link_id, metadataKeys=["a"]),
    ]
    assert {(answer.status, answer.body["code"]) for answer in answers} == {
        (404, "AssetLinkNotFound")
    }


class RemovedLinks(AssetLinkService):
    """Links that someone else removes as soon as they were looked at."""

    def link_for(self, caller: Identity, action: Action, asset_link_id: str) -> AssetLink:
        link = AssetLinkService.link_for(self, caller, action, asset_link_id)
        self.links.remove(link)
        return link


def test_a_link_that_goes_while_records_are_written_gets_none(
    museum: Links, link_id: str, tables: Tables
) -> None:
    links = museum.service
    removed = RemovedLinks(links.links, links.assets, links.audit, links.clock)
    service = replace(museum.metadata, links=removed)
    with pytest.raises(NotFoundError):
        service.add_metadata(ADMIN, link_id, [NewRecord.model_validate(record("a"))])
    assert rows(tables, ASSET_LINKS_METADATA) == rows(tables, RECORD_SETS) == []
