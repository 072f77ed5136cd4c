"""The route of ingest."""

from backend.core.reads import Read, ReadAsset
from backend.domains.ingest import rules
from backend.domains.ingest.models import IngestBody, IngestReply
from backend.domains.ingest.service import IngestService
from backend.http.call import Call
from backend.http.router import Reply, Router
from backend.spec import routes


def build_router(service: IngestService) -> Router:
    """Bind the route of ingest to the service."""
    router = Router()

    @router.bind(routes.INGEST_ASSET)
    def ingest_asset(call: Call, body: IngestBody) -> Reply[IngestReply]:
        if body.upload_id is None:
            begun = service.begin(call.caller, body)
            files = tuple(file.path for file in rules.started_upload(body).files)
            read = Read((ReadAsset(body.database_id, body.asset_id, files),), urls=True)
            return Reply(begun, read=read)
        reply, all_failed = service.end(call.caller, body.upload_id, body)
        return Reply(reply, status=409 if all_failed else 200)

    return router
