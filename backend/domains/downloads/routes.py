"""The route of downloads."""

from backend.domains.assets.models import AssetPath
from backend.domains.downloads.models import DownloadBody, DownloadReply
from backend.domains.downloads.service import DownloadService
from backend.http.call import Call
from backend.http.router import Router
from backend.spec import routes


def build_router(service: DownloadService) -> Router:
    """Bind the route of downloads to the service."""
    router = Router()

    @router.bind(routes.DOWNLOAD)
    def get_download_url(call: Call, path: AssetPath, body: DownloadBody) -> DownloadReply:
        return service.get_download_url(call.caller, (path.database_id, path.asset_id), body)

    return router
