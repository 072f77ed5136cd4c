"""Exports, a page at a time. Writes only pages that are too large for a reply.

A page is limited in characters and time. An asset with more files continues on the next page.
"""

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from pydantic import BaseModel

from backend.core.clock import Clock
from backend.core.file_kinds import serving_of
from backend.core.identity import Identity
from backend.core.ids import new_uuid
from backend.core.objects import Objects
from backend.core.paging import PageRequest, Position
from backend.core.parallel import in_parallel
from backend.core.references import AssetRef
from backend.domains.asset_links.models import Edge
from backend.domains.asset_links.service.queries import Family, LinkQueries
from backend.domains.assets.models import Asset
from backend.domains.assets.service.commands import AssetService
from backend.domains.exports import rules
from backend.domains.exports.errors import ExportTooLargeError
from backend.domains.exports.models import (
    ExportBody,
    Exported,
    ExportedAsset,
    ExportedFile,
    ExportedRelationship,
    ExportedValue,
    ExportedValues,
    UnauthorizedAsset,
)
from backend.domains.files.models import FileItem, FilesQuery
from backend.domains.files.service.queries import FileQueries
from backend.domains.metadata.models import MAX_RECORDS, AnyEntity, Entity, LinkEntity, Record
from backend.domains.metadata.service.records import RecordService
from backend.spec import routes
from backend.spec.key_layouts import EXPORTS_PREFIX

# Their quarantines are one batch read (decision 43).
FILES_AT_ONCE = 100
# Number of files of an asset from which two queries for all of them replace two per file.
_AT_ONCE_FROM = 8
# Pages of an asset's records, of a megabyte each, which are held in memory.
_MOST_PAGES = 8
# An entity has at most `MAX_RECORDS` besides its facts, which are fewer.
_MOST_RECORDS = 2 * MAX_RECORDS
# Length of one file's values up to which they fit one query. A query returns a megabyte, and a
# character has up to four bytes.
_MOST_CHARS = 250_000
# Time after which a page starts no further asset and no further hundred files. It exceeds that of
# other lists, because clients export small trees and expect one page.
MAX_TIME = timedelta(seconds=10)


class ExportPage(NamedTuple):
    """Some assets; `after` is absent on the last page, `relationships` on all but the first.

    `hidden` counts the linked assets that the caller may not see.
    """

    assets: list[Exported]
    relationships: list[ExportedRelationship] | None
    total: int
    hidden: int
    after: Position | None = None


@dataclass(slots=True)
class _Room:
    """The time, size and number of files that remain for a page."""

    until: datetime
    clock: Clock
    files: int
    chars: int = rules.PAGE_CHARS

    def use(self, sent: Iterable[BaseModel]) -> None:
        self.chars -= sum(len(file.model_dump_json(by_alias=True)) for file in sent)

    @property
    def is_left(self) -> bool:
        return self.files > 0 and self.chars > 0 and self.clock() < self.until


@dataclass(eq=False, repr=False)
class ExportService:
    assets: AssetService
    files: FileQueries
    records: RecordService
    links: LinkQueries
    objects: Objects
    auxiliary: Callable[[], str]
    clock: Clock
    url_seconds: int
    names_hidden: bool
    """Whether the export contains the ids of linked assets that the caller may not see."""

    def export_assets(
        self,
        caller: Identity,
        ref: AssetRef,
        wanted: ExportBody,
        after: Position | None = None,
    ) -> ExportPage:
        """Return a page of the tree below an asset (database id, asset id), itself first.

        S3 requests: one list for 100 keys. Metadata of the files of an asset takes two queries for
        a thousand records; of large assets, or of few files, two a file.

        Raises:
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
            ExportTooLargeError: a part of an asset does not fit a page.
            FamilyTooLargeError: the tree is too large; parts of it can be exported.
        """
        room = _Room(self.clock() + MAX_TIME, self.clock, wanted.max_files or sys.maxsize)
        root = self.assets.get_asset(caller, *ref.ids)
        levels = None if wanted.fetch_entire_children_subtrees else 1
        if not wanted.fetch_asset_relationships:
            levels = 0
        family = self.links.family(caller, root, levels=levels)
        relationships = None
        if after is None and wanted.fetch_asset_relationships:
            relationships = self._relationships(caller, root, family, wanted)
            room.use(relationships)
            if room.chars <= 0:
                raise ExportTooLargeError("The links", "includeAssetLinkMetadata")
        visible = [node for node, asset in family.members.items() if asset is not None]
        members = list(family.members) if self.names_hidden else visible
        hidden = len(family.members) - len(visible)
        page = ExportPage([], relationships, len(members), hidden)
        last: Position | None = None
        for node in rules.remaining_assets(family.root, members, after):
            if page.assets and (len(page.assets) == wanted.max_assets or not room.is_left):
                return page._replace(after=last)
            files = rules.files_after(node, after)
            exported, unread = self._export_asset(caller, family, node, wanted, files, room)
            if wanted.max_files is not None and isinstance(exported, ExportedAsset):
                exported.files_truncated = unread is not None
            page.assets.append(exported)
            if unread is not None:
                return page._replace(after=rules.position_after(node, unread))
            last = rules.position_after(node)
        return page

    def store(self, page: str) -> str:
        """Store the JSON of a page for a short time, and return its presigned URL."""
        bucket, key = self.auxiliary(), f"{EXPORTS_PREFIX}{new_uuid()}.json"
        serving = serving_of(key)
        self.objects.put(bucket, key, page.encode(), content_type=serving.content_type, metadata={})
        return self.objects.presign_get(
            bucket, key, version_id=None, serving=serving, expires=self.url_seconds
        )

    def _relationships(
        self, caller: Identity, root: Asset, family: Family, wanted: ExportBody
    ) -> list[ExportedRelationship]:
        ends = [((node, edge.other), edge) for node, edge in family.edges]
        if wanted.include_parent_relationships:
            parents = self.links.parents(caller, root)
            ends += [((edge.other, family.root), edge) for edge in parents]

        def is_visible(nodes: tuple[AssetRef, AssetRef]) -> bool:
            # Parents are not members; only those that the caller may see are included.
            return all(family.members.get(node, root) for node in nodes)

        if not self.names_hidden:
            ends = [(nodes, edge) for nodes, edge in ends if is_visible(nodes)]

        def relationship(link: tuple[tuple[AssetRef, AssetRef], Edge]) -> ExportedRelationship:
            nodes, edge = link
            if not is_visible(nodes):
                return rules.hidden_relationship(nodes, edge)
            values: ExportedValues = {}
            if wanted.include_asset_link_metadata:
                flag = "includeAssetLinkMetadata"
                databases = tuple(node.database_id for node in nodes)
                values = self._values(LinkEntity(edge.asset_link_id, databases), flag)
            return rules.relationship(nodes, edge, values)

        return in_parallel(relationship, ends)

    def _export_asset(
        self,
        caller: Identity,
        family: Family,
        node: AssetRef,
        wanted: ExportBody,
        files: Position | None,
        room: _Room,
    ) -> tuple[Exported, Position | None]:
        """Return an asset with as many files as fit, and the position in its listing."""
        asset = family.members[node]
        if asset is None:
            unseen = UnauthorizedAsset(asset_id=node.asset_id, database_id=node.database_id)
            return unseen, None
        exported = self._asset(asset, wanted, is_root=node == family.root)
        room.use([exported])
        query = FilesQuery(include_archived=wanted.include_archived_files)
        values = _FileValues(self.records, node)
        ids = {"databaseId": node.database_id, "assetId": node.asset_id}
        with_urls = wanted.generate_presigned_urls and any(
            self.assets.authorization.may_use(caller, route, ids)
            for route in (routes.DOWNLOAD, routes.STREAM_FILE)
        )
        while True:
            limit = min(FILES_AT_ONCE, room.files)
            page = self.files.list_files(caller, node, query, PageRequest(limit, files))
            rows = [item for item in page.items if rules.is_wanted(item, wanted)]
            page_files = self._files(asset, rows, values, wanted, with_urls=with_urls)
            exported.files.extend(page_files)
            room.use(page_files)
            room.files -= len(page_files)
            files = page.after
            # The time limit does not split small assets, which would cost a needless request.
            # With few files at a time, one could take many requests to S3.
            is_small = wanted.max_files is None and len(exported.files) < FILES_AT_ONCE
            is_small = is_small and room.chars > 0
            if files is None or not (room.is_left or is_small):
                return exported, files

    def _asset(self, asset: Asset, wanted: ExportBody, *, is_root: bool) -> ExportedAsset:
        bucket = self.assets.get_bucket(asset.bucket_id)
        metadata: ExportedValues = {}
        if wanted.include_asset_metadata:
            entity = Entity(asset.database_id, asset.asset_id)
            metadata = self._values(entity, "includeAssetMetadata")
        return ExportedAsset(
            is_root_lookup_asset=is_root,
            id=asset.asset_id,
            database_id=asset.database_id,
            asset_id=asset.asset_id,
            bucket_id=asset.bucket_id,
            asset_name=asset.asset_name,
            bucket_name=bucket.bucket_name,
            bucket_prefix=bucket.base_assets_prefix,
            asset_type=asset.asset_type,
            description=asset.description,
            is_distributable=asset.is_distributable,
            tags=asset.tags,
            asset_version_id=asset.current_version.version,
            asset_version_createdate=asset.current_version.date_modified,
            asset_version_comment=asset.current_version.comment,
            archived=asset.is_archived,
            metadata=metadata,
            files=[],
        )

    def _files(
        self,
        asset: Asset,
        rows: Sequence[FileItem],
        values: "_FileValues",
        wanted: ExportBody,
        *,
        with_urls: bool,
    ) -> list[ExportedFile]:
        bucket, _ = self.assets.location(asset)
        if wanted.include_file_metadata:
            values.prepare(sum(not item.is_folder for item in rows))

        def exported_file(item: FileItem) -> ExportedFile:
            metadata: ExportedValues = {}
            attributes: ExportedValues = {}
            if wanted.include_file_metadata and not item.is_folder:
                at = (asset.database_id, asset.asset_id, item.relative_path)
                metadata = self._file_values(values, Entity(*at))
                attributes = self._file_values(values, Entity(*at, "attribute"))
            url = self._url(asset, bucket, item) if with_urls else None
            return ExportedFile.model_validate(
                {
                    **item.model_dump(),
                    "preview_file": item.preview_file or "",
                    "metadata": metadata,
                    "attributes": attributes,
                    "presigned_file_download_url": url,
                    "presigned_file_download_expires_in": self.url_seconds if url else None,
                }
            )

        return in_parallel(exported_file, rows)

    def _file_values(self, values: "_FileValues", entity: Entity) -> ExportedValues:
        known = values.known(entity)
        return self._values(entity, "includeFileMetadata") if known is None else known

    def _url(self, asset: Asset, bucket: str, item: FileItem) -> str | None:
        """Return the URL of a file, if its asset is distributable and it can be downloaded."""
        if not asset.is_distributable or item.is_folder:
            return None
        if item.is_archived or item.is_quarantined:
            return None
        return self.objects.presign_get(
            bucket,
            item.key,
            version_id=item.version_id,
            serving=serving_of(item.key),
            expires=self.url_seconds,
        )

    def _values(self, entity: AnyEntity, flag: str) -> ExportedValues:
        """Return the metadata of one entity, in one request.

        Raises:
            ExportTooLargeError: the metadata exceeds a megabyte, the limit of one request.
        """
        page = self.records.list_stored(entity, PageRequest(_MOST_RECORDS))
        if page.after is not None:
            raise ExportTooLargeError("The values of one entity", flag)
        return _exported_values(page.items)


class _FileValues:
    """The metadata of the files of one asset, read at once where that takes fewer queries."""

    def __init__(self, records: RecordService, ref: AssetRef) -> None:
        self._records = records
        self._kinds = (Entity(*ref.ids), Entity(*ref.ids, "/", "attribute"))
        self._found: dict[str, dict[str, list[Record]] | None] | None = None

    def prepare(self, files: int) -> None:
        """Read the records of all files, before those of so many are requested."""
        if self._found is not None or files < _AT_ONCE_FROM:
            return
        most_pages = min(files, _MOST_PAGES)

        def records(of: Entity) -> dict[str, list[Record]] | None:
            return self._records.list_stored_in_asset(of, most_pages)

        kinds = [kind.kind for kind in self._kinds]
        self._found = dict(zip(kinds, in_parallel(records, self._kinds), strict=True))

    def known(self, entity: Entity) -> ExportedValues | None:
        """Return the values of a file; None if a query for it has to return or refuse them."""
        by_path = (self._found or {}).get(entity.kind)
        if by_path is None:
            return None
        records = by_path.get(entity.path, [])
        size = sum(len(record.metadata_value) for record in records)
        if len(records) > _MOST_RECORDS or size > _MOST_CHARS:
            return None
        return _exported_values(records)


def _exported_values(records: Iterable[Record]) -> ExportedValues:
    return {
        record.metadata_key: ExportedValue(
            value_type=record.metadata_value_type, value=record.metadata_value
        )
        for record in records
    }
