"""The route of exports."""

import json

from backend.domains.assets.models import AssetPath
from backend.domains.exports.models import ExportBody, ExportReply
from backend.domains.exports.service import ExportService
from backend.http.call import Call
from backend.http.router import Reply, Router
from backend.spec import routes


def build_router(service: ExportService) -> Router:
    """Bind the route of exports to the service."""
    router = Router()

    @router.bind(routes.EXPORT_ASSETS)
    def export_assets(call: Call, path: AssetPath, body: ExportBody) -> Reply[ExportReply]:
        scope = _scope(call, body)
        token = body.starting_token
        after = None if token is None else call.tokens.read(token, scope=scope)
        asset_id = (path.database_id, path.asset_id)
        page = service.export_assets(call.caller, asset_id, body, after)
        reply = ExportReply(
            assets=page.assets,
            relationships=page.relationships,
            next_token=None if page.after is None else call.tokens.issue(page.after, scope=scope),
            total_assets_in_tree=page.total,
            unauthorized_asset_count=page.hidden,
            assets_in_this_page=len(page.assets),
        )
        return Reply(reply, compressible=True)

    return router


def _scope(call: Call, body: ExportBody) -> str:
    """What a token is bound to: the caller, the asset, and which parts of it are told."""
    flags = body.model_dump(exclude={"starting_token", "max_assets"})
    return json.dumps([call.caller.user_id, call.route.key, dict(call.path), flags])
