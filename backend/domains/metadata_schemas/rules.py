"""The checks of schemas, the selection of those for an entity, and their combination. Pure."""

from collections.abc import Iterable, Mapping, Sequence

from backend.core.errors import FieldError, InvalidInputError, TooLargeError
from backend.core.metadata_values import check_value
from backend.core.names import ALL_EXTENSIONS, extension_of
from backend.core.quoting import quoted
from backend.domains.metadata_schemas.models import (
    FILE_TYPES,
    EntityType,
    FieldInForce,
    Fields,
    MetadataSchema,
    SchemaField,
    SchemaFields,
)

# Size of a schema's fields as JSON: with 100 schemas a scope, each write of metadata may read 6 MB
# (decision 21).
MAX_BYTES = 64 * 1024
_LIST = "inline_controlled_list"


def check_schema(
    entity_type: EntityType, fields: SchemaFields, file_key_type_restriction: str | None
) -> None:
    """Reject a schema that contradicts itself.

    Raises:
        InvalidInputError: the message names each invalid field of the request.
        TooLargeError: it is too large to be read by every write of metadata.
    """
    size = len(fields.model_dump_json(by_alias=True, exclude_none=True).encode())
    if size > MAX_BYTES:
        raise TooLargeError(f"fields: has {size} bytes; at most {MAX_BYTES} are allowed")
    errors = list(_errors(entity_type, fields.fields))
    if file_key_type_restriction and entity_type not in FILE_TYPES:
        message = f"is allowed only for {' and '.join(FILE_TYPES)}"
        errors.append(FieldError("fileKeyTypeRestriction", message))
    if errors:
        first = errors[0]
        raise InvalidInputError(f"{first.field}: {first.message}", fields=tuple(errors))


def applies_to(schema: MetadataSchema, path: str | None) -> bool:
    """Return whether an enabled schema applies to the file of a path; None means no file."""
    if not schema.enabled:
        return False
    restriction = schema.file_key_type_restriction
    if path is None or not restriction:
        return True
    wanted = {element.strip().lower() for element in restriction.split(",")}
    return ALL_EXTENSIONS in wanted or extension_of(path) in wanted


def combined_rules(schemas: Iterable[MetadataSchema]) -> Fields:
    """Return the combined rules of schemas for each key."""
    merged: dict[str, FieldInForce] = {}
    for schema in sorted(schemas, key=lambda s: (s.database_id, s.date_created, s.schema_name)):
        name = f"{schema.schema_name} ({schema.database_id})"
        for said in schema.fields.fields:
            field = FieldInForce(
                key=said.metadata_field_key_name,
                value_type=said.metadata_field_value_type,
                required=said.required,
                sequence=said.sequence,
                depends_on=tuple(dict.fromkeys(said.depends_on_field_key_name or ())),
                default=said.default_metadata_field_value or None,
                controlled=tuple(said.controlled_list_keys or ()),
                schemas=(name,),
            )
            known = merged.get(field.key)
            merged[field.key] = field if known is None else _merge(known, field)
    order = ordered_by_dependency({key: field.depends_on for key, field in merged.items()})
    return {key: merged[key] for key in order}


def ordered_by_dependency(depends_on: Mapping[str, Sequence[str]]) -> list[str]:
    """Return keys after those that they depend on; in cycles in any order."""
    done: dict[str, None] = {}
    for start in depends_on:
        open_keys, seen = [start], {start}
        while open_keys:
            key = open_keys[-1]
            parents = [p for p in depends_on[key] if p in depends_on and p not in done]
            unseen = [p for p in parents if p not in seen]
            if unseen:
                open_keys.append(unseen[0])
                seen.add(unseen[0])
            else:
                done.setdefault(open_keys.pop())
    return list(done)


def _errors(entity_type: EntityType, fields: Sequence[SchemaField]) -> Iterable[FieldError]:
    known = {field.metadata_field_key_name for field in fields}
    seen: set[str] = set()
    for number, field in enumerate(fields):
        where = f"fields.fields.{number}"
        key = field.metadata_field_key_name
        if key in seen:
            yield FieldError(f"{where}.metadataFieldKeyName", "is used twice in this schema")
        seen.add(key)
        if entity_type == "fileAttribute" and field.metadata_field_value_type != "string":
            message = "must be 'string' for fileAttribute"
            yield FieldError(f"{where}.metadataFieldValueType", message)
        for parent in field.depends_on_field_key_name or ():
            if parent not in known:
                message = f"{quoted(parent)} is not a field of this schema"
                yield FieldError(f"{where}.dependsOnFieldKeyName", message)
        yield from _errors_of_values(field, where)
    cycle = _cycle({f.metadata_field_key_name: f.depends_on_field_key_name or () for f in fields})
    if cycle:
        names = " -> ".join(cycle[:10])
        yield FieldError("fields", f"fields depend on each other in a cycle: {names:.400}")


def _errors_of_values(field: SchemaField, where: str) -> Iterable[FieldError]:
    controlled = field.controlled_list_keys or []
    is_list = field.metadata_field_value_type == _LIST
    if is_list and not controlled:
        yield FieldError(f"{where}.controlledListKeys", f"is required for {_LIST}")
    if controlled and not is_list:
        yield FieldError(f"{where}.controlledListKeys", f"is allowed only for {_LIST}")
    if len(set(controlled)) < len(controlled):
        yield FieldError(f"{where}.controlledListKeys", "contains a value twice")
    default = field.default_metadata_field_value
    if not default:
        return
    try:
        check_value(field.metadata_field_value_type, default)
    except ValueError as error:
        yield FieldError(f"{where}.defaultMetadataFieldValue", str(error))
    if is_list and default not in controlled:
        message = "must be one of controlledListKeys"
        yield FieldError(f"{where}.defaultMetadataFieldValue", message)


def _cycle(depends_on: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the keys of some cycle of dependencies; empty if there is none."""
    free = set[str]()
    for start in depends_on:
        trail = [start]
        todo = [list(depends_on[start])]
        while trail and start not in free:
            if not todo[-1]:
                free.add(trail.pop())
                todo.pop()
                continue
            parent = todo[-1].pop()
            if parent in trail:
                return [*trail[trail.index(parent) :], parent]
            if parent in depends_on and parent not in free:
                trail.append(parent)
                todo.append(list(depends_on[parent]))
    return []


def _merge(known: FieldInForce, other: FieldInForce) -> FieldInForce:
    """Combine one field of two schemas: their common rules, or a mark for a contradiction."""
    names = (*known.schemas, *other.schemas)
    sequences = [s for s in (known.sequence, other.sequence) if s is not None]
    aligned = other._replace(sequence=known.sequence, schemas=known.schemas)
    if known.has_conflict or aligned != known:
        return FieldInForce(known.key, "string", has_conflict=True, schemas=names)
    return known._replace(sequence=min(sequences, default=None), schemas=names)
