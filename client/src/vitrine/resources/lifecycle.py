"""Archiving assets, bringing them back, deleting them for good."""

from pydantic import JsonValue

from vitrine.models import Operation
from vitrine.resources.registry import given
from vitrine.transport import Transport, parse, path_of


class Changed(Operation):
    """The state of an asset has changed; the job does the rest, unless it is done."""

    asset_id: str
    job_id: str
    job_state: str


class AssetLifecycle:
    """What becomes of assets. The state changes at once; a job that the reply names does the rest,
    which for few files is done already."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def archive(self, database_id: str, asset_id: str, *, reason: str | None = None) -> Changed:
        """Archives an asset and its files. Raises ConflictError where it is archived already."""
        body = given(confirmArchive=True, reason=reason)
        return self._change("DELETE", "archiveAsset", (database_id, asset_id), body)

    def unarchive(self, database_id: str, asset_id: str, *, reason: str | None = None) -> Changed:
        """Brings an asset back, with the files that its archiving took.

        Raises:
            ConflictError: it is not archived, is still being archived, or its database is deleted.
        """
        body = given(confirmUnarchive=True, reason=reason)
        return self._change("PUT", "unarchiveAsset", (database_id, asset_id), body)

    def delete(self, database_id: str, asset_id: str, *, reason: str | None = None) -> Changed:
        """Deletes an asset for good, active or archived, with all versions of its files."""
        body = given(confirmPermanentDelete=True, reason=reason)
        return self._change("DELETE", "deleteAsset", (database_id, asset_id), body)

    def _change(
        self, method: str, verb: str, ids: tuple[str, str], body: dict[str, JsonValue]
    ) -> Changed:
        path = path_of("database", ids[0], "assets", ids[1], verb)
        # Not sent again after a broken connection: it would meet what the first one has done.
        return parse(Changed, self._transport.send(method, path, body=body, repeatable=False))
