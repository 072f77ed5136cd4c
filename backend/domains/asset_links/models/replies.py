"""Queries and replies of the routes of links; other slices do not load it."""

from pydantic import Field

from backend.core.models import FullModel, PageQuery, WireModel
from backend.core.names import Id
from backend.domains.asset_links.models import RelationshipType


class LinkPath(WireModel):
    asset_link_id: Id


class RelationPath(WireModel):
    """The path of the DELETE route, where the contract uses another name for the id."""

    relation_id: Id


class LinkMetadataQuery(PageQuery):
    refuses_larger = True  # clients of 2.5.1 request larger pages of all other metadata


class LinksQuery(WireModel):
    child_tree_view: bool = False


class CreateLinkReply(WireModel):
    asset_link_id: str
    message: str


class MessageReply(WireModel):
    message: str


class AssetLinkReply(FullModel):
    asset_link_id: str
    from_asset_id: str
    from_asset_database_id: str
    to_asset_id: str
    to_asset_database_id: str
    relationship_type: RelationshipType
    asset_link_alias_id: str | None = None
    tags: list[str]


class SingleLinkReply(WireModel):
    asset_link: AssetLinkReply
    message: str


class LinkedAsset(FullModel):
    """The asset at the other end of a link."""

    asset_id: str
    asset_name: str
    database_id: str
    asset_link_id: str
    asset_link_alias_id: str | None = None


class TreeNode(LinkedAsset):
    """A linked asset with its own children, down to the depth that was read."""

    children: list["TreeNode"] = Field(default_factory=list["TreeNode"])


class UnauthorizedCounts(WireModel):
    """The number of linked assets that the caller may not see."""

    related: int = 0
    parents: int = 0
    children: int = 0


class LinksReply(WireModel):
    """The assets linked to an asset; in the tree view children have children.

    `truncated` is present and true if the tree has more levels or assets than the reply.
    """

    related: list[LinkedAsset]
    parents: list[LinkedAsset]
    children: list[LinkedAsset | TreeNode]
    unauthorized_counts: UnauthorizedCounts
    message: str
    truncated: bool | None = None
