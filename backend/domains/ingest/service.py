"""Creates an asset and uploads its files, by the services of both.

The first request may be repeated: it continues with the existing asset of the first attempt,
unchanged. Everything is checked before anything is written.
"""

from dataclasses import dataclass

from backend.core.authorization import require
from backend.core.identity import Identity
from backend.domains.assets.errors import AssetIdTakenError, AssetNotFoundError
from backend.domains.assets.models import Asset
from backend.domains.assets.service.commands import AssetService
from backend.domains.assets.service.queries import secured
from backend.domains.ingest import rules
from backend.domains.ingest.models import IngestBody, IngestReply
from backend.domains.uploads.models import InitialiseBody
from backend.domains.uploads.service.commands import UploadService
from backend.domains.uploads.service.settlement import Completed


@dataclass(eq=False, repr=False)
class IngestService:
    assets: AssetService
    uploads: UploadService

    def begin(self, caller: Identity, body: IngestBody) -> IngestReply:
        """Create the asset, unless it exists, and start an upload of its files.

        Raises:
            AssetIdTakenError: the id is used by an asset that the caller may not upload to, is
                archived or belongs to another database.
            DatabaseNotFoundError: the database does not exist.
            InvalidInputError: the message names the problem of the asset or of a file.
            PermissionDeniedError: the caller may not create the asset, or not upload to it.
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
                # Continue with the asset that another request has created meanwhile.
                asset = self._there(caller, upload)
                if asset is None:
                    raise
                prepared = self.uploads.prepare(caller, asset, upload)
        started = self.uploads.start_prepared(caller, prepared)
        return IngestReply(
            message=started.message,
            upload_id=started.upload_id,
            asset_id=body.asset_id,
            files=rules.started_by_key(started.files, body.files),
        )

    def end(self, caller: Identity, upload_id: str, body: IngestBody) -> tuple[IngestReply, bool]:
        """Complete files from stored parts; return also whether all of them failed. Repeatable.

        Raises:
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
            InvalidInputError: a key is wrong, or a list of parts is invalid.
            PermissionDeniedError: the caller may not write the asset.
            UnavailableError: S3 does not respond or time was up; the same request continues.
            UploadBusyError: another request is processing this upload.
            UploadNotFoundError: the caller has no such upload to this asset.
        """
        upload = rules.completed_upload(body)
        completed: Completed = self.uploads.complete_upload(caller, upload_id, upload)
        completed_reply = completed.reply
        reply = IngestReply(
            message=completed_reply.message,
            upload_id=upload_id,
            asset_id=body.asset_id,
            asset_type=completed_reply.asset_type,
            file_results=rules.results_by_key(completed_reply.file_results, body.files),
            overall_success=completed_reply.overall_success,
            large_file_asynchronous_handling=completed_reply.large_file_asynchronous_handling,
        )
        return reply, completed.all_failed

    def _there(self, caller: Identity, upload: InitialiseBody) -> Asset | None:
        try:
            return self.assets.asset_for(caller, "POST", upload.database_id, upload.asset_id)
        except AssetNotFoundError:
            return None
