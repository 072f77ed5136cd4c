"""Links as stored, and the bodies that create and change them."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from backend.core.models import WireModel
from backend.core.names import AssetId, Id, Line, check_words
from backend.core.references import AssetRef

RelationshipType = Literal["related", "parentChild"]
EdgeKind = Literal["child", "parent", "related"]
"""The relation of the linked asset to this one."""

# The contract's limit.
MAX_ALIAS_CHARS = 128
MAX_LINK_TAGS = 50
# Links of one kind at one asset. The contract has no limit; a reply contains all of them.
MAX_LINKS = 1000
# Assets above a parent or below a child that must be unchanged. A transaction has at most 100
# items.
MAX_WALKED = 80
# A tree is read level by level, each asset with its edges, and returned in one reply (decision 22).
MAX_TREE_NODES = 1000
MAX_TREE_DEPTH = 32


class Edge(WireModel):
    """One end of a link, as listed at that end: the asset at the other end."""

    kind: EdgeKind
    asset_link_id: str
    database_id: str
    asset_id: str
    asset_link_alias_id: str | None = None

    @property
    def other(self) -> AssetRef:
        return AssetRef(self.database_id, self.asset_id)


class AssetLink(WireModel):
    """A link as stored; for `parentChild`, it leads from the parent to the child."""

    asset_link_id: str
    from_asset_id: str
    from_asset_database_id: str
    to_asset_id: str
    to_asset_database_id: str
    relationship_type: RelationshipType
    asset_link_alias_id: str | None = None
    tags: list[str] = Field(default_factory=list)
    created_at: str = ""
    created_by: str = ""
    updated_at: str = ""
    revision: int = 1

    @property
    def source(self) -> AssetRef:
        return AssetRef(self.from_asset_database_id, self.from_asset_id)

    @property
    def target(self) -> AssetRef:
        return AssetRef(self.to_asset_database_id, self.to_asset_id)


def _distinct(tags: list[str]) -> list[str]:
    if len(set(tags)) != len(tags):
        raise ValueError("contains a tag twice")
    return tags


Alias = Annotated[Line, Field(max_length=MAX_ALIAS_CHARS)]
LinkTag = Annotated[Line, Field(min_length=1, max_length=256), AfterValidator(check_words)]
LinkTags = Annotated[list[LinkTag], Field(max_length=MAX_LINK_TAGS), AfterValidator(_distinct)]


class CreateLinkBody(WireModel):
    """The assets to link. An alias distinguishes links between the same parent and child."""

    from_asset_id: AssetId
    from_asset_database_id: Id
    to_asset_id: AssetId
    to_asset_database_id: Id
    relationship_type: RelationshipType
    asset_link_alias_id: Alias | None = None
    tags: LinkTags | None = None


class UpdateLinkBody(WireModel):
    """The fields to change, at least one; an empty alias removes it."""

    asset_link_alias_id: Alias | None = None
    tags: LinkTags | None = None

    @model_validator(mode="after")
    def require_change(self) -> "UpdateLinkBody":
        if self.asset_link_alias_id is None and self.tags is None:
            raise ValueError("at least one of assetLinkAliasId and tags is required")
        return self
