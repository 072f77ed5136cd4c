"""Operations on metadata schemas."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from backend.core.attempts import attempts
from backend.core.authorization import Authorization, Secured, require
from backend.core.clock import Clock, iso
from backend.core.errors import InvalidInputError
from backend.core.identity import Identity
from backend.core.ids import NewId, new_uuid
from backend.core.invisible import require_new_names
from backend.core.names import GLOBAL
from backend.core.paging import Page, PageRequest, fill
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditService
from backend.domains.databases.service import DatabaseService
from backend.domains.metadata_schemas import rules
from backend.domains.metadata_schemas.errors import SchemaNotFoundError, SchemaRevisionError
from backend.domains.metadata_schemas.models import (
    CreateSchemaBody,
    EntityType,
    Fields,
    MetadataSchema,
    UpdateSchemaBody,
)
from backend.domains.metadata_schemas.repository import MetadataSchemaRepository, position_of

_ATTEMPTS = 8  # of a change that conflicts with others of the same schema


@dataclass(eq=False, repr=False)
class MetadataSchemaService:
    schemas: MetadataSchemaRepository
    databases: DatabaseService
    authorization: Authorization
    audit: AuditService
    clock: Clock
    new_id: NewId = new_uuid

    def in_force(
        self, entity_type: EntityType, database_ids: Iterable[str], *, path: str | None = None
    ) -> Fields:
        """Return the combined fields of enabled schemas of these databases and GLOBAL, by key.

        `path` is the file whose extension selects schemas. No permission is checked. A change of a
        schema is in force for every write that begins after it.

        Raises:
            UnavailableError: they cannot be read; nothing may be written then.
        """
        names = dict.fromkeys((*database_ids, GLOBAL))
        schemas = self.schemas.in_scopes(entity_type, names)
        return rules.combined_rules(schema for schema in schemas if rules.applies_to(schema, path))

    def list_schemas(
        self,
        caller: Identity,
        page: PageRequest,
        *,
        database_id: str | None = None,
        entity_type: EntityType | None = None,
    ) -> Page[MetadataSchema]:
        """List the schemas that the caller may see, in no order.

        A page ends early at two megabytes, because replies are limited.
        """
        return fill(
            lambda request: self.schemas.list_all(database_id, entity_type, request),
            page,
            visible=lambda schema: self.authorization.may(caller, "GET", secured(schema)),
            position_of=lambda schema: position_of(schema, database_id, entity_type),
        )

    def get_schema(
        self, caller: Identity, database_id: str, metadata_schema_id: str
    ) -> MetadataSchema:
        """Return one schema of a database, or of GLOBAL.

        Raises:
            SchemaNotFoundError: it does not exist, or the caller may not see it.
        """
        schema = self.schemas.get(database_id, metadata_schema_id)
        return self._visible(caller, schema, metadata_schema_id)

    def create_schema(self, caller: Identity, body: CreateSchemaBody) -> MetadataSchema:
        """Create a schema, which applies to every later write if it is enabled.

        Raises:
            InvalidInputError: it contradicts itself, or the database does not exist.
            PermissionDeniedError: the caller may not create it.
            TooLargeError: its fields have more than 64 KB.
            TooManySchemasError: the database has 100 for the entity type.
        """
        now = self.clock()
        schema = MetadataSchema(
            metadata_schema_id=self.new_id(),
            **{name: getattr(body, name) for name in CreateSchemaBody.model_fields},
            date_created=iso(now),
            date_modified=iso(now),
            created_by=caller.user_id,
            modified_by=caller.user_id,
        )
        require(self.authorization, caller, "POST", secured(schema))
        require_new_names(_new_names(schema, None))
        _check(schema)
        name = schema.database_id
        if name != GLOBAL and self.databases.find_database(name) is None:
            raise InvalidInputError.of("databaseId", f"database {name} does not exist")
        entry = self.audit.entry(
            caller,
            "create_metadata_schema",
            audit_entity("metadataSchema", schema.metadata_schema_id),
            after=_attributes(schema),
            at=now,
        )
        self.schemas.create(schema, entry)
        return schema

    @attempts(_ATTEMPTS, SchemaRevisionError)
    def update_schema(self, caller: Identity, body: UpdateSchemaBody) -> MetadataSchema:
        """Change the fields of the body; existing records are unchanged.

        Raises:
            InvalidInputError: the schema would contradict itself.
            PermissionDeniedError: the caller may see it, but not change it.
            SchemaNotFoundError: it does not exist, or the caller may not see it.
            SchemaRevisionError: it is changed concurrently at every attempt.
        """
        stored = self.schemas.find(body.metadata_schema_id)
        schema = self._visible(caller, stored, body.metadata_schema_id)
        require(self.authorization, caller, "PUT", secured(schema))
        now = self.clock()
        values = body.model_dump(exclude_none=True, exclude={"metadata_schema_id"})
        marks = {"date_modified": iso(now), "modified_by": caller.user_id}
        changed = MetadataSchema.model_validate({**schema.model_dump(), **values, **marks})
        require(self.authorization, caller, "PUT", secured(changed))
        require_new_names(_new_names(changed, schema))
        _check(changed)
        before, after = _attributes(schema), _attributes(changed)
        entry = self.audit.entry(
            caller,
            "update_metadata_schema",
            audit_entity("metadataSchema", schema.metadata_schema_id),
            before=before,
            after=after,
            at=now,
        )
        changes = {name: value for name, value in after.items() if value != before.get(name)}
        self.schemas.change(schema, changes, entry)
        return changed

    @attempts(_ATTEMPTS, SchemaRevisionError)
    def delete_schema(self, caller: Identity, database_id: str, metadata_schema_id: str) -> None:
        """Delete a schema; existing records are kept.

        Raises:
            PermissionDeniedError: the caller may see it, but not delete it.
            SchemaNotFoundError: it does not exist, or the caller may not see it.
            SchemaRevisionError: it is changed concurrently at every attempt.
        """
        schema = self.get_schema(caller, database_id, metadata_schema_id)
        require(self.authorization, caller, "DELETE", secured(schema))
        entry = self.audit.entry(
            caller,
            "delete_metadata_schema",
            audit_entity("metadataSchema", metadata_schema_id),
            before=_attributes(schema),
        )
        return self.schemas.remove(schema, entry)

    def _visible(
        self, caller: Identity, schema: MetadataSchema | None, metadata_schema_id: str
    ) -> MetadataSchema:
        if schema is None or not self.authorization.may(caller, "GET", secured(schema)):
            raise SchemaNotFoundError(metadata_schema_id)
        return schema


def secured(schema: MetadataSchema) -> Secured:
    """Return a schema as permissions see it."""
    return Secured(
        "metadataSchema",
        {
            "databaseId": schema.database_id,
            "metadataSchemaName": schema.schema_name,
            "metadataSchemaEntityType": schema.metadata_schema_entity_type,
        },
    )


def _new_names(schema: MetadataSchema, before: MetadataSchema | None) -> dict[str, str]:
    """Return the names that a schema introduces, by field."""
    known = (
        {field.metadata_field_key_name for field in before.fields.fields} if before else set[str]()
    )
    names = {
        f"fields.fields.{number}.metadataFieldKeyName": field.metadata_field_key_name
        for number, field in enumerate(schema.fields.fields)
        if field.metadata_field_key_name not in known
    }
    is_renamed = before is None or before.schema_name != schema.schema_name
    return names | ({"schemaName": schema.schema_name} if is_renamed else {})


def _check(schema: MetadataSchema) -> None:
    rules.check_schema(
        schema.metadata_schema_entity_type, schema.fields, schema.file_key_type_restriction
    )


def _attributes(schema: MetadataSchema) -> dict[str, Any]:
    """Return a schema as its audit entries contain it."""
    return schema.model_dump(by_alias=True, exclude_none=True, exclude={"revision"})
