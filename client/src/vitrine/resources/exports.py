"""Exports of assets and of the trees below them, page by page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import Field, JsonValue

from vitrine.errors import ProtocolError
from vitrine.models import Wire
from vitrine.resources.assets import asset_path
from vitrine.resources.resource import Resource
from vitrine.transport import parse


@dataclass(frozen=True, kw_only=True)
class ExportFlags:
    """The parts of assets to export, as the contract names them, with its defaults."""

    generate_presigned_urls: bool = False
    include_folder_files: bool = False
    include_only_primary_type_files: bool = False
    include_file_metadata: bool = True
    include_asset_link_metadata: bool = True
    include_asset_metadata: bool = True
    fetch_asset_relationships: bool = True
    fetch_entire_children_subtrees: bool = False
    include_parent_relationships: bool = False
    include_archived_files: bool = False
    file_extensions: Sequence[str] = ()
    max_assets: int | None = None

    def body(self) -> dict[str, JsonValue]:
        return {
            "generatePresignedUrls": self.generate_presigned_urls,
            "includeFolderFiles": self.include_folder_files,
            "includeOnlyPrimaryTypeFiles": self.include_only_primary_type_files,
            "includeFileMetadata": self.include_file_metadata,
            "includeAssetLinkMetadata": self.include_asset_link_metadata,
            "includeAssetMetadata": self.include_asset_metadata,
            "fetchAssetRelationships": self.fetch_asset_relationships,
            "fetchEntireChildrenSubtrees": self.fetch_entire_children_subtrees,
            "includeParentRelationships": self.include_parent_relationships,
            "includeArchivedFiles": self.include_archived_files,
            **({"fileExtensions": list(self.file_extensions)} if self.file_extensions else {}),
            **({} if self.max_assets is None else {"maxAssets": self.max_assets}),
        }


class ExportedFile(Wire):
    relative_path: str
    is_folder: bool = False
    size: int | None = None


class ExportedAsset(Wire):
    """An asset with files of it; one that the caller may not see has only its ids.

    If its files do not fit a page, the next page has the same asset again, with more of them.
    """

    asset_id: str = Field(validation_alias="assetid", serialization_alias="assetid")
    database_id: str = Field(validation_alias="databaseid", serialization_alias="databaseid")
    asset_name: str = Field(
        default="", validation_alias="assetname", serialization_alias="assetname"
    )
    files: tuple[ExportedFile, ...] = ()


class UnseenAsset(Wire):
    """A linked asset that the caller may not see; not every deployment names them."""

    asset_id: str
    database_id: str
    unauthorized_asset: bool


class ExportPage(Wire):
    """Some assets of the tree; only the first page has links."""

    assets: tuple[ExportedAsset | UnseenAsset, ...]
    relationships: tuple[JsonValue, ...] | None = None
    next_token: str | None = Field(
        default=None, validation_alias="NextToken", serialization_alias="NextToken"
    )
    total_assets_in_tree: int
    assets_in_this_page: int
    unauthorized_asset_count: int = 0
    """Number of linked assets that the caller may not see."""


class Exports(Resource):
    def pages(
        self, database_id: str, asset_id: str, flags: ExportFlags | None = None
    ) -> Iterator[ExportPage]:
        """Yield the pages of an export, each requested when the previous one is used up.

        Raises:
            ProtocolError: a page has another form, or a token is repeated.
        """
        path = asset_path(database_id, asset_id, "export")
        body = (flags or ExportFlags()).body()
        seen: set[str] = set()
        while True:
            response = self._transport.send("POST", path, body=body, repeatable=True)
            page = parse(ExportPage, response)
            yield page
            token = page.next_token
            if not token:
                return
            if token in seen:
                raise ProtocolError(f"POST {path}: the server returned the same page token twice")
            seen.add(token)
            body = {**body, "startingToken": token}
