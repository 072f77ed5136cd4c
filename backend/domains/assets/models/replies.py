"""Queries and replies of the routes of assets; other slices do not load it."""

from typing import Annotated, Literal

from pydantic import Field

from backend.core.models import PageQuery, WireModel
from backend.core.names import Id
from backend.domains.assets.models import AssetChange, AssetStatus, CurrentVersionReply, Location


class DatabasePath(WireModel):
    database_id: Id


class AssetQuery(WireModel):
    show_archived: Annotated[
        bool, Field(description="Return the asset even if it is archived.")
    ] = False


class AssetsQuery(PageQuery):
    show_archived: Annotated[
        bool, Field(description="Include archived assets. Each asset has its `status`.")
    ] = False


class CreateAssetReply(WireModel):
    asset_id: str
    message: str


class UpdateAssetReply(WireModel):
    success: bool = True
    message: str
    asset_id: str
    operation: Literal["update"] = "update"
    timestamp: str


class AssetReply(WireModel):
    """An asset with the name of its bucket."""

    database_id: str
    asset_id: str
    asset_name: str
    description: str
    is_distributable: bool
    tags: list[str]
    asset_type: str
    status: AssetStatus
    bucket_id: str
    bucket_name: str
    current_version: CurrentVersionReply
    asset_location: Location
    preview_location: Location | None = None
    archived_at: str | None = None
    archived_by: str | None = None
    archived_reason: str | None = None


class AssetsReply(WireModel):
    items: Annotated[list[AssetReply], Field(alias="Items")]
    next_token: Annotated[str | None, Field(alias="NextToken")] = None


class AssetHistoryQuery(PageQuery):
    default_items = 100
    refuses_larger = True


class AssetHistoryReply(WireModel):
    message: Literal["Success"] = "Success"
    items: Annotated[list[AssetChange], Field(alias="Items")]
    next_token: Annotated[str | None, Field(alias="NextToken")] = None
