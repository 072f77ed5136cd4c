"""The replies of routes of metadata, for every kind of entity."""

from datetime import datetime

from backend.core.clock import iso
from backend.core.paging import Page
from backend.domains.metadata.models import ASSET_LEVEL, AnyEntity, DatabaseEntity, LinkEntity
from backend.domains.metadata.models.replies import (
    AnyRecordReply,
    AssetRecordReply,
    BulkReply,
    DatabaseRecordReply,
    FailedItem,
    FileRecordReply,
    LinkRecordReply,
    MetadataReply,
)
from backend.domains.metadata.service.records import BulkResult, ShownRecord


def metadata_reply(
    entity: AnyEntity, page: Page[ShownRecord], next_token: str | None, *, is_restricted: bool
) -> MetadataReply:
    """Return a page of records as routes return it."""
    return MetadataReply(
        metadata=[_record(entity, shown) for shown in page.items],
        restrict_metadata_outside_schemas=is_restricted,
        next_token=next_token,
        message=f"{len(page.items)} records",
    )


def bulk_reply(result: BulkResult, done: str, *, at: datetime) -> BulkReply:
    """Return the result for each key; `done` is its participle: added, written or removed."""
    total = len(result.done) + len(result.failed)
    return BulkReply(
        success=bool(result.done),
        total_items=total,
        success_count=len(result.done),
        failure_count=len(result.failed),
        successful_items=list(result.done),
        failed_items=[FailedItem(key=key, error=error) for key, error in result.failed],
        message=f"{len(result.done)} of {total} records were {done}",
        timestamp=iso(at),
    )


def _record(entity: AnyEntity, shown: ShownRecord) -> AnyRecordReply:
    values: dict[str, object] = {**shown.record.model_dump(), **_schema_values(shown)}
    match entity:
        case DatabaseEntity():
            return DatabaseRecordReply.model_validate({**values, "database_id": entity.database_id})
        case LinkEntity():
            return LinkRecordReply.model_validate({**values, "asset_link_id": entity.asset_link_id})
        case _:
            values |= {"database_id": entity.database_id, "asset_id": entity.asset_id}
            if entity.path == ASSET_LEVEL:
                return AssetRecordReply.model_validate(values)
            return FileRecordReply.model_validate({**values, "file_path": entity.path})


def _schema_values(shown: ShownRecord) -> dict[str, object]:
    field = shown.field
    if field is None:
        return {"metadata_schema_field": False}
    return {
        "metadata_schema_name": ", ".join(field.schemas),
        "metadata_schema_field": True,
        "metadata_schema_required": field.required,
        "metadata_schema_sequence": field.sequence,
        "metadata_schema_default_value": field.default,
        "metadata_schema_depends_on": list(field.depends_on),
        "metadata_schema_multi_field_conflict": field.has_conflict,
        "metadata_schema_controlled_list_keys": list(field.controlled),
    }
