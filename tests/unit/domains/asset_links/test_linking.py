"""Making, changing and removing links."""

from typing import Any

import pytest

from backend.core.paging import PageRequest
from backend.core.tables import Tables
from backend.domains.asset_links.models import MAX_LINKS
from backend.domains.assets.repository import row_of
from backend.spec.tables.assets import ASSET_LINK_EDGES, ASSET_LINKS, ASSET_LINKS_METADATA, ASSETS
from backend.spec.tables.model import Table
from backend.spec.tables.operations import AUDIT
from tests.factories.assets import created_asset
from tests.factories.links import Links


def rows(tables: Tables, table: Table) -> list[dict[str, Any]]:
    return list(tables.scan(table, PageRequest(1000)).items)


def names(found: list[dict[str, Any]]) -> list[str]:
    return [one["assetId"] for one in found]


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


def test_a_link_may_lead_to_another_database(museum: Links) -> None:
    created_asset(museum.assets, "crate", database_id="depot")
    museum.link("hall", "crate", toAssetDatabaseId="depot")
    assert museum.list("hall").body["children"][0]["databaseId"] == "depot"
    assert names(museum.list("crate", database_id="depot").body["parents"]) == ["hall"]


def test_several_links_from_parent_to_child_differ_in_their_alias(museum: Links) -> None:
    museum.link("hall", "statue")
    museum.link("hall", "statue", assetLinkAliasId="left")
    museum.link("hall", "statue", assetLinkAliasId="right")
    again = {"assetLinkAliasId": "left"}
    assert museum.refused("hall", "statue", **again) == (409, "AssetLinkExists")
    assert museum.refused("hall", "statue") == (409, "AssetLinkExists")
    assert museum.refused("hall", "statue", assetLinkAliasId="") == (409, "AssetLinkExists")
    assert museum.counts("hall") == (3, 0, 0)


def test_assets_may_be_related_and_parent_and_child(museum: Links) -> None:
    museum.link("hall", "statue")
    museum.link("statue", "hall", "related")
    assert museum.counts("hall") == (1, 0, 1)


def test_the_reverse_direction_and_every_cycle_is_refused(museum: Links) -> None:
    museum.link("hall", "statue")
    museum.link("statue", "plinth")
    museum.link("plinth", "twin")
    for child, parent in (("hall", "statue"), ("hall", "plinth"), ("hall", "twin")):
        assert museum.refused(parent, child) == (409, "AssetLinkCycle")
    assert museum.refused("twin", "statue") == (409, "AssetLinkCycle")
    museum.link("hall", "twin")
    assert museum.counts("twin") == (0, 2, 0)


def test_what_was_unlinked_may_be_linked_the_other_way_round(museum: Links) -> None:
    link_id = museum.link("hall", "statue")
    assert museum.delete(link_id).status == 200
    museum.link("statue", "hall")
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


def test_an_asset_has_so_many_links_of_a_kind_and_no_more(museum: Links, tables: Tables) -> None:
    hall = museum.assets.find_asset("museum", "hall")
    assert hall is not None
    tables.put_many(ASSETS, [row_of(hall.model_copy(update={"child_count": MAX_LINKS}))])
    assert museum.refused("hall", "statue") == (409, "TooManyAssetLinks")
    museum.link("hall", "statue", "related")


def test_alias_and_tags_change_and_type_and_ends_stay(museum: Links) -> None:
    link_id = museum.link("hall", "statue", assetLinkAliasId="left", tags=["old"])
    assert museum.update(link_id, assetLinkAliasId="right").body == {
        "message": "Asset link link-1 was changed"
    }
    assert museum.list("hall").body["children"][0]["assetLinkAliasId"] == "right"
    assert museum.list("statue").body["parents"][0]["assetLinkAliasId"] == "right"
    museum.link("hall", "statue", assetLinkAliasId="left")
    assert museum.update(link_id, assetLinkAliasId="left").status == 409
    assert museum.update(link_id, tags=[], toAssetId="twin").headers["X-Ignored-Fields"] == (
        "toAssetId"
    )
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


def test_a_link_is_removed_though_its_ends_are_deleted(museum: Links) -> None:
    first, second = museum.link("hall", "statue"), museum.link("twin", "plinth")
    museum.forget_row("statue")
    assert museum.delete(first).status == 200
    assert museum.counts("hall") == (0, 0, 0)
    museum.forget_row("twin")
    museum.forget_row("plinth")
    assert museum.delete(second).status == 200


def test_a_link_is_removed_though_an_end_is_archived(museum: Links) -> None:
    link_id = museum.link("hall", "statue")
    archive(museum, "statue")
    assert museum.delete(link_id).status == 200
    assert (museum.counts("hall"), museum.counts("statue")) == ((0, 0, 0), (0, 0, 0))


def test_each_write_has_its_entry(museum: Links, tables: Tables) -> None:
    link_id = museum.link("hall", "statue", tags=["old"])
    museum.update(link_id, tags=["new"])
    museum.update(link_id, tags=["new"])
    museum.delete(link_id)
    found = [row for row in rows(tables, AUDIT) if row["entity"] == "assetLink:link-1"]
    assert sorted(row["operation"] for row in found) == [
        "create_link",
        "delete_link",
        "update_link",
    ]
    changes = next(row["changes"] for row in found if row["operation"] == "update_link")
    assert changes["tags"] == {"before": ["old"], "after": ["new"]}


def archive(museum: Links, asset_id: str) -> None:
    """Archive an asset, as its lifecycle does."""
    asset = museum.assets.find_asset("museum", asset_id)
    assert asset is not None
    changed = asset.model_copy(update={"status": "archived", "revision": asset.revision + 1})
    museum.tables.transact(museum.assets.move_writes(asset, changed))
    assert museum.assets.assets.get("museum", asset_id) is None
