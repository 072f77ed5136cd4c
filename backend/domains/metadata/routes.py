"""The routes of metadata on assets and on files."""

from backend.core.clock import iso
from backend.core.paging import Page
from backend.domains.metadata.models import (
    ASSET_LEVEL,
    AddAssetMetadataBody,
    AddFileMetadataBody,
    AssetMetadataPath,
    AssetMetadataQuery,
    AssetRecordReply,
    BulkReply,
    ChangeAssetMetadataBody,
    ChangeFileMetadataBody,
    Entity,
    FailedItem,
    FileMetadataQuery,
    FileRecordReply,
    MetadataReply,
    Record,
    RemoveAssetMetadataBody,
    RemoveFileMetadataBody,
)
from backend.domains.metadata.service import BulkResult, MetadataService
from backend.http.call import Call
from backend.http.router import Router
from backend.spec import routes


def build_router(service: MetadataService) -> Router:
    """Bind the routes of metadata to the service."""
    router = Router()
    _bind_assets(router, service)
    _bind_files(router, service)
    return router


def _bind_assets(router: Router, service: MetadataService) -> None:
    @router.bind(routes.GET_ASSET_METADATA)
    def list_asset_metadata(
        call: Call, path: AssetMetadataPath, query: AssetMetadataQuery
    ) -> MetadataReply:
        entity = _asset(path)
        found = service.list_metadata(
            call.caller,
            entity,
            call.page(query),
            asset_version_id=query.asset_version_id,
            asset_version_alias=query.asset_version_id_alias,
        )
        return _listed(call, service, entity, found)

    @router.bind(routes.CREATE_ASSET_METADATA)
    def create_asset_metadata(
        call: Call, path: AssetMetadataPath, body: AddAssetMetadataBody
    ) -> BulkReply:
        result = service.add_metadata(call.caller, _asset(path), body.metadata)
        return _told(service, result, "added")

    @router.bind(routes.UPDATE_ASSET_METADATA)
    def update_asset_metadata(
        call: Call, path: AssetMetadataPath, body: ChangeAssetMetadataBody
    ) -> BulkReply:
        result = service.change_metadata(
            call.caller, _asset(path), body.metadata, update_type=body.update_type
        )
        return _told(service, result, "written")

    @router.bind(routes.DELETE_ASSET_METADATA)
    def delete_asset_metadata(
        call: Call, path: AssetMetadataPath, body: RemoveAssetMetadataBody
    ) -> BulkReply:
        result = service.remove_metadata(call.caller, _asset(path), body.metadata_keys)
        return _told(service, result, "removed")


def _bind_files(router: Router, service: MetadataService) -> None:
    @router.bind(routes.GET_FILE_METADATA)
    def list_file_metadata(
        call: Call, path: AssetMetadataPath, query: FileMetadataQuery
    ) -> MetadataReply:
        entity = _file(path, query)
        found = service.list_metadata(
            call.caller,
            entity,
            call.page(query),
            asset_version_id=query.asset_version_id,
            asset_version_alias=query.asset_version_id_alias,
        )
        return _listed(call, service, entity, found)

    @router.bind(routes.CREATE_FILE_METADATA)
    def create_file_metadata(
        call: Call, path: AssetMetadataPath, body: AddFileMetadataBody
    ) -> BulkReply:
        result = service.add_metadata(call.caller, _file(path, body), body.metadata)
        return _told(service, result, "added")

    @router.bind(routes.UPDATE_FILE_METADATA)
    def update_file_metadata(
        call: Call, path: AssetMetadataPath, body: ChangeFileMetadataBody
    ) -> BulkReply:
        result = service.change_metadata(
            call.caller, _file(path, body), body.metadata, update_type=body.update_type
        )
        return _told(service, result, "written")

    @router.bind(routes.DELETE_FILE_METADATA)
    def delete_file_metadata(
        call: Call, path: AssetMetadataPath, body: RemoveFileMetadataBody
    ) -> BulkReply:
        result = service.remove_metadata(call.caller, _file(path, body), body.metadata_keys)
        return _told(service, result, "removed")


def _asset(path: AssetMetadataPath) -> Entity:
    return Entity(path.database_id, path.asset_id)


def _file(
    path: AssetMetadataPath,
    named: FileMetadataQuery | AddFileMetadataBody | RemoveFileMetadataBody,
) -> Entity:
    return Entity(path.database_id, path.asset_id, named.file_path, named.type)


def _listed(
    call: Call, service: MetadataService, entity: Entity, page: Page[Record]
) -> MetadataReply:
    return MetadataReply(
        metadata=[_record(entity, record) for record in page.items],
        restrict_metadata_outside_schemas=service.is_restricted(entity),
        next_token=call.next_token(page.after),
        message=f"{len(page.items)} records",
    )


def _record(entity: Entity, record: Record) -> AssetRecordReply:
    values = {
        **record.model_dump(),
        "database_id": entity.database_id,
        "asset_id": entity.asset_id,
    }
    if entity.path == ASSET_LEVEL:
        return AssetRecordReply.model_validate(values)
    return FileRecordReply.model_validate({**values, "file_path": entity.path})


def _told(service: MetadataService, result: BulkResult, done: str) -> BulkReply:
    total = len(result.done) + len(result.failed)
    return BulkReply(
        success=bool(result.done),
        total_items=total,
        success_count=len(result.done),
        failure_count=len(result.failed),
        successful_items=list(result.done),
        failed_items=[FailedItem(key=key, error=error) for key, error in result.failed],
        message=f"{len(result.done)} of {total} records were {done}",
        timestamp=iso(service.clock()),
    )
