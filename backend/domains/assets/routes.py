"""The routes of assets."""

from collections.abc import Mapping

from backend.core.clock import iso
from backend.core.paging import Page
from backend.domains.assets.models import Asset, AssetPath, CreateAssetBody, UpdateAssetBody
from backend.domains.assets.models.replies import (
    AssetHistoryQuery,
    AssetHistoryReply,
    AssetQuery,
    AssetReply,
    AssetsQuery,
    AssetsReply,
    CreateAssetReply,
    DatabasePath,
    UpdateAssetReply,
)
from backend.domains.assets.service.commands import AssetService
from backend.http.call import Call
from backend.http.router import Reply, Router
from backend.spec import routes


def build_router(service: AssetService) -> Router:
    """Bind the routes of assets to the service."""
    router = Router()
    _bind_reads(router, service)
    _bind_writes(router, service)
    return router


def _bind_writes(router: Router, service: AssetService) -> None:
    @router.bind(routes.CREATE_ASSET)
    def create_asset(call: Call, body: CreateAssetBody) -> Reply[CreateAssetReply]:
        asset = service.create_asset(call.caller, body)
        message = f"Asset {asset.asset_id} was created"
        return Reply(
            CreateAssetReply(asset_id=asset.asset_id, message=message), headers=_etag(asset)
        )

    @router.bind(routes.UPDATE_ASSET)
    def update_asset(call: Call, path: AssetPath, body: UpdateAssetBody) -> Reply[UpdateAssetReply]:
        asset = service.update_asset(
            call.caller,
            path.database_id,
            path.asset_id,
            body,
            expected_revision=call.expected_revision,
        )
        reply = UpdateAssetReply(
            message=f"Asset {asset.asset_id} was changed",
            asset_id=asset.asset_id,
            timestamp=iso(service.clock()),
        )
        return Reply(reply, headers=_etag(asset))


def _bind_reads(router: Router, service: AssetService) -> None:
    @router.bind(routes.LIST_ALL_ASSETS)
    def list_all_assets(call: Call, query: AssetsQuery) -> AssetsReply:
        page = service.list_all_assets(
            call.caller, call.page(query), show_archived=query.show_archived
        )
        return _page(call, service, page)

    @router.bind(routes.LIST_ASSETS)
    def list_assets(call: Call, path: DatabasePath, query: AssetsQuery) -> AssetsReply:
        page = service.list_assets(
            call.caller, path.database_id, call.page(query), show_archived=query.show_archived
        )
        return _page(call, service, page)

    @router.bind(routes.LIST_ASSET_HISTORY)
    def list_asset_history(
        call: Call, path: AssetPath, query: AssetHistoryQuery
    ) -> AssetHistoryReply:
        page = service.list_history(call.caller, path.ref, call.page(query))
        return AssetHistoryReply(items=[*page.items], next_token=call.next_token(page.after))

    @router.bind(routes.GET_ASSET)
    def get_asset(call: Call, path: AssetPath, query: AssetQuery) -> Reply[AssetReply]:
        asset = service.get_asset(
            call.caller, path.database_id, path.asset_id, show_archived=query.show_archived
        )
        return Reply(_reply(asset, service.bucket_names([asset])), headers=_etag(asset))


def _etag(asset: Asset) -> dict[str, str]:
    return {"ETag": f'"{asset.revision}"'}


def _page(call: Call, service: AssetService, page: Page[Asset]) -> AssetsReply:
    names = service.bucket_names(page.items)
    return AssetsReply(
        items=[_reply(asset, names) for asset in page.items],
        next_token=call.next_token(page.after),
    )


def _reply(asset: Asset, bucket_names: Mapping[str, str]) -> AssetReply:
    return AssetReply.model_validate(
        {**asset.model_dump(), "bucket_name": bucket_names[asset.bucket_id]}
    )
