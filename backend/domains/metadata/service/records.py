"""Records of any entity, by the schemas in force, for every writer of metadata."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from backend.core.clock import Clock
from backend.core.errors import InvalidInputError
from backend.core.identity import Identity
from backend.core.invisible import require_new_names
from backend.core.paging import Page, PageRequest, Position
from backend.core.transactions import Write
from backend.domains.audit.service.commands import AuditService
from backend.domains.databases.service import DatabaseService
from backend.domains.metadata import rules
from backend.domains.metadata.models import (
    MAX_RECORDS,
    AnyEntity,
    Edit,
    Entity,
    NewRecord,
    Record,
    SentRecord,
    UpdateType,
    is_reserved,
)
from backend.domains.metadata.repository import (
    AuditedRecords,
    EntryOf,
    MetadataRepository,
    largest_row,
)
from backend.domains.metadata.service.writes import MOST_AT_ONCE, WriteRequest, carry_out, put_facts
from backend.domains.metadata_schemas.models import FieldInForce, Fields
from backend.domains.metadata_schemas.service import MetadataSchemaService

_FIELD = "schemaField"


class BulkResult(NamedTuple):
    """The result for each key of a request, in its order."""

    done: tuple[str, ...]
    failed: tuple[tuple[str, str], ...] = ()


class ShownRecord(NamedTuple):
    """A record, or the default of a field without one, and the schema field of its key."""

    record: Record
    field: FieldInForce | None = None
    is_stored: bool = True


@dataclass(eq=False, repr=False)
class RecordService:
    """No permission is checked: the owner of the entity has done so.

    `guards` are writes or checks for each transaction, such as one that requires that the entity
    exists. A request of more than about 97 records takes several transactions; after each of them
    the schemas are satisfied.
    """

    metadata: MetadataRepository
    schemas: MetadataSchemaService
    databases: DatabaseService
    audit: AuditService
    clock: Clock

    def list_records(self, entity: AnyEntity, page: PageRequest) -> Page[ShownRecord]:
        """List records by key, then schema fields without a record, by sequence and key.

        A page ends early at a megabyte. Lists are eventually consistent, except those of links.

        Raises:
            UnavailableError: records or schemas cannot be read.
        """
        fields = self.fields(entity)
        if page.after is not None and _FIELD in page.after:
            return _rest(fields, self.metadata.keys_of(entity), page, ())
        records = self.metadata.list_of(entity, page)
        shown = _shown(records.items, fields)
        if records.after is not None or not fields:
            return Page(shown, records.after)
        is_all = page.after is None
        stored = (
            {r.metadata_key for r in records.items} if is_all else self.metadata.keys_of(entity)
        )
        return _rest(fields, stored, page, shown)

    def list_snapshot(
        self, entity: Entity, snapshot_id: str, page: PageRequest
    ) -> Page[ShownRecord]:
        """List the records of an entity in a version of its asset, by key."""
        snapshot = self.metadata.list_snapshot(entity, snapshot_id, page)
        return Page(_shown(snapshot.items, self.fields(entity)), snapshot.after)

    def list_stored(self, entity: AnyEntity, page: PageRequest) -> Page[Record]:
        """List existing records by key, without schema fields; eventually consistent."""
        return self.metadata.list_of(entity, page)

    def list_stored_in_asset(self, of: Entity, most_pages: int) -> dict[str, list[Record]] | None:
        """As `list_stored`, of an asset and all its files, by path; for the kind of an entity.

        None if they are more than so many pages of a thousand records, or of a megabyte.
        """
        return self.metadata.list_in_asset(of, most_pages)

    def fields(self, entity: AnyEntity) -> Fields:
        """Return the schema fields of the entity's keys. They never apply to facts."""
        kind, path = rules.schema_kind(entity)
        in_force = self.schemas.in_force(kind, rules.databases_of(entity), path=path)
        return {key: field for key, field in in_force.items() if not is_reserved(entity, key)}

    def is_restricted(self, entity: AnyEntity) -> bool:
        """Return whether a database of the entity allows only keys that its schemas define."""
        databases = (self.databases.find_database(name) for name in rules.databases_of(entity))
        return any(
            database is not None and database.restrict_metadata_outside_schemas
            for database in databases
        )

    def add_records(
        self,
        caller: Identity,
        entity: AnyEntity,
        records: Sequence[NewRecord],
        *,
        guards: Iterable[Write] = (),
    ) -> BulkResult:
        """Add records, and defaults of schemas; existing keys fail individually.

        Raises:
            InvalidInputError: a key is repeated or too long, or an attribute is not a string.
            RecordsBusyError: the same keys are written concurrently at every attempt.
            SchemaViolationError: the schemas in force do not allow it.
            TooLargeError: a row that may derive from a record would exceed DynamoDB's 400 KB.
            TooManyRecordsError: the entity would have more than 500 records.
            UnavailableError: records or schemas cannot be read.
        """
        sent = checked(entity, records)
        _check_new_keys(records, ())
        governing = self._rules_of(entity)
        plan = carry_out(
            self.metadata,
            WriteRequest(
                entity,
                reads=governing.keys | sent.keys(),
                plan=partial(rules.planned_addition, governing, sent),
                entry_of=self.entries(caller, "create", entity),
                guards=tuple(guards),
                blind=not governing.fields and len(sent) <= MOST_AT_ONCE,
                serial=governing.has_dependencies,
            ),
        )
        return _result(sent, plan.refused)

    def change_records(
        self,
        caller: Identity,
        entity: AnyEntity,
        records: Sequence[NewRecord],
        *,
        update_type: UpdateType = "update",
        guards: Iterable[Write] = (),
    ) -> BulkResult:
        """Write records whether or not they exist; `replace_all` removes all others.

        Facts remain unchanged. Raises as `add_records`.
        """
        sent = checked(entity, records)
        governing = self._rules_of(entity)
        replaces = update_type == "replace_all"

        def plan(stored: rules.Records, done: Set[str]) -> rules.Plan:
            _check_new_keys(records, stored)
            if replaces:
                own = {key: r for key, r in stored.items() if not is_reserved(entity, key)}
                return rules.planned_replacement(governing, sent, own)
            return rules.planned_change(governing, sent, stored, done)

        made = carry_out(
            self.metadata,
            WriteRequest(
                entity,
                reads=governing.keys | sent.keys(),
                plan=plan,
                entry_of=self.entries(caller, "update", entity),
                guards=tuple(guards),
                serial=replaces or governing.has_dependencies,
                whole=replaces,
            ),
        )
        return _result(sent, made.refused)

    def edit_records(
        self, caller: Identity, entity: AnyEntity, edit: Edit, *, guards: Iterable[Write] = ()
    ) -> None:
        """Write and remove records in one transaction, if their values are the expected ones.

        Raises:
            TooLargeError: it does not fit one transaction, or a row that may derive from a record.
            ValuesChangedError: values are not as expected.

        Also raises what `change_records` does.
        """
        sent = checked(entity, edit.records)
        _check_distinct(edit.removals, "removals.{}.metadataKey")
        for number, key in enumerate(edit.removals):
            field = f"removals.{number}.metadataKey"
            rules.check_not_reserved(entity, key, field=field)
            if key in sent:
                raise InvalidInputError.of(field, "is also in metadata")
        governing = self._rules_of(entity)

        def plan(stored: rules.Records, _: Set[str]) -> rules.Plan:
            _check_new_keys(edit.records, stored)
            return rules.planned_edit(governing, sent, edit, stored)

        carry_out(
            self.metadata,
            WriteRequest(
                entity,
                reads=governing.keys | edit.expected.keys(),
                plan=plan,
                entry_of=self.entries(caller, "update", entity),
                guards=tuple(guards),
                serial=governing.has_dependencies,
                atomic=True,
            ),
        )

    def remove_records(
        self,
        caller: Identity,
        entity: AnyEntity,
        wanted: Sequence[str],
        *,
        guards: Iterable[Write] = (),
    ) -> BulkResult:
        """Remove records; missing, required and reserved keys, and those with dependents, fail.

        Raises:
            InvalidInputError: a key is repeated.
            RecordsBusyError: the same keys are written concurrently at every attempt.
            UnavailableError: records or schemas cannot be read.
        """
        _check_distinct(wanted, "metadataKeys.{}")
        governing = self._rules_of(entity)
        own = [key for key in wanted if not is_reserved(entity, key)]
        plan = carry_out(
            self.metadata,
            WriteRequest(
                entity,
                reads=governing.keys | set(own),
                plan=partial(rules.planned_removal, governing, own),
                entry_of=self.entries(caller, "delete", entity),
                guards=tuple(guards),
                serial=governing.has_dependencies,
            ),
        )
        reserved = dict.fromkeys((key for key in wanted if key not in own), rules.RESERVED)
        return _result(wanted, {**plan.refused, **reserved})

    def count_in_asset(self, database_id: str, asset_id: str) -> int:
        """Return the number of records of an asset and all its files, read consistently."""
        return self.metadata.count_in_asset(database_id, asset_id)

    def records_of(self, entity: AnyEntity) -> list[Record]:
        """Return all current records of an entity by key, after waiting for the index.

        Raises:
            RecordsBusyError: they are changed concurrently at every attempt.
        """
        _, records = self.metadata.whole(entity)
        return [records[key].record for key in sorted(records)]

    def write_as_is(
        self,
        entity: AnyEntity,
        records: Sequence[Record],
        entry_of: EntryOf,
        *,
        guards: Iterable[Write] = (),
    ) -> None:
        """Replace all records of the entity, without schemas.

        For moving, copying, restoring or removing records that were accepted before. They are not
        checked by schemas again, but must fit their new place. No effect if repeated. Raises as
        `change_records`.
        """
        sent = {record.metadata_key: record for record in records}
        if isinstance(entity, Entity):
            for key in sent:  # a file may have been moved to a longer path since
                rules.check_snapshot_key(entity.kind, entity.path, key, field=repr(key))

        def plan(stored: rules.Records, _: Set[str]) -> rules.Plan:
            return rules.planned_replacement(rules.Governing({}), sent, stored)

        carry_out(
            self.metadata,
            WriteRequest(
                entity,
                reads=set(),
                plan=plan,
                entry_of=entry_of,
                guards=tuple(guards),
                serial=True,
                whole=True,
            ),
        )

    def put_facts(
        self,
        entity: Entity,
        facts: Iterable[Record],
        *,
        guards: Iterable[Write] = (),
        unless: Callable[[Mapping[str, Record]], bool] | None = None,
    ) -> None:
        """Replace all facts of a file. No schema, limit or audit entry applies to them.

        `unless` returns whether the stored ones remain, in the transaction that would replace them.

        Raises:
            RecordsBusyError: the same keys are written concurrently at every attempt.
            UnavailableError: records cannot be read or written.
        """
        put_facts(self.metadata, entity, facts, guards, unless)

    def count_removal(self, entity: AnyEntity) -> Write:
        """Return the write that removes the count of the records, for the removal of the entity."""
        return self.metadata.count_removal(entity)

    def entries(self, caller: Identity, verb: str, entity: AnyEntity) -> EntryOf:
        """Return the function that creates the audit entries of a request, one per transaction."""
        noun, name, kind = rules.audit_name(entity)
        operation = f"{verb}_{noun}_metadata"

        def entry(before: AuditedRecords, after: AuditedRecords) -> Write:
            def audit_values(records: AuditedRecords) -> dict[str, object]:
                return {f"{kind}.{key}": record for key, record in records.items()}

            return self.audit.entry(
                caller, operation, name, before=audit_values(before), after=audit_values(after)
            )

        return entry

    def _rules_of(self, entity: AnyEntity) -> rules.Governing:
        fields = self.fields(entity)
        return rules.Governing(fields, bool(fields) and self.is_restricted(entity))


def _shown(records: Iterable[Record], fields: Fields) -> tuple[ShownRecord, ...]:
    return tuple(ShownRecord(record, fields.get(record.metadata_key)) for record in records)


def _check_new_keys(records: Sequence[NewRecord], stored: Collection[str]) -> None:
    """Check the keys that a request introduces."""
    require_new_names(
        {
            f"metadata.{number}.metadataKey": record.metadata_key
            for number, record in enumerate(records)
            if isinstance(record, SentRecord) and record.metadata_key not in stored
        }
    )


def checked(entity: AnyEntity, records: Sequence[NewRecord]) -> dict[str, Record]:
    """Return the records in stored form, by key, if the entity may have them.

    Raises:
        InvalidInputError: a key is repeated, too long or reserved, or an attribute is not a string.
        TooLargeError: a row that may derive from a record would exceed DynamoDB's 400 KB.
    """
    _check_distinct([record.metadata_key for record in records], "metadata.{}.metadataKey")
    stored: dict[str, Record] = {}
    for number, new in enumerate(records):
        field = f"metadata.{number}"
        rules.check_not_reserved(entity, new.metadata_key, field=f"{field}.metadataKey")
        if isinstance(entity, Entity):
            if entity.kind == "attribute" and new.metadata_value_type != "string":
                raise InvalidInputError.of(
                    f"{field}.metadataValueType", "must be 'string' for an attribute"
                )
            rules.check_snapshot_key(
                entity.kind, entity.path, new.metadata_key, field=f"{field}.metadataKey"
            )
        record = Record.model_validate(new.model_dump())
        size = largest_row(entity, record)
        rules.check_largest_row(record.metadata_key, size, field=f"{field}.metadataValue")
        stored[new.metadata_key] = record
    return stored


def _rest(
    fields: Fields, stored: Set[str], page: PageRequest, shown: tuple[ShownRecord, ...]
) -> Page[ShownRecord]:
    """Fill the page with schema fields that have no record."""
    order = {
        key: [MAX_RECORDS + 1 if f.sequence is None else f.sequence, key]
        for key, f in fields.items()
    }
    begin = list((page.after or {}).get(_FIELD, []))
    missing = sorted(
        (f for key, f in fields.items() if key not in stored and order[key] > begin),
        key=lambda f: order[f.key],
    )
    room = page.limit - len(shown)
    part = tuple(
        ShownRecord(
            Record(
                metadata_key=field.key,
                metadata_value_type=field.value_type,
                metadata_value=field.default or "",
            ),
            field,
            is_stored=False,
        )
        for field in missing[:room]
    )
    after: Position | None = None
    if len(missing) >= room:  # a full page has a position, as one of the table has
        after = {_FIELD: order[missing[room - 1].key] if room else begin}
    return Page((*shown, *part), after)


def _check_distinct(wanted: Sequence[str], field: str) -> None:
    seen: set[str] = set()
    for number, key in enumerate(wanted):
        if key in seen:
            raise InvalidInputError.of(field.format(number), "is listed twice in this request")
        seen.add(key)


def _result(wanted: Iterable[str], refused: Mapping[str, str]) -> BulkResult:
    keys = tuple(wanted)
    return BulkResult(
        tuple(key for key in keys if key not in refused),
        tuple((key, refused[key]) for key in keys if key in refused),
    )
