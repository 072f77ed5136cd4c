"""Queries on facts of files: dependencies within an asset, files of a similar shape."""

from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from vitrine.models import AssetIds
from vitrine.replies import Dependent as Dependent
from vitrine.replies import FileDependencies as FileDependencies
from vitrine.replies import FileGlb as FileGlb
from vitrine.replies import Glb as Glb
from vitrine.replies import Reference as Reference
from vitrine.replies import RenewalWork as RenewalWork
from vitrine.replies import SimilarFile as SimilarFile
from vitrine.replies import SimilarFiles as SimilarFiles
from vitrine.resources.assets import asset_path
from vitrine.resources.resource import Resource, given
from vitrine.transport import path_of

"""A database id and an asset id."""


class Facts(Resource):
    """Queries on facts. Paths begin with `/`."""

    def dependencies(self, ids: AssetIds, path: str | None = None) -> Iterator[FileDependencies]:
        """List files of an asset that refer to others, or one of them, with their references."""
        where = asset_path(*ids, "dependencies")
        return self._transport.pages(
            FileDependencies, where, items="items", query={"filePath": path}
        )

    def dependents(self, ids: AssetIds, path: str, *, folder: bool = False) -> Iterator[Dependent]:
        """List the files of an asset that refer to a file, or to one in a folder."""
        query = {"filePath": path, "isPrefix": "true" if folder else None}
        where = asset_path(*ids, "dependents")
        return self._transport.pages(Dependent, where, items="items", query=query)

    def similar(self, ids: AssetIds, path: str, *, size: int = 10) -> SimilarFiles:
        """List files with a similar shape, in all assets that the caller may see."""
        query = {"filePath": path, "size": size}
        return self._transport.read(SimilarFiles, asset_path(*ids, "files", "similar"), query=query)

    def glb(self, ids: AssetIds, path: str) -> FileGlb:
        """Return the URL of the newest GLB of a file, or the reason why there is none."""
        return self._transport.read(FileGlb, asset_path(*ids, "files", "glb"), query={"key": path})

    def renew(self, *, database_id: str | None = None, formats: Sequence[str] = ()) -> RenewalWork:
        """Start a job that has files inspected again whose facts an older version stored.

        Of a database, of formats (extensions), or of all files if neither is named.
        """
        everything = True if database_id is None and not formats else None
        named: list[JsonValue] | None = [*formats] or None
        body = given(all=everything, databaseId=database_id, formats=named)
        return self._transport.write(
            RenewalWork, "POST", path_of("admin", "facts", "renew"), body=body
        )
