"""The routes of metadata on databases, on assets and on files."""

from backend.core.models import PageQuery
from backend.core.paging import Page
from backend.domains.metadata.models import DatabaseEntity, Entity
from backend.domains.metadata.models.replies import (
    AddAssetMetadataBody,
    AddFileMetadataBody,
    AssetMetadataPath,
    AssetMetadataQuery,
    BulkReply,
    ChangeAssetMetadataBody,
    ChangeFileMetadataBody,
    DatabaseMetadataPath,
    FileMetadataQuery,
    MetadataReply,
    RemoveAssetMetadataBody,
    RemoveFileMetadataBody,
)
from backend.domains.metadata.service.commands import MetadataService, bulk_reply, metadata_reply
from backend.domains.metadata.service.records import BulkResult, ShownRecord
from backend.http.call import Call
from backend.http.router import Router
from backend.spec import routes


def build_router(service: MetadataService) -> Router:
    """Bind the routes of metadata to the service."""
    router = Router()
    _bind_databases(router, service)
    _bind_assets(router, service)
    _bind_files(router, service)
    return router


def _bind_databases(router: Router, service: MetadataService) -> None:
    @router.bind(routes.GET_DATABASE_METADATA)
    def list_database_metadata(
        call: Call, path: DatabaseMetadataPath, query: PageQuery
    ) -> MetadataReply:
        entity = DatabaseEntity(path.database_id)
        records = service.list_database_metadata(call.caller, entity, call.page(query))
        return _list_reply(call, service, entity, records)

    @router.bind(routes.CREATE_DATABASE_METADATA)
    def create_database_metadata(
        call: Call, path: DatabaseMetadataPath, body: AddAssetMetadataBody
    ) -> BulkReply:
        entity = DatabaseEntity(path.database_id)
        return _bulk_reply(
            service, service.add_metadata(call.caller, entity, body.metadata), "added"
        )

    @router.bind(routes.UPDATE_DATABASE_METADATA)
    def update_database_metadata(
        call: Call, path: DatabaseMetadataPath, body: ChangeAssetMetadataBody
    ) -> BulkReply:
        result = service.change_metadata(
            call.caller,
            DatabaseEntity(path.database_id),
            body.metadata,
            update_type=body.update_type,
        )
        return _bulk_reply(service, result, "written")

    @router.bind(routes.DELETE_DATABASE_METADATA)
    def delete_database_metadata(
        call: Call, path: DatabaseMetadataPath, body: RemoveAssetMetadataBody
    ) -> BulkReply:
        entity = DatabaseEntity(path.database_id)
        result = service.remove_metadata(call.caller, entity, body.metadata_keys)
        return _bulk_reply(service, result, "removed")


def _bind_assets(router: Router, service: MetadataService) -> None:
    @router.bind(routes.GET_ASSET_METADATA)
    def list_asset_metadata(
        call: Call, path: AssetMetadataPath, query: AssetMetadataQuery
    ) -> MetadataReply:
        return _list(call, service, _asset(path), query)

    @router.bind(routes.CREATE_ASSET_METADATA)
    def create_asset_metadata(
        call: Call, path: AssetMetadataPath, body: AddAssetMetadataBody
    ) -> BulkReply:
        result = service.add_metadata(call.caller, _asset(path), body.metadata)
        return _bulk_reply(service, result, "added")

    @router.bind(routes.UPDATE_ASSET_METADATA)
    def update_asset_metadata(
        call: Call, path: AssetMetadataPath, body: ChangeAssetMetadataBody
    ) -> BulkReply:
        result = service.change_metadata(
            call.caller, _asset(path), body.metadata, update_type=body.update_type
        )
        return _bulk_reply(service, result, "written")

    @router.bind(routes.DELETE_ASSET_METADATA)
    def delete_asset_metadata(
        call: Call, path: AssetMetadataPath, body: RemoveAssetMetadataBody
    ) -> BulkReply:
        result = service.remove_metadata(call.caller, _asset(path), body.metadata_keys)
        return _bulk_reply(service, result, "removed")


def _bind_files(router: Router, service: MetadataService) -> None:
    @router.bind(routes.GET_FILE_METADATA)
    def list_file_metadata(
        call: Call, path: AssetMetadataPath, query: FileMetadataQuery
    ) -> MetadataReply:
        return _list(call, service, _file(path, query), query)

    @router.bind(routes.CREATE_FILE_METADATA)
    def create_file_metadata(
        call: Call, path: AssetMetadataPath, body: AddFileMetadataBody
    ) -> BulkReply:
        result = service.add_metadata(call.caller, _file(path, body), body.metadata)
        return _bulk_reply(service, result, "added")

    @router.bind(routes.UPDATE_FILE_METADATA)
    def update_file_metadata(
        call: Call, path: AssetMetadataPath, body: ChangeFileMetadataBody
    ) -> BulkReply:
        result = service.change_metadata(
            call.caller, _file(path, body), body.metadata, update_type=body.update_type
        )
        return _bulk_reply(service, result, "written")

    @router.bind(routes.DELETE_FILE_METADATA)
    def delete_file_metadata(
        call: Call, path: AssetMetadataPath, body: RemoveFileMetadataBody
    ) -> BulkReply:
        result = service.remove_metadata(call.caller, _file(path, body), body.metadata_keys)
        return _bulk_reply(service, result, "removed")


def _asset(path: AssetMetadataPath) -> Entity:
    return Entity(path.database_id, path.asset_id)


def _file(
    path: AssetMetadataPath,
    named: FileMetadataQuery | AddFileMetadataBody | RemoveFileMetadataBody,
) -> Entity:
    return Entity(path.database_id, path.asset_id, named.file_path, named.type)


def _list(
    call: Call, service: MetadataService, entity: Entity, query: AssetMetadataQuery
) -> MetadataReply:
    metadata = service.list_metadata(
        call.caller,
        entity,
        call.page(query),
        asset_version_id=query.asset_version_id,
        asset_version_alias=query.asset_version_id_alias,
    )
    return _list_reply(call, service, entity, metadata)


def _list_reply(
    call: Call, service: MetadataService, entity: Entity | DatabaseEntity, page: Page[ShownRecord]
) -> MetadataReply:
    is_restricted = service.is_restricted(entity)
    return metadata_reply(entity, page, call.next_token(page.after), is_restricted=is_restricted)


def _bulk_reply(service: MetadataService, result: BulkResult, done: str) -> BulkReply:
    return bulk_reply(result, done, at=service.now())
