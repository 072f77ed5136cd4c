"""Links between assets: parent and child, or related."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from vitrine.models import Message, Wire
from vitrine.resources.assets import asset_path
from vitrine.resources.registry import given
from vitrine.transport import Transport, path_of

LinkType = Literal["parentChild", "related"]


class Link(Wire):
    """A link; for `parentChild`, it leads from the parent to the child."""

    asset_link_id: str
    from_asset_id: str
    from_asset_database_id: str
    to_asset_id: str
    to_asset_database_id: str
    relationship_type: str
    asset_link_alias_id: str | None = None
    tags: tuple[str, ...] = ()


class _SingleLink(Wire):
    asset_link: Link


class LinkCreated(Message):
    asset_link_id: str


class LinkedAsset(Wire):
    """The asset at the other end of a link; in a tree with its children."""

    asset_id: str
    asset_name: str
    database_id: str
    asset_link_id: str | None = None
    asset_link_alias_id: str | None = None
    children: tuple["LinkedAsset", ...] = ()


class UnseenAssets(Wire):
    """How many linked assets the caller may not see."""

    related: int = 0
    parents: int = 0
    children: int = 0


class AssetLinks(Wire):
    """The assets linked to an asset; `truncated` is true if the tree has more levels."""

    related: tuple[LinkedAsset, ...] = ()
    parents: tuple[LinkedAsset, ...] = ()
    children: tuple[LinkedAsset, ...] = ()
    unauthorized_counts: UnseenAssets = UnseenAssets()
    message: str | None = None
    truncated: bool = False


@dataclass(frozen=True)
class LinkMetadataOwner:
    """A link that has metadata."""

    asset_link_id: str

    def path(self) -> str:
        return path_of("asset-links", self.asset_link_id, "metadata")

    def selector(self) -> dict[str, str]:
        return {}


class Links:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(
        self,
        source: tuple[str, str],
        target: tuple[str, str],
        relationship_type: LinkType = "parentChild",
        *,
        alias: str | None = None,
        tags: Sequence[str] = (),
    ) -> LinkCreated:
        """Link two assets, each a database id and an asset id; a parent is the source.

        Raises ConflictError if they have such a link, or the link would create a cycle.
        """
        body = given(
            fromAssetDatabaseId=source[0],
            fromAssetId=source[1],
            toAssetDatabaseId=target[0],
            toAssetId=target[1],
            relationshipType=relationship_type,
            assetLinkAliasId=alias,
            tags=list(tags),
        )
        return self._transport.write(LinkCreated, "POST", path_of("asset-links"), body=body)

    def get(self, asset_link_id: str) -> Link:
        path = path_of("asset-links", "single", asset_link_id)
        return self._transport.read(_SingleLink, path).asset_link

    def of(self, database_id: str, asset_id: str, *, tree: bool = False) -> AssetLinks:
        """Return the assets linked to an asset; with `tree` all that are below it."""
        return self._transport.read(
            AssetLinks,
            asset_path(database_id, asset_id, "asset-links"),
            query={"childTreeView": tree or None},
        )

    def update(
        self, asset_link_id: str, *, alias: str | None = None, tags: Sequence[str] | None = None
    ) -> Message:
        """Change the passed fields; an empty alias removes it."""
        body = given(assetLinkAliasId=alias, tags=None if tags is None else list(tags))
        path = path_of("asset-links", asset_link_id)
        return self._transport.write(Message, "PUT", path, body=body)

    def delete(self, asset_link_id: str) -> Message:
        """Delete a link with its metadata."""
        path = path_of("asset-links", asset_link_id)
        return self._transport.write(Message, "DELETE", path, body={})
