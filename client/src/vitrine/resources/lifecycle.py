"""Archives, restores and permanently deletes assets."""

from vitrine import api_models as api
from vitrine.api_models import Changed as Changed
from vitrine.models import AssetIds
from vitrine.resources.resource import Resource
from vitrine.transport import path_of
from vitrine.wire import Body


class AssetLifecycle(Resource):
    """Changes the state of assets.

    The state changes at once; a job does the remaining work, which for few files is already done in
    the reply.
    """

    def archive(self, database_id: str, asset_id: str, *, reason: str | None = None) -> Changed:
        """Archive an asset and its files. Raises ConflictError if it is already archived."""
        body = api.ArchiveBody(confirm_archive=True, reason=reason)
        return self._change("DELETE", "archiveAsset", (database_id, asset_id), body)

    def unarchive(
        self,
        database_id: str,
        asset_id: str,
        *,
        reason: str | None = None,
        unarchive_files: bool | None = None,
    ) -> Changed:
        """Restore an asset, with the files archived with it unless `unarchive_files` is false.

        Raises:
            ConflictError: it is not archived, is still being archived, or its database is deleted.
        """
        body = api.UnarchiveBody(
            confirm_unarchive=True, reason=reason, unarchive_files=unarchive_files
        )
        return self._change("PUT", "unarchiveAsset", (database_id, asset_id), body)

    def delete(self, database_id: str, asset_id: str, *, reason: str | None = None) -> Changed:
        """Permanently delete an asset, active or archived, with all versions of its files."""
        body = api.DeleteBody(confirm_permanent_delete=True, reason=reason)
        return self._change("DELETE", "deleteAsset", (database_id, asset_id), body)

    def _change(self, method: str, verb: str, ids: AssetIds, body: Body) -> Changed:
        path = path_of("database", ids[0], "assets", ids[1], verb)
        # Not repeated after a broken connection: the first one may have been carried out.
        return self._transport.write(Changed, method, path, body=body, repeatable=False)
