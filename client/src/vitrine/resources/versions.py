"""Versions of assets: create, list, get, compare, archive, revert."""

from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from vitrine.models import AssetIds
from vitrine.replies import AssetVersion as AssetVersion
from vitrine.replies import Comparison as Comparison
from vitrine.replies import FileDifference as FileDifference
from vitrine.replies import FileDifferences as FileDifferences
from vitrine.replies import GeometryDifference as GeometryDifference
from vitrine.replies import MadeVersion as MadeVersion
from vitrine.replies import RecordDifference as RecordDifference
from vitrine.replies import RecordDifferences as RecordDifferences
from vitrine.replies import VersionFile as VersionFile
from vitrine.replies import VersionRecord as VersionRecord
from vitrine.replies import WholeVersion as WholeVersion
from vitrine.resources.resource import Resource, given
from vitrine.transport import path_of

"""A database id and an asset id."""


class AssetVersions(Resource):
    """Versions of one asset; a large one is created by a job that the reply names."""

    def create(
        self,
        ids: AssetIds,
        comment: str,
        *,
        alias: str | None = None,
        files: Mapping[str, str] | None = None,
    ) -> MadeVersion:
        """Create a version of all current files, or of these S3 versions by path.

        Raises ConflictError if another version has the alias.
        """
        named: list[JsonValue] | None = None
        if files is not None:
            named = [{"relativeKey": path, "versionId": one} for path, one in files.items()]
        body = given(
            comment=comment,
            versionAlias=alias,
            useLatestFiles=True if files is None else None,
            files=named,
        )
        return self._send("POST", _path(ids, "createVersion"), body)

    def list(
        self, ids: AssetIds, *, show_archived: bool | None = None, page_size: int | None = None
    ) -> Iterator[AssetVersion]:
        """List the versions, newest first."""
        return self._transport.pages(
            AssetVersion,
            _path(ids, "getVersions"),
            items="versions",
            query={"showArchived": show_archived},
            page_size=page_size,
        )

    def get(self, ids: AssetIds, version_id: str) -> WholeVersion:
        """Return a version with all its files and records, read with as many pages as necessary."""
        path = _path(ids, "getVersion", version_id)
        page = self._transport.read(WholeVersion, path)
        files, records = list(page.files), list(page.versioned_metadata)
        first = page
        while page.next_token:
            query = {"startingToken": page.next_token}
            page = self._transport.read(WholeVersion, path, query=query)
            files += page.files
            records += page.versioned_metadata
        return first.model_copy(
            update={
                "files": tuple(files),
                "versioned_metadata": tuple(records),
                "next_token": None,
            }
        )

    def compare(self, ids: AssetIds, before: str, after: str) -> Iterator[Comparison]:
        """Yield the differences between two versions, page after page."""
        query: dict[str, str] = {"from": before, "to": after}
        while True:
            page = self._transport.read(Comparison, _path(ids, "compareVersions"), query=query)
            yield page
            if not page.next_token:
                return
            query = {**query, "startingToken": page.next_token}

    def update(
        self,
        ids: AssetIds,
        version_id: str,
        *,
        comment: str | None = None,
        alias: str | None = None,
    ) -> MadeVersion:
        """Change the passed fields; an empty alias removes it."""
        body = given(comment=comment, versionAlias=alias)
        return self._send("PUT", _path(ids, "assetversions", version_id), body)

    def archive(
        self,
        ids: AssetIds,
        version_id: str,
        *,
        confirm_archive_asset: bool = False,
        reason: str | None = None,
    ) -> MadeVersion:
        """Archive a version.

        The current one only if confirmed, because its asset is archived too.
        """
        body = given(confirmArchiveAsset=confirm_archive_asset or None, reason=reason)
        return self._send("POST", _path(ids, "assetversions", version_id, "archive"), body)

    def unarchive(
        self, ids: AssetIds, version_id: str, *, reason: str | None = None
    ) -> MadeVersion:
        """Restore a version, and its asset if archived with it."""
        path = _path(ids, "assetversions", version_id, "unarchive")
        return self._send("POST", path, given(reason=reason))

    def revert(
        self, ids: AssetIds, version_id: str, comment: str, *, metadata: bool = False
    ) -> MadeVersion:
        """Restore the files of a version, optionally with its metadata, as a new version."""
        body = given(comment=comment, revertMetadata=metadata or None)
        return self._send("POST", _path(ids, "revertAssetVersion", version_id), body)

    def _send(self, method: str, path: str, body: dict[str, JsonValue]) -> MadeVersion:
        # Not repeated after a broken connection: the first one may have been carried out.
        return self._transport.write(MadeVersion, method, path, body=body, repeatable=False)


def _path(ids: AssetIds, *below: str) -> str:
    return path_of("database", ids[0], "assets", ids[1], *below)
