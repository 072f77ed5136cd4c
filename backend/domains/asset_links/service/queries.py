"""Reads the links of an asset, and the tree below it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from backend.core.authorization import Authorization
from backend.core.identity import Identity
from backend.core.references import AssetRef
from backend.domains.asset_links.errors import FamilyTooLargeError
from backend.domains.asset_links.models import MAX_TREE_DEPTH, MAX_TREE_NODES, Edge, EdgeKind
from backend.domains.asset_links.repository import AssetLinkRepository
from backend.domains.assets.models import Asset
from backend.domains.assets.service.commands import AssetService
from backend.domains.assets.service.queries import secured
from backend.values import frozen


@frozen
class Linked:
    """An asset that the caller may see, and the edge that leads to it.

    `asset` is None for one that the caller may not see.
    """

    edge: Edge
    asset: Asset | None


@dataclass(slots=True)
class Tree:
    """An asset with its children, as far as they were read.

    The children of one that the caller may not see are not read.
    """

    linked: Linked
    children: "list[Tree]" = field(default_factory=list["Tree"])


@dataclass(slots=True)
class Subtree:
    """The assets below an asset; `truncated` is true if the tree has more."""

    children: list[Tree]
    truncated: bool = False


@frozen
class Family:
    """An asset and everything below it, each once; None for assets that the caller may not see.

    `edges` lead from a parent to a child, both of them among `members`.
    """

    root: AssetRef
    members: Mapping[AssetRef, Asset | None]
    edges: tuple[tuple[AssetRef, Edge], ...]


@dataclass(eq=False, repr=False)
class LinkQueries:
    """Reads links. Archived and deleted assets are left out."""

    links: AssetLinkRepository
    assets: AssetService
    authorization: Authorization
    max_nodes: int = MAX_TREE_NODES
    max_depth: int = MAX_TREE_DEPTH

    def neighbours(self, caller: Identity, asset: Asset) -> dict[EdgeKind, list[Linked]]:
        """Return the assets linked to an asset that the caller may see, by kind, then by name."""
        edges = self.links.edges(_node(asset))
        rows = self.links.active(edge.other for edge in edges)
        kinds: tuple[EdgeKind, ...] = ("related", "parent", "child")
        return {
            kind: self._links_of(caller, (edge for edge in edges if edge.kind == kind), rows)
            for kind in kinds
        }

    def subtree(self, caller: Identity, asset: Asset) -> Subtree:
        """Return the children of an asset and theirs, read level by level.

        An asset that is reached by several paths is listed at each of them. The tree ends at
        `max_depth` levels and `max_nodes` nodes.
        """
        ids = {"database_id": asset.database_id, "asset_id": asset.asset_id}
        root = Tree(Linked(Edge(kind="child", asset_link_id="", **ids), asset))
        level, count = [root], 0
        known: dict[AssetRef, list[Edge]] = {}
        rows: dict[AssetRef, Asset] = {}
        for _ in range(self.max_depth):
            level = [tree for tree in level if _has_children(tree)]
            if not level:
                break
            self._read(level, known, rows)
            below: list[Tree] = []
            for tree in level:
                children = self._links_of(caller, known[tree.linked.edge.other], rows)
                room = self.max_nodes - count
                tree.children = [Tree(child) for child in children[:room]]
                count += len(tree.children)
                if len(children) > room:
                    return Subtree(root.children, truncated=True)
                below.extend(tree.children)
            level = below
        return Subtree(root.children, truncated=any(_has_children(tree) for tree in level))

    def family(self, caller: Identity, asset: Asset, *, levels: int | None = None) -> Family:
        """Return an asset that the caller may see and everything below it, down to a level.

        Raises:
            FamilyTooLargeError: there are more than `max_nodes` assets, twice as many links, or
                more than `max_depth` levels.
        """
        root = _node(asset)
        members: dict[AssetRef, Asset | None] = {root: asset}
        edges: list[tuple[AssetRef, Edge]] = []
        level = [root] if asset.child_count else []
        for _ in range(self.max_depth if levels is None else levels):
            children_of = self.links.edges_of_many(level, "child")
            ends = {edge.other for children in children_of.values() for edge in children}
            rows = self.links.active(ends - members.keys())
            for node, row in rows.items():
                visible = self.authorization.may(caller, "GET", secured(row))
                members[node] = row if visible else None
            edges += [
                (node, edge)
                for node, children in children_of.items()
                for edge in children
                if edge.other in members
            ]
            if len(members) > self.max_nodes or len(edges) > 2 * self.max_nodes:
                raise FamilyTooLargeError(asset.asset_id)
            below = (node for node in rows if (row := members[node]) and row.child_count)
            level = sorted(below)
            if not level:
                break
        if level and levels is None:
            raise FamilyTooLargeError(asset.asset_id)
        return Family(root, members, tuple(edges))

    def parents(self, caller: Identity, asset: Asset) -> list[Edge]:
        """Return the edges to the parents of an asset that the caller may see."""
        edges = self.links.edges(_node(asset), kind="parent")
        rows = self.links.active(edge.other for edge in edges)
        return [link.edge for link in self._links_of(caller, edges, rows) if link.asset is not None]

    def _read(
        self, level: Iterable[Tree], known: dict[AssetRef, list[Edge]], rows: dict[AssetRef, Asset]
    ) -> None:
        """Read the children of a level's assets that are not known yet, and their rows."""
        wanted = sorted({tree.linked.edge.other for tree in level} - known.keys())
        children_of = self.links.edges_of_many(wanted, "child")
        known.update(children_of)
        ends = {edge.other for edges in children_of.values() for edge in edges}
        rows.update(self.links.active(ends - rows.keys()))

    def _links_of(
        self, caller: Identity, edges: Iterable[Edge], rows: Mapping[AssetRef, Asset]
    ) -> list[Linked]:
        links: list[Linked] = []
        for edge in edges:
            asset = rows.get(edge.other)
            if asset is not None:
                visible = self.authorization.may(caller, "GET", secured(asset))
                links.append(Linked(edge, asset if visible else None))
        return sorted(links, key=_order)


def _order(linked: Linked) -> tuple[str, str, str, str]:
    """Order by name; hidden assets come first, in an order that reveals nothing."""
    if linked.asset is None:
        return ("", "", "", linked.edge.asset_link_id)
    edge = linked.edge
    alias = edge.asset_link_alias_id or ""
    return (linked.asset.asset_name, edge.database_id, edge.asset_id, alias)


def _has_children(tree: Tree) -> bool:
    return tree.linked.asset is not None and tree.linked.asset.child_count > 0


def _node(asset: Asset) -> AssetRef:
    return AssetRef(asset.database_id, asset.asset_id)
