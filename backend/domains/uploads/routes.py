"""The routes of uploads."""

from backend.core.reads import Read, ReadAsset
from backend.domains.uploads.models import (
    CompleteBody,
    CompleteReply,
    InitialiseBody,
    InitialiseReply,
    MessageReply,
    RenewBody,
    RenewReply,
    UploadPath,
    UploadReply,
    UploadsQuery,
    UploadsReply,
)
from backend.domains.uploads.service.commands import UploadService
from backend.domains.uploads.service.renewal import RenewalService
from backend.domains.uploads.service.settlement import summary
from backend.http.call import Call
from backend.http.router import Reply, Router
from backend.spec import routes


def build_router(service: UploadService, renewals: RenewalService) -> Router:
    """Bind the routes of uploads to the services."""
    router = Router()

    @router.bind(routes.INITIALISE_UPLOAD)
    def initialise_upload(call: Call, body: InitialiseBody) -> Reply[InitialiseReply]:
        reply = service.initialise_upload(call.caller, body)
        files = tuple(file.path for file in body.files)
        read = Read((ReadAsset(body.database_id, body.asset_id, files),), urls=True)
        return Reply(reply, read=read)

    @router.bind(routes.COMPLETE_UPLOAD)
    def complete_upload(call: Call, path: UploadPath, body: CompleteBody) -> Reply[CompleteReply]:
        completed = service.complete_upload(call.caller, path.upload_id, body)
        return Reply(completed.reply, status=409 if completed.all_failed else 200)

    @router.bind(routes.RENEW_UPLOAD)
    def renew_upload(call: Call, path: UploadPath, body: RenewBody) -> Reply[RenewReply]:
        reply, asset = renewals.renew_upload(call.caller, path.upload_id, body)
        renewable = {file.relative_key for file in reply.files if file.part_upload_urls}
        files = tuple(file.path for file in body.files if file.relative_key in renewable)
        read = Read((ReadAsset(*asset.ids, files),), urls=True) if files else None
        return Reply(reply, read=read)

    _bind_reads(router, service)

    @router.bind(routes.ABORT_UPLOAD)
    def abort_upload(call: Call, path: UploadPath) -> MessageReply:
        service.abort_upload(call.caller, path.upload_id)
        return MessageReply(message=f"Upload {path.upload_id} was cancelled")

    return router


def _bind_reads(router: Router, service: UploadService) -> None:
    @router.bind(routes.LIST_UPLOADS)
    def list_uploads(call: Call, query: UploadsQuery) -> UploadsReply:
        uploads = service.list_uploads(call.caller, call.page(query))
        return UploadsReply(
            items=[summary(upload) for upload in uploads.items],
            next_token=call.next_token(uploads.after),
        )

    @router.bind(routes.GET_UPLOAD)
    def get_upload(call: Call, path: UploadPath) -> UploadReply:
        return service.get_upload(call.caller, path.upload_id)
