"""The allowed keys and sizes of metadata, and the effect of schemas on a request. Pure.

(`core` defines the allowed values.)
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

from backend.core.errors import FieldError, InvalidInputError, TooLargeError
from backend.core.names import MAX_KEY_BYTES
from backend.core.quoting import quoted
from backend.domains.audit.models import (
    audit_entity,
)
from backend.domains.metadata.errors import SchemaViolationError, ValuesChangedError
from backend.domains.metadata.models import (
    ASSET_LEVEL,
    MAX_RECORDS,
    AnyEntity,
    DatabaseEntity,
    Edit,
    Entity,
    Kind,
    LinkEntity,
    Record,
    ValueConflict,
    is_reserved,
)
from backend.domains.metadata_schemas.models import EntityType, FieldInForce, Fields
from backend.spec.facts import FACT_PREFIX
from backend.spec.keys import FILE, ITEM_BYTES, SNAPSHOT, SORT_KEY_BYTES


def check_composite_keys(database_id: str, asset_id: str, path: str) -> None:
    """Reject a path whose composite key does not fit DynamoDB's sort key.

    Raises:
        InvalidInputError: the message names `filePath`.
    """
    size = len(FILE.build(database_id, asset_id, path).encode())
    if size > SORT_KEY_BYTES:
        raise InvalidInputError.of(
            "filePath", f"results in a key of {size} bytes; at most {SORT_KEY_BYTES} are allowed"
        )


def check_snapshot_key(kind: Kind, path: str, key: str, *, field: str) -> None:
    """Reject a key that a version of the asset could not store with this path.

    Raises:
        InvalidInputError: the message names the field.
    """
    size = len(SNAPSHOT.build(kind, path, key).encode())
    if size > SORT_KEY_BYTES:
        raise InvalidInputError.of(
            field,
            (
                f"results, with the path, in a key of {size} bytes; at most {SORT_KEY_BYTES} "
                "are allowed"
            ),
        )


def check_not_reserved(entity: AnyEntity, key: str, *, field: str) -> None:
    """Reject a key that is reserved for facts.

    Raises:
        InvalidInputError: the message names the field.
    """
    # Searches find keys in any case.
    if is_reserved(entity, key.casefold()):
        raise InvalidInputError.of(field, f"{quoted(key, 200)} is reserved: {RESERVED}")


def check_largest_row(key: str, size: int, *, field: str) -> None:
    """Reject a record whose largest row, of `size` bytes, exceeds DynamoDB's limit.

    Raises:
        TooLargeError: the message names the field, the key and the size.
    """
    if size > ITEM_BYTES:
        fact = f"the record {quoted(key)} has {size} bytes in its largest copy"
        raise TooLargeError.of(field, f"{fact}; at most {ITEM_BYTES} are allowed")


def check_object_key(prefix: str, path: str) -> str:
    """Return the S3 key of a file.

    Raises:
        InvalidInputError: the key is too long for S3; the message names `filePath`.
    """
    key = prefix + path.lstrip("/")
    size = len(key.encode())
    if size > MAX_KEY_BYTES:
        raise InvalidInputError.of(
            "filePath", f"results in an S3 key of {size} bytes; at most {MAX_KEY_BYTES} are allowed"
        )
    return key


ALREADY_THERE = "The key already exists"
NOT_THERE = "The key does not exist"
BUSY = "Another request is changing this key; try again"
OUTAGE = "The database did not confirm the write: check the value, and try again"
RESERVED = f"must not begin with {quoted(FACT_PREFIX)}: only the product writes facts"
NO_ROOM = f"The entity already has {MAX_RECORDS} keys, which is the maximum"

Records = Mapping[str, Record]


class Governing(NamedTuple):
    """The schema fields for an entity's records, and whether other keys are allowed."""

    fields: Fields
    restricts: bool = False

    @property
    def keys(self) -> set[str]:
        """Return the keys whose records decide about writes of other keys."""
        described = (f for f in self.fields.values() if f.required or f.default or f.depends_on)
        return {key for field in described for key in (field.key, *field.depends_on)}

    @property
    def has_dependencies(self) -> bool:
        return any(field.depends_on for field in self.fields.values())


@dataclass(slots=True)
class Plan:
    """The new record of each key in the order of writing, and the refused keys with reasons."""

    targets: dict[str, Record | None]
    refused: dict[str, str]


def planned_addition(governing: Governing, sent: Records, stored: Records, done: Set[str]) -> Plan:
    """Plan an addition. Existing keys are refused, except those in `done`, added by this request.

    Raises:
        SchemaViolationError: the message names the problems.
    """
    taken = [key for key in sent if key in stored and key not in done]
    wanted = {key: record for key, record in sent.items() if key not in taken}
    plan = Plan({}, dict.fromkeys(taken, ALREADY_THERE))
    if wanted:
        targets = _with_defaults(governing, wanted, stored, numbers=_numbers(sent))
        plan.targets = _ordered_by_dependency(governing, targets, stored)
        for key in done:
            plan.targets.pop(key, None)
    return plan


def planned_change(governing: Governing, sent: Records, stored: Records, done: Set[str]) -> Plan:
    """Plan a change: records are written whether or not they exist.

    Raises:
        SchemaViolationError: the message names the problems.
    """
    targets = _with_defaults(governing, sent, stored, numbers=_numbers(sent))
    ordered = _ordered_by_dependency(governing, targets, stored)
    return Plan({key: record for key, record in ordered.items() if key not in done}, {})


def planned_replacement(governing: Governing, sent: Records, stored: Records) -> Plan:
    """Plan a replacement: records are written, and all others removed, in an order that has room.

    Raises:
        SchemaViolationError: the message names the problems.
    """
    kept = _with_defaults(governing, sent, {}, numbers=_numbers(sent))
    targets = {**dict.fromkeys(stored), **kept}
    has_room = len(targets) <= MAX_RECORDS
    return Plan(_ordered_by_dependency(governing, targets, stored, gains_first=has_room), {})


def planned_removal(
    governing: Governing, wanted: Sequence[str], stored: Records, done: Set[str]
) -> Plan:
    """Plan a removal. Missing and required keys, and those with dependents, are refused."""
    fields = governing.fields
    refused = {key: NOT_THERE for key in wanted if key not in stored and key not in done}
    for key in wanted:
        if key in fields and fields[key].required and key not in refused:
            refused[key] = f"Required by {_schema_names(fields[key])}"
    kept = True
    while kept:
        going = {key for key in wanted if key not in refused}
        dependents = {
            parent: field
            for key, field in fields.items()
            if key not in going and key in stored and stored[key].metadata_value
            for parent in field.depends_on
        }
        kept = {key: child for key, child in dependents.items() if key in going}
        for key, child in kept.items():
            refused[key] = f"{quoted(child.key)} depends on it, according to {_schema_names(child)}"
    order = [*(key for key in reversed(list(fields)) if key in wanted), *wanted]
    return Plan({key: None for key in order if key not in refused and key not in done}, refused)


def planned_edit(governing: Governing, sent: Records, edit: Edit, stored: Records) -> Plan:
    """Plan an edit of expected values: all of it, or nothing.

    What is stored already as the request would leave it is no conflict, so a request may be
    repeated.

    Raises:
        SchemaViolationError: the message names the problems.
        ValuesChangedError: values are not as expected.
    """
    current = {key: record.metadata_value for key, record in stored.items()}
    conflicts = tuple(
        ValueConflict(key, value, current.get(key))
        for key, value in edit.expected.items()
        if current.get(key) != value and stored.get(key) != sent.get(key)
    )
    if conflicts:
        raise ValuesChangedError(conflicts)
    going = [key for key in edit.removals if key in stored]
    refused = planned_removal(governing, going, {**stored, **sent}, set()).refused
    if refused:
        errors = tuple(
            FieldError(f"removals.{number}.metadataKey", refused[key])
            for number, key in enumerate(edit.removals)
            if key in refused
        )
        raise SchemaViolationError(f"{errors[0].field}: {errors[0].message}", fields=errors)
    targets: dict[str, Record | None] = dict.fromkeys(going)
    if sent:
        # A removed key gets no default in its place.
        fields = {
            key: field._replace(required=False, default=None) if key in going else field
            for key, field in governing.fields.items()
        }
        kept = {key: record for key, record in stored.items() if key not in going}
        narrowed = governing._replace(fields=fields)
        targets |= _with_defaults(narrowed, sent, kept, numbers=_numbers(sent))
    return Plan(_ordered_by_dependency(governing, targets, stored), {})


def _with_defaults(
    governing: Governing, sent: Records, stored: Records, *, numbers: Mapping[str, int]
) -> dict[str, Record | None]:
    """Return the sent records, with defaults for missing ones if schemas apply."""
    if not governing.fields:
        return dict(sent)
    final = {**stored, **sent}
    filled: dict[str, Record] = {}
    for key, field in governing.fields.items():
        if field.default and key not in final and not _missing_parents(field, final):
            filled[key] = final[key] = Record(
                metadata_key=key,
                metadata_value_type=field.value_type,
                metadata_value=field.default,
            )
    errors = [
        *_errors_of_sent(governing, sent, final, numbers),
        *_errors_of_rest(governing.fields, sent, final, numbers),
    ]
    if errors:
        first = errors[0]
        raise SchemaViolationError(f"{first.field}: {first.message}", fields=tuple(errors))
    return {**sent, **filled}


def _ordered_by_dependency(
    governing: Governing,
    targets: Mapping[str, Record | None],
    stored: Records,
    *,
    gains_first: bool = True,
) -> dict[str, Record | None]:
    """Order keys: values are added parents first, and removed children first.

    So no state between two writes has a value that depends on a missing one.
    """
    order = [key for key in dict.fromkeys((*governing.fields, *targets)) if key in targets]
    losing = {key for key in order if key in stored and not _has_value(targets, key)}
    gains = [key for key in order if key not in losing]
    losses = [key for key in reversed(order) if key in losing]
    keys = (*gains, *losses) if gains_first else (*losses, *gains)
    return {key: targets[key] for key in keys}


def _errors_of_sent(
    governing: Governing, sent: Records, final: Records, numbers: Mapping[str, int]
) -> Iterator[FieldError]:
    for key, record in sent.items():
        where = f"metadata.{numbers[key]}"
        field = governing.fields.get(key)
        if field is None:
            if governing.restricts:
                message = (
                    "is not in any metadata schema, and the database does not accept other keys"
                )
                yield FieldError(f"{where}.metadataKey", message)
            continue
        if field.has_conflict:
            continue
        if record.metadata_value_type != field.value_type:
            message = f"must be {quoted(field.value_type)}, according to {_schema_names(field)}"
            yield FieldError(f"{where}.metadataValueType", message)
        value = record.metadata_value
        if value and field.controlled and value not in field.controlled:
            message = f"must be one of the values listed in {_schema_names(field)}"
            yield FieldError(f"{where}.metadataValue", message)
        missing = _missing_parents(field, final) if value else []
        if missing:
            message = f"depends on {quoted(missing[0])}, which has no value"
            yield FieldError(f"{where}.metadataKey", message)


def _errors_of_rest(
    fields: Fields, sent: Records, final: Records, numbers: Mapping[str, int]
) -> Iterator[FieldError]:
    """Return errors for required keys without value, and for removed keys with dependents."""
    for key, field in fields.items():
        if field.required and not _has_value(final, key):
            if key in sent:
                message = f"must have a value, according to {_schema_names(field)}"
                yield FieldError(f"metadata.{numbers[key]}.metadataValue", message)
            else:
                yield FieldError("metadata", f"{quoted(key)} is required by {_schema_names(field)}")
        if key not in sent and _has_value(final, key):
            for parent in field.depends_on:
                if parent in sent and not sent[parent].metadata_value:
                    message = f"must have a value, because {quoted(key)} depends on it"
                    yield FieldError(f"metadata.{numbers[parent]}.metadataValue", message)


def _missing_parents(field: FieldInForce, final: Records) -> list[str]:
    return [parent for parent in field.depends_on if not _has_value(final, parent)]


def _has_value(records: Mapping[str, Record | None], key: str) -> bool:
    record = records.get(key)
    return record is not None and bool(record.metadata_value)


def _numbers(sent: Records) -> dict[str, int]:
    return {key: number for number, key in enumerate(sent)}


def _schema_names(field: FieldInForce) -> str:
    return f"the metadata schema {', '.join(field.schemas):.200}"


def schema_kind(entity: AnyEntity) -> tuple[EntityType, str | None]:
    """Return the entity type of schemas, and the path whose extension selects them."""
    match entity:
        case DatabaseEntity():
            return "databaseMetadata", None
        case LinkEntity():
            return "assetLinkMetadata", None
        case Entity(path=path, kind="attribute"):
            return "fileAttribute", path
        case Entity(path=path):
            return ("assetMetadata", None) if path == ASSET_LEVEL else ("fileMetadata", path)


def databases_of(entity: AnyEntity) -> tuple[str, ...]:
    """Return the databases whose schemas apply to the entity."""
    if isinstance(entity, LinkEntity):
        return tuple(dict.fromkeys(entity.database_ids))
    return (entity.database_id,)


def audit_name(entity: AnyEntity) -> tuple[str, str, Kind]:
    """Return how the audit log names the entity: object type, name, kind of keys."""
    match entity:
        case DatabaseEntity():
            return "database", audit_entity("database", entity.database_id), "metadata"
        case LinkEntity():
            return "asset_link", audit_entity("assetLink", entity.asset_link_id), "metadata"
        case Entity(database_id=database_id, asset_id=asset_id, path=path, kind=kind):
            if path == ASSET_LEVEL:
                return "asset", audit_entity("asset", database_id, asset_id), kind
            return "file", audit_entity("file", database_id, asset_id, path), kind
