"""The allowed links, and the keys of their edges at both ends. Pure.

This rule keeps the graph of parents and children free of cycles. Each asset has a head with two
marks: the link that last gave it a parent, and the one that last gave it a child. A new link from P
to C creates a cycle if and only if C is P or above it, which is the same as P being C or below it.
So either all that is above P is read, or all that is below C, whichever ends first (`Walk`): of
each asset first its mark, then its edges. The transaction that writes the link requires that every
mark is unchanged, and sets the mark for parents at C and for children at P. If it succeeds, no edge
was added to what was read since, so at that moment it contains everything above P (below C): the
other end is not in it, and the link closes no cycle. Removed edges only make the true set smaller.
Marks are ids of links, so a mark never returns with another meaning.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from backend.core.errors import InvalidInputError
from backend.core.references import AssetRef
from backend.domains.asset_links.errors import TooManyLinksError
from backend.domains.asset_links.models import (
    MAX_LINKS,
    MAX_WALKED,
    AssetLink,
    CreateLinkBody,
    Edge,
    EdgeKind,
)
from backend.domains.assets.models import Asset

COUNTERS: Mapping[EdgeKind, str] = {
    "child": "childCount",
    "parent": "parentCount",
    "related": "relatedCount",
}
"""The attribute of an asset's row that counts its edges of each kind."""
MARKS: Mapping[EdgeKind, str] = {"parent": "lastParentLink", "child": "lastChildLink"}
"""The attribute of an asset's head with the link that last added an edge of each kind."""
HEAD = "revision"
"""The sort key of heads. It sorts after the keys of edges."""


def check_request(body: CreateLinkBody) -> None:
    """Reject links that are never allowed.

    Raises:
        InvalidInputError: an asset is linked to itself, or a related link has an alias.
    """
    if (body.from_asset_database_id, body.from_asset_id) == (
        body.to_asset_database_id,
        body.to_asset_id,
    ):
        raise InvalidInputError.of(
            "toAssetId", "must be another asset: an asset cannot be linked to itself"
        )
    check_alias(body.relationship_type, body.asset_link_alias_id)


def check_alias(relationship_type: str, alias: str | None) -> None:
    """Reject an alias if there can only be one link between two assets.

    Raises:
        InvalidInputError: the link is not of the type parentChild.
    """
    if alias and relationship_type != "parentChild":
        raise InvalidInputError.of(
            "assetLinkAliasId", "is allowed only for links of the type parentChild"
        )


def check_number_of_links(asset: Asset, kind: EdgeKind) -> None:
    """Require room for one more link.

    Raises:
        TooManyLinksError: the asset has the maximum number of such links.
    """
    counts = {"child": asset.child_count, "parent": asset.parent_count}
    if counts.get(kind, asset.related_count) >= MAX_LINKS:
        raise TooManyLinksError(asset.asset_id, kind)


def edges_of(link: AssetLink) -> tuple[tuple[AssetRef, Edge], tuple[AssetRef, Edge]]:
    """Return both ends of a link: each asset, with its view of the other one."""
    is_related = link.relationship_type == "related"
    kinds: tuple[EdgeKind, EdgeKind] = ("related", "related") if is_related else ("child", "parent")
    ends = (link.source, link.target)
    first, second = (
        Edge(
            kind=kind,
            asset_link_id=link.asset_link_id,
            database_id=other.database_id,
            asset_id=other.asset_id,
            asset_link_alias_id=link.asset_link_alias_id,
        )
        for kind, other in zip(kinds, reversed(ends), strict=True)
    )
    return (ends[0], first), (ends[1], second)


def edge_key(edge: Edge) -> str:
    """Return the sort key of an edge: one for each type, other end and alias."""
    named = json.dumps([edge.database_id, edge.asset_id, edge.asset_link_alias_id or ""])
    # Hashed: ids and alias together may be longer than a sort key, of at most 1,024 bytes.
    return edge_prefix(edge.kind) + hashlib.sha256(named.encode()).hexdigest()


def edge_prefix(kind: EdgeKind) -> str:
    return f"{kind}#"


@dataclass(slots=True)
class Walk:
    """Everything above an asset (kind `parent`) or below it (`child`), read level by level."""

    kind: EdgeKind
    start: AssetRef
    marks: dict[AssetRef, str | None] = field(default_factory=dict[AssetRef, str | None])
    frontier: list[AssetRef] = field(default_factory=list[AssetRef])
    seen: set[AssetRef] = field(default_factory=set[AssetRef])

    def __post_init__(self) -> None:
        self.frontier = [self.start]
        self.seen = {self.start}

    @property
    def is_too_wide(self) -> bool:
        return len(self.seen) > MAX_WALKED

    @property
    def is_complete(self) -> bool:
        return not self.frontier

    def next_level(self, marks: Mapping[AssetRef, str | None], others: Iterable[AssetRef]) -> None:
        """Record the marks of the current level, and make their edges the next one."""
        self.marks.update(marks)
        self.frontier = sorted(set(others) - self.seen)
        self.seen.update(self.frontier)
