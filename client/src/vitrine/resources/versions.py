"""Versions of assets: create, list, get, compare, archive, revert."""

from collections.abc import Iterator, Mapping

from vitrine import api_models as api
from vitrine.api_models import AssetVersion as AssetVersion
from vitrine.api_models import Comparison as Comparison
from vitrine.api_models import FileDifference as FileDifference
from vitrine.api_models import FileDifferences as FileDifferences
from vitrine.api_models import GeometryDifference as GeometryDifference
from vitrine.api_models import MadeVersion as MadeVersion
from vitrine.api_models import RecordDifference as RecordDifference
from vitrine.api_models import RecordDifferences as RecordDifferences
from vitrine.api_models import VersionFile as VersionFile
from vitrine.api_models import VersionRecord as VersionRecord
from vitrine.api_models import WholeVersion as WholeVersion
from vitrine.models import AssetIds
from vitrine.resources.resource import Resource
from vitrine.transport import path_of
from vitrine.wire import Body


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
        named = None
        if files is not None:
            named = [
                api.NamedFile(relative_key=path, version_id=id_) for path, id_ in files.items()
            ]
        body = api.CreateVersionBody(
            comment=comment,
            version_alias=alias,
            use_latest_files=True if files is None else None,
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
        body = api.UpdateVersionBody(comment=comment, version_alias=alias)
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
        body = api.ArchiveVersionBody(
            confirm_archive_asset=confirm_archive_asset or None, reason=reason
        )
        return self._send("POST", _path(ids, "assetversions", version_id, "archive"), body)

    def unarchive(
        self, ids: AssetIds, version_id: str, *, reason: str | None = None
    ) -> MadeVersion:
        """Restore a version, and its asset if archived with it."""
        path = _path(ids, "assetversions", version_id, "unarchive")
        return self._send("POST", path, api.UnarchiveVersionBody(reason=reason))

    def revert(
        self, ids: AssetIds, version_id: str, comment: str, *, metadata: bool = False
    ) -> MadeVersion:
        """Restore the files of a version, optionally with its metadata, as a new version."""
        body = api.RevertBody(comment=comment, revert_metadata=metadata or None)
        return self._send("POST", _path(ids, "revertAssetVersion", version_id), body)

    def _send(self, method: str, path: str, body: Body) -> MadeVersion:
        # Not repeated after a broken connection: the first one may have been carried out.
        return self._transport.write(MadeVersion, method, path, body=body, repeatable=False)


def _path(ids: AssetIds, *below: str) -> str:
    return path_of("database", ids[0], "assets", ids[1], *below)
