"""The table of schemas, by access pattern, and one item for each scope.

A scope is a database (or GLOBAL) and an entity type. Its item lists its schemas and changes in the
transaction that creates or removes one, so the schemas in force are read by it and by their keys,
never through an eventually consistent index.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.core.attempts import attempts
from backend.core.errors import ConflictError
from backend.core.paging import Page, PageRequest, Position
from backend.core.tables import Query, Tables
from backend.core.transactions import Delete, Item, Put, Update, Write, absent, equals, put_new
from backend.domains.metadata_schemas.errors import (
    SchemaRevisionError,
    SchemasBusyError,
    TooManySchemasError,
)
from backend.domains.metadata_schemas.models import MAX_SCHEMAS, EntityType, MetadataSchema
from backend.spec import keys
from backend.spec.tables.metadata import (
    METADATA_SCHEMA_ID,
    METADATA_SCHEMAS,
    SCHEMA_SCOPES,
    SCHEMAS_BY_DATABASE,
    SCHEMAS_BY_SCOPE,
    SCHEMAS_BY_TYPE,
)
from backend.spec.tables.model import Index

_SCOPE = keys.SCHEMA_SCOPE.name
_IDS, _REVISION = "metadataSchemaIds", "revision"
_ATTEMPTS = 8  # of a change that conflicts with others of the same scope


class _ScopeChangedError(ConflictError):
    """Another schema of the scope was created or removed meanwhile."""


@dataclass(eq=False, repr=False)
class MetadataSchemaRepository:
    tables: Tables

    def in_scopes(
        self, entity_type: EntityType, database_ids: Iterable[str]
    ) -> list[MetadataSchema]:
        """Return all schemas of an entity type in these databases, read consistently.

        A schema that is removed meanwhile is left out.
        """
        scopes = [keys.SCHEMA_SCOPE.build(name, entity_type) for name in database_ids]
        items = self.tables.get_many([(SCHEMA_SCOPES, {_SCOPE: scope}) for scope in scopes])
        wanted = [(item[_SCOPE], name) for _, item in items for name in item[_IDS]]
        rows = self.tables.get_many(
            [(METADATA_SCHEMAS, _key(name, scope)) for scope, name in wanted]
        )
        return [_schema(item) for _, item in rows]

    def get(self, database_id: str, metadata_schema_id: str) -> MetadataSchema | None:
        """Return the schema of a database, or of GLOBAL, of any entity type."""
        schema = self.find(metadata_schema_id)
        return schema if schema is not None and schema.database_id == database_id else None

    def find(self, metadata_schema_id: str) -> MetadataSchema | None:
        query = Query(table=METADATA_SCHEMAS, partition=metadata_schema_id, consistent=True)
        items = self.tables.query(query, PageRequest(1)).items
        return _schema(items[0]) if items else None

    def list_all(
        self, database_id: str | None, entity_type: EntityType | None, page: PageRequest
    ) -> Page[MetadataSchema]:
        """List schemas in no order, optionally those of a database or an entity type.

        Filtered lists are read from an eventually consistent index.
        """
        narrowed = _index_of(database_id, entity_type)
        if narrowed is None:
            return self.tables.scan(METADATA_SCHEMAS, page).map(_schema)
        index, partition = narrowed
        query = Query(table=METADATA_SCHEMAS, index=index, partition=partition)
        return self.tables.query(query, page).map(_schema)

    def create(self, schema: MetadataSchema, entry: Write) -> None:
        """Store a schema and list it in its scope.

        Raises:
            SchemasBusyError: the scope is changed concurrently at every attempt.
            TooManySchemasError: the scope is full.
        """
        row = put_new(
            METADATA_SCHEMAS, _row(schema), SchemaRevisionError(schema.metadata_schema_id)
        )
        self._with_scope(schema, row, entry, is_there=True)

    def change(self, schema: MetadataSchema, changes: Mapping[str, Any], entry: Write) -> None:
        """Set some attributes if the row is unchanged since it was read.

        Raises:
            SchemaRevisionError: the row has another revision, or does not exist.
        """
        update = Update(
            table=METADATA_SCHEMAS,
            key=_key_of(schema),
            set=changes,
            add={_REVISION: 1},
            conditions=(equals(_REVISION, schema.revision),),
            refused=SchemaRevisionError(schema.metadata_schema_id),
        )
        self.tables.transact([update, entry])

    def remove(self, schema: MetadataSchema, entry: Write) -> None:
        """Remove a schema if it is unchanged since it was read, also from its scope.

        Raises:
            SchemaRevisionError: the row has another revision, or does not exist.
            SchemasBusyError: the scope is changed concurrently at every attempt.
        """
        row = Delete(
            table=METADATA_SCHEMAS,
            key=_key_of(schema),
            conditions=(equals(_REVISION, schema.revision),),
            refused=SchemaRevisionError(schema.metadata_schema_id),
        )
        self._with_scope(schema, row, entry, is_there=False)

    @attempts(_ATTEMPTS, _ScopeChangedError, refusal=lambda *_: SchemasBusyError())
    def _with_scope(
        self, schema: MetadataSchema, row: Write, entry: Write, *, is_there: bool
    ) -> None:
        scope = _scope_of(schema)
        item = self.tables.get(SCHEMA_SCOPES, {_SCOPE: scope})
        known: Sequence[str] = () if item is None else item[_IDS]
        others = [name for name in known if name != schema.metadata_schema_id]
        ids = [*others, schema.metadata_schema_id] if is_there else others
        if len(ids) > MAX_SCHEMAS:
            raise TooManySchemasError(scope)
        revision = 0 if item is None else item[_REVISION]
        named = Put(
            table=SCHEMA_SCOPES,
            item={_SCOPE: scope, _IDS: ids, _REVISION: revision + 1},
            conditions=(equals(_REVISION, revision) if revision else absent(_SCOPE),),
            refused=_ScopeChangedError("the scope was changed after it was read"),
        )
        return self.tables.transact([row, named, entry])


def position_of(
    schema: MetadataSchema, database_id: str | None, entity_type: EntityType | None
) -> Position:
    """Return the position of a schema in a list, which may be of a database or an entity type."""
    narrowed = _index_of(database_id, entity_type)
    if narrowed is None:
        return _key_of(schema)
    row, index = _row(schema), narrowed[0]
    of_index = [key.name for key in (index.partition_key, index.sort_key) if key is not None]
    return {**_key_of(schema), **{name: row[name] for name in of_index}}


def _index_of(database_id: str | None, entity_type: EntityType | None) -> tuple[Index, str] | None:
    if database_id is not None and entity_type is not None:
        return SCHEMAS_BY_SCOPE, keys.SCHEMA_SCOPE.build(database_id, entity_type)
    if database_id is not None:
        return SCHEMAS_BY_DATABASE, database_id
    return None if entity_type is None else (SCHEMAS_BY_TYPE, entity_type)


def _key(metadata_schema_id: str, scope: str) -> dict[str, str]:
    return {METADATA_SCHEMA_ID.name: metadata_schema_id, _SCOPE: scope}


def _scope_of(schema: MetadataSchema) -> str:
    return keys.SCHEMA_SCOPE.build(schema.database_id, schema.metadata_schema_entity_type)


def _key_of(schema: MetadataSchema) -> dict[str, str]:
    return _key(schema.metadata_schema_id, _scope_of(schema))


def _row(schema: MetadataSchema) -> Item:
    """Return the item of a schema, which repeats the entity type for the index."""
    stored = schema.model_dump(by_alias=True, exclude_none=True)
    entity_type = {"metadataEntityType": schema.metadata_schema_entity_type}
    return {**stored, **_key_of(schema), **entity_type}


def _schema(item: Item) -> MetadataSchema:
    return MetadataSchema.model_validate(item)
