"""Finds the file or folder that a request names, and checks its state."""

from dataclasses import dataclass
from typing import NamedTuple

from backend.core.errors import (
    InvalidInputError,
    NotFoundError,
)
from backend.core.file_kinds import is_file, is_preview
from backend.core.identity import Identity
from backend.core.objects import ObjectHead, Objects, ObjectVersion
from backend.core.references import AssetRef
from backend.domains.assets.errors import FileNotFoundInAssetError
from backend.domains.assets.models import Asset
from backend.domains.assets.service.commands import AssetService
from backend.domains.databases.service import DatabaseService
from backend.domains.files import rules
from backend.domains.files.errors import FileExistsInAssetError, FileStateError
from backend.domains.files.service.companions import Companions
from backend.domains.files.service.queries import FileQueries
from backend.domains.files.service.rows import FileTarget

# Maximum number of a folder's files in a reply: one page of a list request.
_LISTED = 1000
# Pages that a request reads to count the files of a folder.
_COUNTED = 20


class Named(NamedTuple):
    """Files that a reply names, and whether the folder has more."""

    paths: tuple[str, ...]
    more: bool = False


@dataclass(eq=False, repr=False)
class FileLookup:
    files: FileQueries
    assets: AssetService
    databases: DatabaseService
    objects: Objects
    companions: Companions

    def asset(self, caller: Identity, ref: AssetRef) -> Asset:
        """Return the asset, for a caller who may change its files.

        Raises:
            AssetNotFoundError: it does not exist, or the caller may not see it.
            PermissionDeniedError: the caller may see it, but not change its files.
        """
        return self.assets.asset_for(caller, "POST", *ref.ids)

    def place(self, asset: Asset, sent: str, *, is_prefix: bool = False) -> FileTarget:
        """Return the place of a file, or with `is_prefix` of a folder.

        Raises:
            InvalidInputError: the path is invalid, or the asset itself.
        """
        if is_prefix:
            return self.folder(asset, sent, field="filePath")
        return self.files.target(asset, sent, field="filePath")

    def folder(self, asset: Asset, sent: str, *, field: str) -> FileTarget:
        """As `place`, for a folder."""
        bucket, prefix = self.assets.location(asset)
        return FileTarget(asset, bucket, prefix, rules.folder_key(prefix, sent, field=field))

    def source(self, asset: Asset, sent: str) -> FileTarget:
        """Return the place of a file to move or copy.

        Raises:
            InvalidInputError: the path is invalid, or a preview's.
        """
        place = self.files.target(asset, sent, field="sourcePath")
        if is_preview(place.key):
            raise InvalidInputError.of(
                "sourcePath", "is a preview; previews are changed with their file"
            )
        return place

    def destination(self, asset: Asset, sent: str) -> FileTarget:
        """Return the new place of a moved or copied file.

        Raises:
            InvalidInputError: the path is not allowed in this database.
            NotFoundError: the database does not exist.
        """
        place = self.files.target(asset, sent, field="destinationPath")
        database = self.databases.find_database(asset.database_id)
        if database is None:
            raise NotFoundError(f"Database {asset.database_id} does not exist")
        allowed = database.restrict_file_uploads_to_extensions
        rules.check_name(owner_of(place), place.path, allowed, field="destinationPath")
        return place

    def find_existing(self, place: FileTarget) -> ObjectHead | ObjectVersion:
        """Return the attributes of a file in the store; its marker if it is archived.

        Raises:
            FileNotFoundInAssetError: the file does not exist.
        """
        head = self.objects.head(place.bucket, place.key)
        if head is None:
            raise FileNotFoundInAssetError(place.path, place.asset.asset_id)
        return head

    def active(self, place: FileTarget) -> ObjectHead:
        """Return the attributes of a file that is not archived.

        Raises:
            FileNotFoundInAssetError: the file does not exist.
            FileStateError: it is archived.
        """
        head = self.find_existing(place)
        if isinstance(head, ObjectVersion):
            raise FileStateError(place.path, "is archived: restore it first")
        return head

    def readable(self, place: FileTarget) -> ObjectHead:
        """As `active`, for the source of a copy, where the contract requires a 400.

        Raises:
            FileQuarantinedError: a malware scan found a threat in it.
        """
        head = self.find_existing(place)
        if isinstance(head, ObjectVersion):
            raise InvalidInputError.of("sourcePath", "is archived: restore it first")
        self.check_clean(place, head.version.version_id)
        return head

    def check_clean(self, place: FileTarget, version_id: str) -> None:
        """Require that a version of a file may be copied.

        Raises:
            FileQuarantinedError: a malware scan found a threat in it.
        """
        self.files.check_clean(place.bucket, place.key, version_id)

    def require_unused_name(self, place: FileTarget) -> None:
        """Require that the name is not used, or only by an archived file without other data.

        As in an upload, the new content becomes the newest version of such a file. Its metadata,
        attributes and viewer data have no versions: a copy would replace them.

        Raises:
            FileExistsInAssetError: a file or a folder has the name, or an archived file with data.
        """
        asset_id = place.asset.asset_id
        head = self.objects.head(place.bucket, place.key)
        replaced = self.companions.own_data(place) if isinstance(head, ObjectVersion) else None
        if isinstance(head, ObjectHead) or replaced is not None:
            raise FileExistsInAssetError(place.path, asset_id, replaced=replaced)
        if self.objects.list_objects(place.bucket, place.key + "/", limit=1).objects:
            raise FileExistsInAssetError(place.path + "/", asset_id)

    def files_in(self, place: FileTarget) -> Named:
        """Return the first files of a folder that are not archived.

        Raises:
            FileNotFoundInAssetError: there are none.
        """
        page = self.objects.list_objects(place.bucket, place.key, limit=_LISTED)
        keys = [item.key for item in page.objects if not item.key.endswith("/")]
        return self._name_page(place, keys, more=page.next_key is not None)

    def count_files(self, place: FileTarget) -> int | None:
        """Return the number of a folder's files that are not archived; None for very many.

        Raises:
            FileNotFoundInAssetError: the folder does not exist.
        """
        count, after = 0, None
        for _ in range(_COUNTED):
            page = self.objects.list_objects(place.bucket, place.key, after=after)
            if not page.objects and after is None:
                raise FileNotFoundInAssetError(place.path, place.asset.asset_id)
            count += sum(is_file(item.key) for item in page.objects)
            after = page.next_key
            if after is None:
                return count
        return None

    def has_archived_files(self, place: FileTarget) -> bool:
        """Return whether a file of a folder is archived; True if that takes too long to find out.

        Raises:
            FileNotFoundInAssetError: the folder does not exist.
        """
        after = None
        for _ in range(_COUNTED):
            page = self.objects.list_versions(place.bucket, place.key, after_key=after)
            if not page.versions and after is None:
                raise FileNotFoundInAssetError(place.path, place.asset.asset_id)
            if any(
                version.is_latest and version.is_delete_marker and is_file(version.key)
                for version in page.versions
            ):
                return True
            after = page.next_key
            if after is None:
                return False
        return True

    def all_files_in(self, place: FileTarget) -> Named:
        """Return the first files of a folder, including archived ones and markers of folders.

        Raises:
            FileNotFoundInAssetError: there are none.
        """
        page = self.objects.list_versions(place.bucket, place.key, limit=_LISTED)
        keys = {version.key for version in page.versions}
        if not keys:  # some stores keep no versions of the markers of folders
            listed = self.objects.list_objects(place.bucket, place.key, limit=1)
            keys = {item.key for item in listed.objects}
        return self._name_page(place, sorted(keys), more=page.next_key is not None)

    def last_version(self, place: FileTarget) -> str:
        """Return the newest version of an archived file.

        Raises:
            FileNotFoundInAssetError: only markers are left of it.
        """
        page = self.objects.list_versions(place.bucket, place.key)
        for version in page.versions:
            if version.key == place.key and not version.is_delete_marker:
                return version.version_id
        raise FileNotFoundInAssetError(place.path, place.asset.asset_id)

    def _name_page(self, place: FileTarget, keys: list[str], *, more: bool) -> Named:
        if not keys:
            raise FileNotFoundInAssetError(place.path, place.asset.asset_id)
        paths = (rules.relative_path(place.prefix, key) for key in keys if not is_preview(key))
        return Named(tuple(paths), more)


def owner_of(place: FileTarget) -> rules.Owner:
    return rules.Owner(place.asset.database_id, place.asset.asset_id, place.prefix)
