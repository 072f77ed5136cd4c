"""The routes of uploads."""

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
)
from backend.domains.uploads.service import RenewalService, UploadService
from backend.http.call import Call
from backend.http.router import Reply, Router
from backend.spec import routes


def build_router(service: UploadService, renewals: RenewalService) -> Router:
    """Bind the routes of uploads to the services."""
    router = Router()

    @router.bind(routes.INITIALISE_UPLOAD)
    def initialise_upload(call: Call, body: InitialiseBody) -> InitialiseReply:
        return service.initialise_upload(call.caller, body)

    @router.bind(routes.COMPLETE_UPLOAD)
    def complete_upload(call: Call, path: UploadPath, body: CompleteBody) -> Reply[CompleteReply]:
        completed = service.complete_upload(call.caller, path.upload_id, body)
        return Reply(completed.reply, status=409 if completed.all_failed else 200)

    @router.bind(routes.RENEW_UPLOAD)
    def renew_upload(call: Call, path: UploadPath, body: RenewBody) -> RenewReply:
        return renewals.renew_upload(call.caller, path.upload_id, body)

    @router.bind(routes.GET_UPLOAD)
    def get_upload(call: Call, path: UploadPath) -> UploadReply:
        return service.get_upload(call.caller, path.upload_id)

    @router.bind(routes.ABORT_UPLOAD)
    def abort_upload(call: Call, path: UploadPath) -> MessageReply:
        service.abort_upload(call.caller, path.upload_id)
        return MessageReply(message=f"Upload {path.upload_id} was given up")

    return router
