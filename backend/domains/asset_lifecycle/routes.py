"""The routes that archive, restore and delete assets."""

from typing import Literal

from backend.core.clock import iso
from backend.domains.asset_lifecycle.models import (
    ArchiveBody,
    ArchiveVersionBody,
    DeleteBody,
    LifecycleReply,
    Operation,
    UnarchiveBody,
    UnarchiveVersionBody,
)
from backend.domains.asset_lifecycle.service.commands import LifecycleService, Started
from backend.domains.asset_lifecycle.service.versions import VersionLifecycle
from backend.domains.asset_versions.models import VersionPath, VersionReply
from backend.domains.assets.models import AssetPath
from backend.http.call import Call
from backend.http.router import Router
from backend.spec import routes

_DONE: dict[Operation, str] = {"archive": "archived", "unarchive": "restored"}


def build_router(service: LifecycleService, versions: VersionLifecycle) -> Router:
    """Bind the routes of the lifecycle to the services."""
    router = Router()
    _bind_assets(router, service, versions)
    _bind_versions(router, versions)
    return router


def _bind_assets(router: Router, service: LifecycleService, versions: VersionLifecycle) -> None:
    @router.bind(routes.ARCHIVE_ASSET)
    def archive_asset(call: Call, path: AssetPath, body: ArchiveBody) -> LifecycleReply:
        ref = path.ref
        started = service.archive_asset(
            call.caller, *ref.ids, reason=body.reason, revision=call.expected_revision
        )
        return _reply("archive", started)

    @router.bind(routes.UNARCHIVE_ASSET)
    def unarchive_asset(call: Call, path: AssetPath, body: UnarchiveBody) -> LifecycleReply:
        ref = path.ref
        started = versions.unarchive_asset(
            call.caller,
            ref,
            reason=body.reason,
            files=body.unarchive_files,
            revision=call.expected_revision,
        )
        return _reply("unarchive", started)

    @router.bind(routes.DELETE_ASSET)
    def delete_asset(call: Call, path: AssetPath, body: DeleteBody) -> LifecycleReply:
        ref = path.ref
        started = service.delete_asset(
            call.caller, *ref.ids, reason=body.reason, revision=call.expected_revision
        )
        return _reply("delete", started)


def _bind_versions(router: Router, versions: VersionLifecycle) -> None:
    @router.bind(routes.ARCHIVE_ASSET_VERSION)
    def archive_asset_version(
        call: Call, path: VersionPath, body: ArchiveVersionBody
    ) -> VersionReply:
        started = versions.archive_version(
            call.caller,
            path.ref,
            path.asset_version_id,
            confirmed=body.confirm_archive_asset,
            reason=body.reason,
        )
        return _version_reply("archive", path, versions, started)

    @router.bind(routes.UNARCHIVE_ASSET_VERSION)
    def unarchive_asset_version(
        call: Call, path: VersionPath, body: UnarchiveVersionBody
    ) -> VersionReply:
        ref = path.ref
        number = path.asset_version_id
        started = versions.unarchive_version(call.caller, ref, number, reason=body.reason)
        return _version_reply("unarchive", path, versions, started)


def _version_reply(
    operation: Literal["archive", "unarchive"],
    path: VersionPath,
    versions: VersionLifecycle,
    started: Started | None,
) -> VersionReply:
    along = "" if started is None else ", and its asset with it"
    return VersionReply(
        message=f"Version {path.asset_version_id} was {_DONE[operation]}{along}",
        asset_id=path.asset_id,
        asset_version_id=path.asset_version_id,
        operation=operation,
        timestamp=iso(versions.lifecycle.clock()) if started is None else started.at,
        job_id=None if started is None else started.job.job_id,
        job_state=None if started is None else started.job.state,
    )


def _reply(operation: Operation, started: Started) -> LifecycleReply:
    done = _DONE.get(operation, "deleted")
    rest = "" if started.job.state == "done" else f"; job {started.job.job_id} completes the change"
    return LifecycleReply(
        message=f"Asset {started.asset_id} was {done}{rest}",
        asset_id=started.asset_id,
        operation=operation,
        timestamp=started.at,
        job_id=started.job.job_id,
        job_state=started.job.state,
    )
