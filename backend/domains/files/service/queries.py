"""Lists and describes files. Writes nothing."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from backend.core.clock import Clock, iso, utc_now
from backend.core.errors import InvalidInputError
from backend.core.file_kinds import is_asset_preview, is_file, preview_base
from backend.core.identity import Identity
from backend.core.names import extension_of
from backend.core.objects import ObjectHead, Objects, ObjectVersion, VersionRef
from backend.core.paging import MAX_TIME_PER_PAGE, Page, PageRequest
from backend.core.parallel import in_parallel
from backend.core.previews import asset_preview_key, shown_preview_key
from backend.core.references import AssetRef
from backend.domains.assets.errors import FileNotFoundInAssetError
from backend.domains.assets.models import NO_FILES, Asset, AssetVersion
from backend.domains.assets.service.commands import AssetService
from backend.domains.files import rules
from backend.domains.files.models import (
    AssetVersionLabel,
    FileItem,
    FileQuery,
    FileReply,
    FilesQuery,
    FileVersion,
)
from backend.domains.files.repository import FileRepository, SnapshotFile
from backend.domains.files.service.origins import FileOrigins
from backend.domains.files.service.rows import (
    Entries,
    FileTarget,
    Found,
    has_no_type,
    head_facts,
    held_item,
    items_with_marks,
    page_of,
    version_facts,
    with_marks,
    with_reason,
)
from backend.domains.files.service.states import FileState, FileStates, newest_versions
from backend.domains.quarantine.service.queries import Quarantine
from backend.spec.buckets import (
    CHECKSUM_METADATA,
    CHECKSUM_VERIFIED_METADATA,
    PRIMARY_TYPE_METADATA,
)
from backend.spec.key_layouts import is_generated_preview

SEVERAL_FILES = "folder"
UNKNOWN_EXTENSION = "unknown"
"""The type of an asset with a single file without an extension."""

# Versions of one file, the newest ones, and of its asset that `fileInfo` lists: one list request
# and one query.
MAX_FILE_VERSIONS = 1000

# Files that are read before the time is checked: a HEAD each.
_AT_ONCE = 100


@dataclass(eq=False, repr=False)
class FileQueries:
    files: FileRepository
    assets: AssetService
    objects: Objects
    quarantine: Quarantine
    clock: Clock = utc_now

    def list_files(
        self,
        caller: Identity,
        ref: AssetRef,
        query: FilesQuery,
        page: PageRequest,
        *,
        with_origins: bool = False,
    ) -> Page[FileItem]:
        """List files and folders of an asset (database id, asset id) by key.

        Previews are not listed. `with_origins` adds their origins, unless `basic`: one
        request to a table for 100 files, and one list of their versions if some are archived.

        With an asset version, the files of its snapshot by path. S3 requests: one list for 500
        keys, and, unless `basic`, one for 1,000 of their versions and one HEAD for each file that
        may have a primary type; a page is shorter if it takes too long. Where uploads are scanned,
        one request to a table for 100 files.

        Raises:
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
            AssetVersionNotFoundError: it has no such version.
            InvalidInputError: the prefix is outside the asset.
        """
        asset = self.assets.get_asset(caller, *ref.ids, show_archived=query.include_archived)
        version = self._wanted_version(asset, query)

        def part(request: PageRequest) -> Page[FileItem]:
            if version is not None:
                return self._snapshot_page(asset, query, version, request)
            bucket, prefix = self.assets.location(asset)
            listed = rules.listed_prefix(prefix, query.prefix)
            entries = Entries(self.objects, bucket, listed, query.include_archived, request.limit)
            level = page_of(entries, prefix, request)
            if query.basic:
                return Page(tuple(item for item, _ in level.items), level.after)
            return Page(self._complete(asset, bucket, level.items), level.after)

        if query.basic:
            return part(page)
        listed = self._in_time(part, page, _AT_ONCE if asset.typed_files is None else page.limit)
        bucket, _ = self.assets.location(asset)
        items = items_with_marks(self.quarantine, bucket, listed.items)
        if with_origins:
            items = self._origins.of_items(caller, asset, items)
        return Page(items, listed.after)

    def get_file(self, caller: Identity, ref: AssetRef, query: FileQuery) -> FileReply:
        """Return one file or folder of an asset (database id, asset id), also if archived.

        S3 requests: one HEAD and one list, one more list a thousand versions, and a read of 4 kB
        where only the content shows whether the file is inspected.

        Raises:
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
            AssetVersionNotFoundError: it has no such version.
            FileNotFoundInAssetError: the asset has no such file.
            InvalidInputError: the path is invalid, or that of a folder together with a version.
        """
        asset = self.assets.get_asset(caller, *ref.ids, show_archived=True)
        held = self._wanted_version(asset, query)
        if query.file_path.endswith("/"):
            if held is not None:
                raise InvalidInputError.of("filePath", "is a folder; only files have versions")
            return self._folder(asset, query.file_path)
        target = self.target(asset, query.file_path, field="filePath")
        wanted = None if held is None else self.version_id_in(target, held)
        head = self.objects.head(target.bucket, target.key, version_id=wanted)
        if head is None:
            raise FileNotFoundInAssetError(target.path, asset.asset_id)
        versions = None
        if query.include_versions or isinstance(head, ObjectVersion):
            versions = self._versions(target)
        if isinstance(head, ObjectVersion):
            reply = self._describe_archived(target, head, versions or [])
        else:
            preview = shown_preview_key(self.objects, target.bucket, target.key)
            reply = _describe_file(target, head, preview)
        listed = {"versions": versions if query.include_versions else None}
        reply = with_marks(self.quarantine, target.bucket, reply.model_copy(update=listed))
        reply = self._origins.of_file(caller, target, reply)
        if held is not None or isinstance(head, ObjectVersion):
            return reply
        return with_reason(self.objects, target.bucket, head, reply)

    def target(self, asset: Asset, sent: str, *, field: str) -> FileTarget:
        """Return the place of the file that a client names by its path or by its key.

        Raises:
            InvalidInputError: it is not the path of a file; the message names `field`.
        """
        bucket, prefix = self.assets.location(asset)
        return FileTarget(asset, bucket, prefix, rules.file_key(prefix, sent, field=field))

    def check_clean(self, bucket: str, key: str, version_id: str) -> None:
        """Require that the version may be read or copied; of a preview, its file too.

        Raises:
            FileQuarantinedError: a malware scan found a threat in it.
        """
        self.quarantine.check_clean(bucket, key, version_id)
        base = preview_base(key)
        if base is None or not self.quarantine.scans():
            return
        file = self.objects.head(bucket, base)
        if isinstance(file, ObjectHead):
            self.quarantine.check_clean(bucket, base, file.version.version_id)

    def find_quarantined(self, bucket: str, versions: Iterable[VersionRef]) -> Set[VersionRef]:
        """Return those of some versions that are quarantined; none where nothing is scanned."""
        return self.quarantine.among(bucket, versions) or frozenset[VersionRef]()

    def preview_of(self, asset: Asset) -> tuple[str, str | None]:
        """Return the bucket of an asset and the key of its preview, if it has one.

        The preview that the asset's row names takes precedence over one at the asset's root, unless
        it was generated.
        """
        bucket, prefix = self.assets.location(asset)
        named = None if asset.preview_location is None else asset.preview_location.key
        if named is not None and not is_generated_preview(asset.asset_id, named):
            return bucket, named
        return bucket, asset_preview_key(self.objects, bucket, prefix) or named

    def asset_type(self, asset: Asset) -> str:
        """Return the type of the asset by its current files: an extension, `folder`, or `none`."""
        bucket, prefix = self.assets.location(asset)
        after: str | None = None
        paths: list[str] = []
        while len(paths) < 2:
            page = self.objects.list_objects(bucket, prefix, limit=50, after=after)
            keys = (item.key for item in page.objects if is_file(item.key))
            # The asset's preview is not part of its content.
            paths += (key for key in keys if not is_asset_preview(prefix, key))
            after = page.next_key
            if after is None:
                break
        if len(paths) > 1:
            return SEVERAL_FILES
        return (extension_of(paths[0]) or UNKNOWN_EXTENSION) if paths else NO_FILES

    def version_id_in(self, target: FileTarget, version: AssetVersion) -> str:
        """Return the S3 version id of a file in a version of the asset.

        Raises:
            FileNotFoundInAssetError: the version does not contain the file.
        """
        wanted = SnapshotFile(version.snapshot, target.path)
        snapshot = self.files.snapshots(target.asset, [wanted.snapshot_id], [wanted.path]).get(
            wanted
        )
        if snapshot is None:
            raise FileNotFoundInAssetError(target.path, target.asset.asset_id)
        return snapshot.version_id

    @cached_property
    def _origins(self) -> FileOrigins:
        return FileOrigins(self.files, self.assets, self.objects)

    def _wanted_version(self, asset: Asset, query: FilesQuery | FileQuery) -> AssetVersion | None:
        wanted = query.asset_version_id, query.asset_version_id_alias
        return self.assets.wanted_version(asset, *wanted)

    def _in_time(
        self, fetch: Callable[[PageRequest], Page[FileItem]], page: PageRequest, at_once: int
    ) -> Page[FileItem]:
        """Return a page in parts, until it is full or time is up."""
        stop = self.clock() + MAX_TIME_PER_PAGE
        items: list[FileItem] = []
        after = page.after
        while True:
            fetched = fetch(PageRequest(min(at_once, page.limit - len(items)), after))
            items += fetched.items
            after = fetched.after
            if after is None or len(items) >= page.limit or self.clock() >= stop:
                return Page(tuple(items), after)

    def _snapshot_page(
        self, asset: Asset, query: FilesQuery, version: AssetVersion, page: PageRequest
    ) -> Page[FileItem]:
        snapshot_id = version.snapshot
        bucket, prefix = self.assets.location(asset)
        beginning = rules.relative_path(prefix, rules.listed_prefix(prefix, query.prefix))
        held = self.files.list_files(asset, snapshot_id, beginning, page)
        items = [held_item(prefix, file) for file in held.items]
        if query.basic:
            return Page(tuple(items), held.after)
        now = asset.current_snapshot
        current = self.files.snapshots(asset, [now], [item.relative_path for item in items])
        untyped = {item.key: item for item in items if has_no_type(asset, item)}
        wanted = {key: item.version_id or "" for key, item in untyped.items()}
        states = FileStates(self.objects).of(bucket, prefix, wanted)

        def complete(item: FileItem) -> FileItem:
            state = states.get(item.key, FileState())
            facts = version_facts(state.wanted)
            is_gone = state.wanted is None
            if item.key not in untyped:
                head = self.objects.head(bucket, item.key, version_id=item.version_id)
                is_gone, facts = head is None, head_facts(head)
            in_current = current.get(SnapshotFile(now, item.relative_path))
            mismatch = in_current is None or in_current.version_id != item.version_id
            return item.model_copy(
                update={
                    "is_permanently_deleted": is_gone,
                    "current_asset_version_file_version_mismatch": mismatch,
                    **facts,
                }
            )

        return Page(tuple(in_parallel(complete, items)), held.after)

    def _complete(self, asset: Asset, bucket: str, files: Sequence[Found]) -> tuple[FileItem, ...]:
        """Return the items with their S3 versions and the snapshot of the current version.

        HEADs are requested for files that may have a primary type.
        """
        now = asset.current_snapshot
        paths = [item.relative_path for item, _ in files if not item.is_folder]
        current = self.files.snapshots(asset, [now], paths)
        active = [item for item, version in files if version is not None and not item.is_archived]
        untyped = {item.key: item for item in active if has_no_type(asset, item)}
        unknown = [key for key, item in untyped.items() if item.version_id is None]
        _, prefix = self.assets.location(asset)
        newest = newest_versions(self.objects, bucket, prefix, unknown)

        def complete(file: Found) -> FileItem:
            item, version = file
            if version is None:
                return item
            if item.key in untyped:
                listed = version if item.version_id is not None else newest.get(item.key)
                item = item.model_copy(update=version_facts(listed))
            elif not item.is_archived:
                head = self.objects.head(bucket, item.key)
                item = item.model_copy(update=head_facts(head))
            in_current = current.get(SnapshotFile(now, item.relative_path))
            same = in_current is not None and in_current.version_id == item.version_id
            mismatch = {"current_asset_version_file_version_mismatch": not same}
            return item.model_copy(update=mismatch)

        return tuple(in_parallel(complete, files))

    def _folder(self, asset: Asset, sent: str) -> FileReply:
        bucket, prefix = self.assets.location(asset)
        key = rules.folder_key(prefix, sent, field="filePath")
        if not self.objects.list_objects(bucket, key, limit=1).objects:
            raise FileNotFoundInAssetError(rules.relative_path(prefix, key), asset.asset_id)
        return FileReply(
            file_name=rules.name_of(key),
            key=key,
            relative_path=rules.relative_path(prefix, key),
            is_folder=True,
        )

    def _describe_archived(
        self, target: FileTarget, marker: ObjectVersion, versions: Sequence[FileVersion]
    ) -> FileReply:
        """Return an archived file, described by the version that the marker hides."""
        covered = next((version for version in versions if not version.is_archived), None)
        if covered is None:
            raise FileNotFoundInAssetError(target.path, target.asset.asset_id)
        head = self.objects.head(target.bucket, target.key, version_id=covered.version_id)
        if not isinstance(head, ObjectHead):
            raise FileNotFoundInAssetError(target.path, target.asset.asset_id)
        return _describe_file(target, head, None).model_copy(
            update={"is_archived": True, "last_modified": iso(marker.last_modified)}
        )

    def _versions(self, target: FileTarget) -> list[FileVersion]:
        versions: list[ObjectVersion] = []
        key, version_id = None, None
        while len(versions) < MAX_FILE_VERSIONS:
            page = self.objects.list_versions(
                target.bucket, target.key, after_key=key, after_version_id=version_id
            )
            versions += [version for version in page.versions if version.key == target.key]
            key, version_id = page.next_key, page.next_version_id
            # Longer keys with this prefix come after all versions of the key itself.
            if key is None or key != target.key:
                break
        del versions[MAX_FILE_VERSIONS:]
        labels = {
            version.snapshot: AssetVersionLabel(
                id=version.asset_version_id,
                label=version.version_alias or version.asset_version_id,
            )
            for version in self.files.list_versions(target.asset, limit=MAX_FILE_VERSIONS)
        }
        held: dict[str, list[AssetVersionLabel]] = {}
        current: str | None = None
        for (snapshot_id, _), snapshot in self.files.snapshots(
            target.asset, labels, [target.path]
        ).items():
            held.setdefault(snapshot.version_id, []).append(labels[snapshot_id])
            if snapshot_id == target.asset.current_snapshot:
                current = snapshot.version_id
        return [_version_of(version, held, current) for version in versions]


def _describe_file(target: FileTarget, head: ObjectHead, preview: str | None) -> FileReply:
    checksum = head.metadata.get(CHECKSUM_METADATA)
    verified = head.metadata.get(CHECKSUM_VERIFIED_METADATA) == "true"
    return FileReply(
        file_name=rules.name_of(target.key),
        key=target.key,
        relative_path=target.path,
        is_folder=False,
        size=head.version.size,
        content_type=head.content_type,
        last_modified=iso(head.version.last_modified),
        etag=head.version.etag,
        storage_class=head.version.storage_class,
        version_id=head.version.version_id,
        primary_type=head.metadata.get(PRIMARY_TYPE_METADATA, ""),
        preview_file=preview,
        checksum_sha256=checksum,
        checksum_verified=None if checksum is None else verified,
    )


def _version_of(
    version: ObjectVersion, held: Mapping[str, list[AssetVersionLabel]], current: str | None
) -> FileVersion:
    return FileVersion(
        version_id=version.version_id,
        last_modified=iso(version.last_modified),
        size=version.size,
        is_latest=version.is_latest,
        storage_class=version.storage_class,
        etag=version.etag,
        is_archived=version.is_delete_marker,
        current_asset_version_file_version_mismatch=version.version_id != current,
        asset_version_ids=held.get(version.version_id, []),
    )
