"""The values of a change in its audit entry, and the size of the entry."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.aws.items import item_size, to_wire
from backend.core.errors import ConflictError, UnavailableError
from backend.core.transactions import Check, Put, absent, exists
from backend.domains.audit.models import audit_entity
from backend.domains.audit.rules import (
    CHANGES_BYTES,
    SECRET_ATTRIBUTES,
    VALUE_BYTES,
    SecretInEntryError,
)
from backend.spec.tables.operations import AUDIT, RESERVATIONS
from tests.factories.assets import ADMIN, NOON
from tests.factories.audit import ARCHIVE, DAYS, audit_service, entries
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables

ITEM_BYTES = 20 * 1024


def made(objects: MemoryObjects, **sides: Any) -> Put:
    return audit_service(objects).entry(
        ADMIN, "update_tag", audit_entity("tag", "red"), at=NOON, **sides
    )


def stored(objects: MemoryObjects) -> dict[str, Any]:
    """The values in the archive by their hashes."""
    return {
        item.key.removeprefix("values/"): json.loads(
            b"".join(objects.read_chunks(ARCHIVE, item.key))
        )
        for item in objects.list_objects(ARCHIVE, "values/").objects
    }


def test_only_what_differs_is_kept_and_no_secret() -> None:
    before = {"a": 1, "b": [1], "gone": True, "same": "x"}
    after = {"a": 2, "b": [1, 2], "new": None, "same": "x", "made": {"k": "v"}}
    assert made(MemoryObjects(), before=before, after=after).item["changes"] == {
        "a": {"before": 1, "after": 2},
        "b": {"before": [1], "after": [1, 2]},
        "gone": {"before": True},
        "made": {"after": {"k": "v"}},
    }
    value = {"sha256": "0" * 64, "bytes": 1, "s3Key": "values/0"}
    item = made(MemoryObjects(), after={"afterStored": value}).item
    assert item["changes"] == {"afterStored": {"after": value}}
    with pytest.raises(SecretInEntryError):
        made(MemoryObjects(), after={"apiKeyHash": "0" * 64})


def test_an_entry_shows_who_did_what_when_and_no_two_are_the_same() -> None:
    item = made(MemoryObjects(), after={"a": 1}).item
    assert (item["userId"], item["operation"], item["entity"]) == (
        "admin",
        "update_tag",
        "tag:red",
    )
    assert item["at"].startswith("2026-03-01T12:00:00.000000Z#")
    assert item["expiresAt"] - NOON.timestamp() == DAYS * 86_400
    first, second = (made(MemoryObjects(), after={"a": 1}) for _ in range(2))
    assert first.item["at"] != second.item["at"]


def test_large_values_and_hundreds_of_changes_are_archived() -> None:
    objects = MemoryObjects()
    fits, large = "x" * (VALUE_BYTES - 2), "x" * (VALUE_BYTES - 1)  # with quotation marks
    change = made(objects, before={"a": fits}, after={"a": large}).item["changes"]["a"]
    assert change["before"] == fits
    ((sha256, value),) = stored(objects).items()
    assert value == large
    assert change["afterStored"] == {
        "sha256": sha256,
        "bytes": VALUE_BYTES + 1,
        "s3Key": f"values/{sha256}",
    }
    assert "after" not in change
    after = {f"metadata.key-{n}": {"value": "v" * 100} for n in range(500)}
    item = made(objects, after=after).item
    assert item["changes"] == {}
    whole = stored(objects)[item["changesStored"]["sha256"]]
    assert whole == {name: {"after": value} for name, value in after.items()}


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**15), 10**15) | st.text(max_size=3000),
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(st.text(), inner, max_size=20),
    max_leaves=60,
)

# Hypothesis draws constants of the code too, also the names that entries refuse.
names = st.text(min_size=1).filter(lambda name: name not in SECRET_ATTRIBUTES)


@settings(max_examples=50)
@given(before=st.dictionaries(names, values), after=st.dictionaries(st.just("") | names, values))
def test_an_entry_is_small_whatever_was_changed(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    item = made(MemoryObjects(), before=before, after=after).item
    assert len(json.dumps(item["changes"], ensure_ascii=False)) <= CHANGES_BYTES * 1.2
    assert item_size(to_wire(item)) < ITEM_BYTES


def test_a_transaction_that_is_refused_leaves_no_entry_but_perhaps_a_value() -> None:
    tables, objects = MemoryTables(), MemoryObjects()
    entry = made(objects, after={"a": "x" * VALUE_BYTES})
    key = {RESERVATIONS.partition_key.name: "nothing"}
    name = RESERVATIONS.partition_key.name
    with pytest.raises(ConflictError):
        tables.transact([Check(table=RESERVATIONS, key=key, conditions=(exists(name),)), entry])
    assert (entries(tables), len(stored(objects))) == ([], 1)
    tables.transact([Check(table=RESERVATIONS, key=key, conditions=(absent(name),)), entry])
    assert [item["entity"] for item in entries(tables)] == ["tag:red"]
    assert entry.table is AUDIT


def test_without_the_archive_there_is_no_entry_of_a_large_value() -> None:
    def down(operation: str) -> None:
        raise UnavailableError(f"no {operation}")

    objects = MemoryObjects(before=down)
    made(objects, after={"a": "small"})
    with pytest.raises(UnavailableError):
        made(objects, after={"a": "x" * VALUE_BYTES})
