"""The tables of links, by access pattern.

A link is one row, an edge at both ends, and a count on both assets' rows; one transaction creates
or removes all of them. The indexes of the data model, which are eventually consistent, are not used
for decisions: edges are read from their own partitions, consistently.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from backend.core.paging import PageRequest
from backend.core.parallel import in_parallel
from backend.core.references import AssetRef
from backend.core.tables import Query, Tables
from backend.core.transactions import (
    MAX_TRANSACTION_ITEMS,
    Check,
    Condition,
    Delete,
    Item,
    Put,
    Update,
    Write,
    absent,
    equals,
    exists,
    put_new,
)
from backend.domains.asset_links import rules
from backend.domains.asset_links.errors import (
    LinkExistsError,
    LinkNotFoundError,
    LinkOvertakenError,
)
from backend.domains.asset_links.models import MAX_LINKS, MAX_WALKED, AssetLink, Edge, EdgeKind
from backend.domains.assets.models import Asset
from backend.spec import keys
from backend.spec.tables.assets import (
    ASSET_ID,
    ASSET_LINK_EDGES,
    ASSET_LINK_ID,
    ASSET_LINKS,
    ASSET_LINKS_METADATA,
    ASSETS,
    DATABASE_ID,
    EDGE,
    METADATA_KEY,
)
from backend.spec.tables.metadata import RECORD_SETS, RECORDS_OF, RECORDS_OWNER

RECORDS_OF_LINK = "assetLink"
"""The sort key of the item that counts a link's records."""


@dataclass(eq=False, repr=False)
class AssetLinkRepository:
    tables: Tables

    def get(self, asset_link_id: str) -> AssetLink | None:
        row = self.tables.get(ASSET_LINKS, {ASSET_LINK_ID.name: asset_link_id})
        return None if row is None else AssetLink.model_validate(row)

    def active(self, nodes: Iterable[AssetRef]) -> dict[AssetRef, Asset]:
        """Return those of the assets that exist and are active."""
        wanted = [(ASSETS, _asset_key(node.database_id, node)) for node in set(nodes)]
        rows = self.tables.get_many(wanted)
        assets = (Asset.model_validate(item) for _, item in rows)
        return {AssetRef(asset.database_id, asset.asset_id): asset for asset in assets}

    def edges(self, node: AssetRef, *, kind: EdgeKind | None = None, limit: int = 0) -> list[Edge]:
        """Return the edges of an asset (at most `limit`), in the order of their keys."""
        query = Query(
            table=ASSET_LINK_EDGES,
            partition=_partition(node),
            sort_prefix=None if kind is None else rules.edge_prefix(kind),
            consistent=True,
        )
        if limit:
            items: Sequence[Item] = self.tables.query(query, PageRequest(limit)).items
        else:
            items = self.tables.query_all(query)
        return [
            Edge.model_validate({**item, "kind": item[EDGE.name].split("#", 1)[0]})
            for item in items
            if item[EDGE.name] != rules.HEAD
        ]

    def edges_of_many(
        self, nodes: Sequence[AssetRef], kind: EdgeKind
    ) -> dict[AssetRef, list[Edge]]:
        """Return the edges of several assets, read in parallel."""
        edges_of = in_parallel(lambda node: self.edges(node, kind=kind), nodes)
        return dict(zip(nodes, edges_of, strict=True))

    def walk(self, walk: rules.Walk) -> None:
        """Read one more level: for each asset first its mark, then its edges (see `rules`)."""
        frontier = walk.frontier
        heads = {node: _head_key(node) for node in frontier}
        stored = {
            item[keys.ASSET.name]: item.get(rules.MARKS[walk.kind])
            for _, item in self.tables.get_many([(ASSET_LINK_EDGES, key) for key in heads.values()])
        }
        marks = {node: stored.get(key[keys.ASSET.name]) for node, key in heads.items()}
        marked = [node for node, mark in marks.items() if mark is not None]
        edges = in_parallel(
            lambda node: self.edges(node, kind=walk.kind, limit=MAX_WALKED + 1), marked
        )
        walk.next_level(marks, (edge.other for ends in edges for edge in ends))

    def create(self, link: AssetLink, walk: rules.Walk | None, entry: Write) -> None:
        """Create a link between two active assets; `walk` is what was read for a parent-child link.

        Raises:
            LinkExistsError: the assets already have such a link.
            LinkOvertakenError: an asset, or the graph that was read, has changed.
        """
        taken = LinkExistsError(link.source, link.target)
        ends = rules.edges_of(link)
        self.tables.transact(
            [
                *(_count_link(node, edge.kind) for node, edge in ends),
                *(put_new(ASSET_LINK_EDGES, _edge_item(node, edge), taken) for node, edge in ends),
                *([] if walk is None else _graph_writes(link, walk)),
                put_new(ASSET_LINKS, _row(link), taken),
                entry,
            ]
        )

    def update(self, link: AssetLink, changed: AssetLink, entry: Write) -> None:
        """Replace alias and tags, if the link has the revision that was read.

        Raises:
            LinkExistsError: another link of the two assets has this alias.
            LinkOvertakenError: it was changed or removed.
        """
        taken = LinkExistsError(link.source, link.target)
        refused = LinkOvertakenError()
        unchanged = (equals("revision", link.revision),)
        writes: list[Write] = [
            Put(table=ASSET_LINKS, item=_row(changed), conditions=unchanged, refused=refused),
            entry,
        ]
        if changed.asset_link_alias_id != link.asset_link_alias_id:
            for node, edge in rules.edges_of(link):
                there = (exists(EDGE.name),)
                key = _edge_key(node, edge)
                writes.append(
                    Delete(table=ASSET_LINK_EDGES, key=key, conditions=there, refused=refused)
                )
            for node, edge in rules.edges_of(changed):
                writes.append(put_new(ASSET_LINK_EDGES, _edge_item(node, edge), taken))
        self.tables.transact(writes)

    def remove(self, link: AssetLink, entry: Write | None = None) -> None:
        """Remove a link with its metadata and edges, and update the counts of existing assets.

        Metadata beyond what one transaction holds goes first; a repetition finds the rest.

        Raises:
            LinkOvertakenError: it was changed or removed, or an asset was archived or restored.
        """
        refused = LinkOvertakenError()
        key = {ASSET_LINK_ID.name: link.asset_link_id}
        unchanged = (equals("revision", link.revision),)
        ends = rules.edges_of(link)
        records = {RECORDS_OWNER.name: link.asset_link_id, RECORDS_OF.name: RECORDS_OF_LINK}
        writes: list[Write] = [
            Delete(table=ASSET_LINKS, key=key, conditions=unchanged, refused=refused),
            Delete(table=RECORD_SETS, key=records),
            *(Delete(table=ASSET_LINK_EDGES, key=_edge_key(node, edge)) for node, edge in ends),
            *self._uncount_link(ends, refused),
            *([] if entry is None else [entry]),
        ]
        metadata = self._metadata_keys(link.asset_link_id)
        room = MAX_TRANSACTION_ITEMS - len(writes)
        if len(metadata) > room:
            self.tables.delete_many(ASSET_LINKS_METADATA, metadata[room:])
        removed = [Delete(table=ASSET_LINKS_METADATA, key=key) for key in metadata[:room]]
        self.tables.transact([*writes, *removed])
        late = self._metadata_keys(link.asset_link_id)
        self.tables.delete_many(ASSET_LINKS_METADATA, late)

    def remove_head(self, node: AssetRef) -> None:
        """Remove the marks of a deleted asset, with its last edge."""
        self.tables.write(Delete(table=ASSET_LINK_EDGES, key=_head_key(node)))

    def _uncount_link(
        self, ends: Iterable[tuple[AssetRef, Edge]], refused: LinkOvertakenError
    ) -> Iterator[Update]:
        """Return the writes that count one link fewer at each end, if that asset exists."""
        kinds: dict[AssetRef, EdgeKind] = {node: edge.kind for node, edge in ends}
        places = [
            (ASSETS, _asset_key(partition, node))
            for node in kinds
            for partition in (node.database_id, keys.archived(node.database_id))
        ]
        for _, row in self.tables.get_many(places):
            node = AssetRef(keys.active(row[DATABASE_ID.name]), row[ASSET_ID.name])
            counter = rules.COUNTERS[kinds[node]]
            if row.get(counter, 0) > 0:
                yield Update(
                    table=ASSETS,
                    key={name: row[name] for name in ASSETS.key_names},
                    add={counter: -1, "revision": 1},
                    conditions=(Condition(counter, ">=", 1),),
                    refused=refused,
                )

    def _metadata_keys(self, asset_link_id: str) -> list[dict[str, str]]:
        query = Query(
            table=ASSET_LINKS_METADATA,
            partition=asset_link_id,
            consistent=True,
            attributes=(METADATA_KEY.name,),
        )
        return [
            {ASSET_LINK_ID.name: asset_link_id, METADATA_KEY.name: item[METADATA_KEY.name]}
            for item in self.tables.query_all(query)
        ]


def guard_of(asset_link_id: str) -> Check:
    """Return the condition that a link exists, for transactions that write its metadata."""
    return Check(
        table=ASSET_LINKS,
        key={ASSET_LINK_ID.name: asset_link_id},
        conditions=(exists(ASSET_LINK_ID.name),),
        refused=LinkNotFoundError(asset_link_id),
    )


def _count_link(node: AssetRef, kind: EdgeKind) -> Update:
    """Return the write that counts one more link at an active asset with room for it."""
    counter = rules.COUNTERS[kind]
    return Update(
        table=ASSETS,
        key=_asset_key(node.database_id, node),
        add={counter: 1, "revision": 1},
        conditions=(equals("status", "active"), Condition(counter, "not >", MAX_LINKS - 1)),
        refused=LinkOvertakenError(),
    )


def _graph_writes(link: AssetLink, walk: rules.Walk) -> Iterator[Write]:
    """Return writes that require the graph as read, and make this link its last change."""
    attribute, refused = rules.MARKS[walk.kind], LinkOvertakenError()
    marks = {link.source: rules.MARKS["child"], link.target: rules.MARKS["parent"]}
    for node in {*walk.marks, *marks}:
        conditions: tuple[Condition, ...] = ()
        if node in walk.marks:
            mark = walk.marks[node]
            conditions = (absent(attribute) if mark is None else equals(attribute, mark),)
        key = _head_key(node)
        if node in marks:
            yield Update(
                table=ASSET_LINK_EDGES,
                key=key,
                set={marks[node]: link.asset_link_id},
                conditions=conditions,
                refused=refused,
            )
        else:
            yield Check(table=ASSET_LINK_EDGES, key=key, conditions=conditions, refused=refused)


def _row(link: AssetLink) -> Item:
    return {
        **link.model_dump(by_alias=True, exclude_none=True),
        keys.LINK_FROM.name: keys.LINK_FROM.build(*link.source.ids),
        keys.LINK_TO.name: keys.LINK_TO.build(*link.target.ids),
    }


def _asset_key(partition: str, node: AssetRef) -> dict[str, str]:
    return {DATABASE_ID.name: partition, ASSET_ID.name: node.asset_id}


def _partition(node: AssetRef) -> str:
    return keys.ASSET.build(*node.ids)


def _head_key(node: AssetRef) -> dict[str, str]:
    return {keys.ASSET.name: _partition(node), EDGE.name: rules.HEAD}


def _edge_key(node: AssetRef, edge: Edge) -> dict[str, str]:
    return {keys.ASSET.name: _partition(node), EDGE.name: rules.edge_key(edge)}


def _edge_item(node: AssetRef, edge: Edge) -> Item:
    dumped = edge.model_dump(by_alias=True, exclude_none=True, exclude={"kind"})
    return {**_edge_key(node, edge), **dumped}
