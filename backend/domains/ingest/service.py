"""An asset and the upload of its files in one call, by the services of both.

The beginning may be repeated: it goes on with the asset that the first try has made, which stays as
it is. Whatever can be refused is refused before anything is written.
"""

from backend.core.authorization import require
from backend.core.identity import Identity
from backend.core.wired import wired
from backend.domains.assets.models import Asset
from backend.domains.assets.service import (
    AssetIdTakenError,
    AssetNotFoundError,
    AssetService,
    secured,
)
from backend.domains.ingest import rules
from backend.domains.ingest.models import IngestBody, IngestReply
from backend.domains.uploads.models import InitialiseBody
from backend.domains.uploads.service import Completed, PreparedUpload, UploadService


@wired
class IngestService:
    assets: AssetService
    uploads: UploadService

    def begin(self, caller: Identity, body: IngestBody) -> IngestReply:
        """Make the asset, unless it is there, and start an upload of its files.

        Raises:
            AssetIdTakenError: the id is taken by an asset that the caller may not upload to, is
                archived or stands in another database.
            DatabaseNotFoundError: there is no such database.
            InvalidInputError: naming what is wrong with the asset or with a file.
            PermissionDeniedError: the caller may not make the asset, or not upload to it.
            RateLimitedError: the caller has started too many uploads in this minute.
            TooLargeError: the URLs would not fit a reply.
        """
        described, upload = rules.asset_of(body), rules.started_upload(body)
        asset = self._there(caller, upload)
        if asset is not None:
            prepared = self.uploads.prepare(caller, asset, upload)
        else:
            planned = self.assets.plan_asset(caller, described)
            require(self.assets.authorization, caller, "POST", secured(planned.asset))
            prepared = self.uploads.prepare(caller, planned.asset, upload)
            try:
                self.assets.create_planned(planned)
            except AssetIdTakenError:
                prepared = self._prepared_beside(caller, upload)
        started = self.uploads.start_prepared(caller, prepared)
        return IngestReply(
            message=started.message,
            upload_id=started.upload_id,
            asset_id=body.asset_id,
            files=rules.started_by_key(started.files, body.files),
        )

    def end(self, caller: Identity, upload_id: str, body: IngestBody) -> tuple[IngestReply, bool]:
        """Make files of stored parts, and whether no file at all came of it; may be repeated.

        Raises:
            AssetNotFoundError: the asset does not exist, or not for the caller.
            InvalidInputError: a key is wrong, or a list of parts cannot be right.
            PermissionDeniedError: the caller may not write the asset.
            UnavailableError: S3 does not answer or time was up; the same request goes on.
            UploadBusyError: another request works on this upload.
            UploadNotFoundError: the caller has no such upload to this asset.
        """
        upload = rules.completed_upload(body)
        completed: Completed = self.uploads.complete_upload(caller, upload_id, upload)
        found = completed.reply
        reply = IngestReply(
            message=found.message,
            upload_id=upload_id,
            asset_id=body.asset_id,
            asset_type=found.asset_type,
            file_results=rules.results_by_key(found.file_results, body.files),
            overall_success=found.overall_success,
            large_file_asynchronous_handling=found.large_file_asynchronous_handling,
        )
        return reply, completed.all_failed

    def _there(self, caller: Identity, upload: InitialiseBody) -> Asset | None:
        try:
            return self.assets.asset_for(caller, "POST", upload.database_id, upload.asset_id)
        except AssetNotFoundError:
            return None

    def _prepared_beside(self, caller: Identity, upload: InitialiseBody) -> PreparedUpload:
        """For the asset that another request has made meanwhile."""
        asset = self._there(caller, upload)
        if asset is None:
            raise AssetIdTakenError(upload.asset_id)
        return self.uploads.prepare(caller, asset, upload)
