"""Queries on facts of files: dependencies within an asset, files of a similar shape."""

from collections.abc import Iterator, Sequence

from vitrine import api_models as api
from vitrine.api_models import Dependent as Dependent
from vitrine.api_models import FileDependencies as FileDependencies
from vitrine.api_models import FileGlb as FileGlb
from vitrine.api_models import Glb as Glb
from vitrine.api_models import Reference as Reference
from vitrine.api_models import RenewalWork as RenewalWork
from vitrine.api_models import SimilarFile as SimilarFile
from vitrine.api_models import SimilarFiles as SimilarFiles
from vitrine.models import AssetIds
from vitrine.resources.assets import asset_path
from vitrine.resources.resource import Resource
from vitrine.transport import path_of


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

        Of a database, of formats (extensions), or of all files if neither is named. Files of named
        formats are also inspected if they have no facts.
        """
        everything = True if database_id is None and not formats else None
        body = api.RenewFactsBody(all=everything, database_id=database_id, formats=formats or None)
        return self._transport.write(
            RenewalWork, "POST", path_of("admin", "facts", "renew"), body=body
        )
