"""The routes of metadata on databases, on assets and on files; and on several of them at once."""

from typing import Protocol

from backend.core.clock import iso
from backend.core.errors import VitrineError
from backend.core.identity import Identity
from backend.core.models import PageQuery
from backend.core.paging import Page
from backend.domains.metadata.errors import ValuesChangedError
from backend.domains.metadata.models import ASSET_LEVEL, DatabaseEntity, Edit, Entity
from backend.domains.metadata.models.replies import (
    AddAssetMetadataBody,
    AddFileMetadataBody,
    AssetMetadataPath,
    AssetMetadataQuery,
    BulkReply,
    ChangeAssetMetadataBody,
    ChangeFileMetadataBody,
    CheckedEdit,
    DatabaseMetadataPath,
    EditedEntity,
    EditMetadataBody,
    EditMetadataReply,
    EntityName,
    EntityResult,
    FileMetadataQuery,
    MetadataReply,
    RemoveAssetMetadataBody,
    RemoveFileMetadataBody,
)
from backend.domains.metadata.service.commands import MetadataService, bulk_reply, metadata_reply
from backend.domains.metadata.service.records import BulkResult, ShownRecord
from backend.http.bodies import validate
from backend.http.call import Call
from backend.http.errors import status_of
from backend.http.router import Router
from backend.spec import routes

_SHOWN_CHARS = 200
"""Of a value in a conflict: so a reply fits the limit of a function."""
_SHOWN_ERRORS = 20


class LinkMetadata(Protocol):
    """Changes the metadata of links, which belong to a slice above this one."""

    def edit_metadata(self, caller: Identity, asset_link_id: str, edit: Edit) -> None: ...


def build_router(service: MetadataService, links: LinkMetadata) -> Router:
    """Bind the routes of metadata to the services."""
    router = Router()
    _bind_databases(router, service)
    _bind_assets(router, service)
    _bind_files(router, service)

    def edit_entity(call: Call, sent: EditedEntity) -> None:
        values = [record.model_dump(by_alias=True) for record in sent.metadata]
        records = validate(CheckedEdit, {"metadata": values}, strict=True).metadata
        expected = {record.metadata_key: record.expected_value for record in sent.metadata}
        expected |= {record.metadata_key: record.expected_value for record in sent.removals}
        keys = tuple(record.metadata_key for record in sent.removals)
        edit = Edit(tuple(records), keys, expected)
        if sent.asset_link_id is not None:
            links.edit_metadata(call.caller, sent.asset_link_id, edit)
            return
        entity: Entity | DatabaseEntity = DatabaseEntity(sent.database_id or "")
        if sent.asset_id is not None:
            path, kind = sent.file_path or ASSET_LEVEL, sent.type or "metadata"
            entity = Entity(entity.database_id, sent.asset_id, path, kind)
        service.edit_metadata(call.caller, entity, edit)

    @router.bind(routes.UPDATE_METADATA_BATCH)
    def update_metadata_batch(call: Call, body: EditMetadataBody) -> EditMetadataReply:
        results: list[EntityResult] = []
        for sent in body.entities:
            try:
                with call.part(sent.path, *sent.routes):
                    edit_entity(call, sent)
                outcome = {"status": 200, "message": "The metadata is as requested"}
            except VitrineError as error:
                outcome = _refusal(error)
            ids = sent.model_dump(include=set(EntityName.model_fields))
            results.append(EntityResult.model_validate({**ids, **outcome}))
        done = sum(result.status < 400 for result in results)
        return EditMetadataReply(
            success=done == len(results),
            success_count=done,
            failure_count=len(results) - done,
            results=results,
            timestamp=iso(service.now()),
        )

    return router


def _refusal(error: VitrineError) -> dict[str, object]:
    """Return the fields of a result that an error determines."""

    def shown(value: str | None) -> str | None:
        if value is None or len(value) <= _SHOWN_CHARS:
            return value
        return f"{value[: _SHOWN_CHARS - 1]}…"

    conflicts = error.conflicts if isinstance(error, ValuesChangedError) else ()
    return {
        "status": status_of(error),
        "code": error.code,
        "message": error.message,
        "errors": [{"field": f.field, "message": f.message} for f in error.fields[:_SHOWN_ERRORS]]
        or None,
        "conflicts": [
            {
                "metadata_key": conflict.key,
                "expected_value": shown(conflict.expected),
                "stored_value": shown(conflict.stored),
            }
            for conflict in conflicts
        ]
        or None,
    }


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
