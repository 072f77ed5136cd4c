"""Several schemas in force are merged, and no planned write violates them."""

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from backend.domains.metadata.errors import SchemaViolationError
from backend.domains.metadata.models import Record
from backend.domains.metadata.rules import (
    Governing,
    Plan,
    planned_addition,
    planned_change,
    planned_removal,
    planned_replacement,
)
from backend.domains.metadata_schemas.models import (
    FieldInForce,
    Fields,
    MetadataSchema,
    SchemaField,
    SchemaFields,
)
from backend.domains.metadata_schemas.rules import applies_to, combined_rules, ordered_by_dependency

KEYS = "abcdef"
NOON = "2026-03-01T12:00:00.000000Z"


def schema(name: str, *fields: SchemaField, **more: object) -> MetadataSchema:
    values: dict[str, object] = {
        "metadata_schema_id": name,
        "database_id": "museum",
        "metadata_schema_entity_type": "assetMetadata",
        "schema_name": name,
        "fields": SchemaFields(fields=list(fields)),
        "date_created": NOON,
        "date_modified": NOON,
        "created_by": "admin",
        "modified_by": "admin",
        **more,
    }
    return MetadataSchema.model_validate(values)


def field(key: str, value_type: str = "string", **more: object) -> SchemaField:
    values = {"metadata_field_key_name": key, "metadata_field_value_type": value_type, **more}
    return SchemaField.model_validate(values)


def test_schemas_that_agree_are_one_and_the_first_sequence_counts() -> None:
    rules = combined_rules(
        [schema("A", field("k", sequence=4)), schema("B", field("k", sequence=2))]
    )
    assert rules == {
        "k": FieldInForce("k", "string", sequence=2, schemas=("A (museum)", "B (museum)"))
    }


def test_where_schemas_contradict_each_other_nothing_is_demanded() -> None:
    strict = field("k", "number", required=True, default_metadata_field_value="1")
    rules = combined_rules(
        [schema("A", strict), schema("B", field("k", "number")), schema("C", strict)]
    )
    names = ("A (museum)", "B (museum)", "C (museum)")
    assert rules == {"k": FieldInForce("k", "string", has_conflict=True, schemas=names)}


def test_a_schema_applies_to_files_with_its_extensions_only() -> None:
    result = schema("A", field("k"), file_key_type_restriction=".glb, .GLTF")
    assert applies_to(result, "/x/y.GLB")
    assert applies_to(result, "/y.gltf")
    assert not applies_to(result, "/y.png")
    assert not applies_to(result, "/y")
    assert applies_to(result, None)
    assert applies_to(schema("A", field("k"), file_key_type_restriction=".all"), "/y")
    assert not applies_to(schema("A", field("k"), enabled=False), None)


@given(st.dictionaries(st.sampled_from(KEYS), st.lists(st.sampled_from(KEYS), max_size=3)))
def test_an_order_has_every_key_once(depends_on: dict[str, list[str]]) -> None:
    assert sorted(ordered_by_dependency(depends_on)) == sorted(depends_on)


@st.composite
def fields_in_force(draw: st.DrawFn) -> Fields:
    """Fields that depend on earlier ones only, as a schema without circles has them."""
    made: dict[str, FieldInForce] = {}
    for key in draw(st.lists(st.sampled_from(KEYS), unique=True)):
        earlier = st.lists(st.sampled_from(sorted(made)), max_size=2, unique=True)
        made[key] = FieldInForce(
            key,
            "string",
            required=draw(st.booleans()),
            depends_on=tuple(draw(earlier)) if made else (),
            default=draw(st.sampled_from((None, "default"))),
            schemas=("Some (museum)",),
        )
    return made


values = st.dictionaries(st.sampled_from(KEYS + "xyz"), st.sampled_from(("", "v", "w")))


def records(found: Mapping[str, str]) -> dict[str, Record]:
    return {key: Record(metadata_key=key, metadata_value=text) for key, text in found.items()}


def breaks(fields: Fields, stored: Mapping[str, Record]) -> set[str]:
    """Keys that have a value and depend on one that has none."""

    def filled(key: str) -> bool:
        return key in stored and bool(stored[key].metadata_value)

    return {key for key, f in fields.items() if filled(key) and not all(map(filled, f.depends_on))}


def lacks(fields: Fields, stored: Mapping[str, Record]) -> set[str]:
    return {
        key
        for key, f in fields.items()
        if f.required and not (key in stored and stored[key].metadata_value)
    }


def each_state(stored: Mapping[str, Record], plan: Plan) -> list[dict[str, Record]]:
    """The records after each write of a plan, in its order."""
    now, states = dict(stored), [dict(stored)]
    for key, record in plan.targets.items():
        if record is None:
            now.pop(key, None)
        else:
            now[key] = record
        states.append(dict(now))
    return states


def governed(fields: Fields, stored: dict[str, str]) -> tuple[Governing, dict[str, Record]]:
    """An entity that was written under the schemas all along, and what governs it."""
    governing = Governing(fields)
    try:
        plan = planned_replacement(governing, records(stored), {})
    except SchemaViolationError:
        return governing, {}
    return governing, each_state({}, plan)[-1]


@given(fields_in_force(), values, values, st.sampled_from(("add", "change", "replace")))
def test_no_write_that_is_accepted_leaves_what_schemas_forbid(
    fields: Fields, before: dict[str, str], wanted: dict[str, str], verb: str
) -> None:
    governing, stored = governed(fields, before)
    sent = records(wanted)
    try:
        if verb == "add":
            plan = planned_addition(governing, sent, stored, set())
        elif verb == "change":
            plan = planned_change(governing, sent, stored, set())
        else:
            plan = planned_replacement(governing, sent, stored)
    except SchemaViolationError:
        return
    states = each_state(stored, plan)
    if verb != "add" or sent.keys() - stored.keys():
        assert lacks(fields, states[-1]) == set()
    assert [breaks(fields, state) for state in states] == [set()] * len(states)
    assert plan.refused.keys() == (sent.keys() & stored.keys() if verb == "add" else set())
    written = {key: record for key, record in sent.items() if key not in plan.refused}
    assert states[-1].items() >= written.items()


@given(fields_in_force(), values, st.lists(st.sampled_from(KEYS + "xyz"), unique=True))
def test_no_removal_takes_what_is_required_or_depended_on(
    fields: Fields, before: dict[str, str], wanted: list[str]
) -> None:
    governing, stored = governed(fields, before)
    plan = planned_removal(governing, wanted, stored, set())
    states = each_state(stored, plan)
    for state in states:
        assert breaks(fields, state) == set()
        assert lacks(fields, state) <= lacks(fields, stored)
    assert set(plan.targets) | set(plan.refused) == set(wanted)
    free = {key for key in wanted if key in stored and key not in fields}
    assert free <= plan.targets.keys()
