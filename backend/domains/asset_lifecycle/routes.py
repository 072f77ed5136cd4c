"""The routes that archive, bring back and delete assets."""

from backend.domains.asset_lifecycle.models import (
    ArchiveBody,
    DeleteBody,
    LifecycleReply,
    Operation,
    UnarchiveBody,
)
from backend.domains.asset_lifecycle.service import LifecycleService, Started
from backend.domains.assets.models import AssetPath
from backend.http.call import Call
from backend.http.router import Router
from backend.spec import routes

_DONE: dict[Operation, str] = {"archive": "archived", "unarchive": "brought back"}


def build_router(service: LifecycleService) -> Router:
    """Bind the routes of the lifecycle to the service."""
    router = Router()

    @router.bind(routes.ARCHIVE_ASSET)
    def archive_asset(call: Call, path: AssetPath, body: ArchiveBody) -> LifecycleReply:
        ids = (path.database_id, path.asset_id)
        return _reply("archive", service.archive_asset(call.caller, *ids, reason=body.reason))

    @router.bind(routes.UNARCHIVE_ASSET)
    def unarchive_asset(call: Call, path: AssetPath, body: UnarchiveBody) -> LifecycleReply:
        ids = (path.database_id, path.asset_id)
        return _reply("unarchive", service.unarchive_asset(call.caller, *ids, reason=body.reason))

    @router.bind(routes.DELETE_ASSET)
    def delete_asset(call: Call, path: AssetPath, body: DeleteBody) -> LifecycleReply:
        ids = (path.database_id, path.asset_id)
        return _reply("delete", service.delete_asset(call.caller, *ids, reason=body.reason))

    return router


def _reply(operation: Operation, started: Started) -> LifecycleReply:
    done = _DONE.get(operation, "deleted")
    rest = "" if started.job.state == "done" else f"; job {started.job.job_id} does the rest"
    return LifecycleReply(
        message=f"Asset {started.asset_id} was {done}{rest}",
        asset_id=started.asset_id,
        operation=operation,
        timestamp=started.at,
        job_id=started.job.job_id,
        job_state=started.job.state,
    )
