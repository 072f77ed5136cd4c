"""The routes of files."""

from backend.domains.assets.models import AssetPath
from backend.domains.files.models import FileQuery, FileReply, FilesQuery, FilesReply
from backend.domains.files.service import FileService
from backend.http.call import Call
from backend.http.router import Router
from backend.spec import routes

_PAGE, _BASIC_PAGE = 100, 1500
"""Default and largest page sizes; the contract's."""


def build_router(service: FileService) -> Router:
    """Bind the routes of files to the service."""
    router = Router()

    @router.bind(routes.LIST_FILES)
    def list_files(call: Call, path: AssetPath, query: FilesQuery) -> FilesReply:
        asset = path.database_id, path.asset_id
        wanted = call.page(query, default=_BASIC_PAGE if query.basic else _PAGE)
        page = service.list_files(call.caller, asset, query, wanted)
        return FilesReply(items=list(page.items), next_token=call.next_token(page.after))

    @router.bind(routes.GET_FILE)
    def get_file(call: Call, path: AssetPath, query: FileQuery) -> FileReply:
        return service.get_file(call.caller, (path.database_id, path.asset_id), query)

    return router
