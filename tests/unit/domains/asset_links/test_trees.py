"""Replies with an asset's links: for which caller, and to which depth."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from backend.core.authorization import Secured
from backend.core.identity import Identity
from backend.domains.asset_links.service.queries import LinkQueries
from backend.spec.routes import Action, Route
from tests.factories.links import Links
from tests.unit.domains.asset_links.test_linking import archive, names

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
    return museum.allowing(NotNamed(frozenset(f"The {one}" for one in asset_ids)))


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
    archived = museum.assets.find_asset("museum", "statue")
    assert archived is not None
    back = archived.model_copy(update={"status": "active", "revision": archived.revision + 1})
    museum.tables.transact(museum.assets.move_writes(archived, back))
    assert names(museum.list("hall").body["children"]) == ["statue", "twin"]


def test_bad_ids_are_reported(museum: Links) -> None:
    assert museum.get("a:b").status == museum.delete("x").status == 400
    assert museum.list("hall", childTreeView="perhaps").status == 400
