"""The route of exports."""

import json

from backend.core.page_tokens import POSITION_BYTES
from backend.core.reads import Read, ReadAsset
from backend.domains.assets.models import AssetPath
from backend.domains.exports.models import (
    STORED_BYTES,
    ExportBody,
    ExportedAsset,
    ExportReply,
    StoredExportReply,
)
from backend.domains.exports.service import ExportPage, ExportService
from backend.http.call import Call
from backend.http.packing import fits, text_of
from backend.http.router import Reply, Router
from backend.spec import routes


def build_router(service: ExportService) -> Router:
    """Bind the route of exports to the service."""
    router = Router()

    @router.bind(routes.EXPORT_ASSETS)
    def export_assets(
        call: Call, path: AssetPath, body: ExportBody
    ) -> Reply[ExportReply] | Reply[StoredExportReply]:
        scope = _scope(call, body)
        token = body.starting_token
        after = None if token is None else call.tokens.read(token, scope=scope)
        asset_id = path.ref
        page = service.export_assets(call.caller, asset_id, body, after)
        reply = ExportReply(
            assets=page.assets,
            relationships=page.relationships,
            next_token=None
            if page.after is None
            else call.tokens.issue(page.after, scope=scope, size=POSITION_BYTES),
            total_assets_in_tree=page.total,
            unauthorized_asset_count=page.hidden,
            assets_in_this_page=len(page.assets),
        )
        text, read = text_of(reply), _read(page)
        is_large = body.max_files is not None and len(text.encode()) > STORED_BYTES
        if fits(text, call.headers) and not is_large:
            return Reply(reply, compressible=True, read=read)
        url = service.store(text)
        stored = StoredExportReply(
            presigned_export_payload_url=url,
            presigned_export_payload_expires_in=service.url_seconds,
        )
        return Reply(stored, {"Location": url}, 303, read=read)

    return router


def _read(page: ExportPage) -> Read:
    """Return the assets of a page, with the files whose URLs it contains."""
    assets: list[ReadAsset] = []
    for asset in page.assets:
        if isinstance(asset, ExportedAsset):
            downloadable = (
                file for file in asset.files if file.presigned_file_download_url is not None
            )
            files = tuple(file.relative_path for file in downloadable)
            assets.append(ReadAsset(asset.database_id, asset.asset_id, files))
    return Read(tuple(assets), urls=any(asset.files for asset in assets))


def _scope(call: Call, body: ExportBody) -> str:
    """Return the scope of a token: the caller, the asset, and the requested parts."""
    flags = body.model_dump(exclude={"starting_token", "max_assets", "max_files"})
    return json.dumps([call.caller.user_id, call.route.key, dict(call.path), flags])
