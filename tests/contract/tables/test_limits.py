"""Writes that the port of tables refuses, on all supported engines."""

from decimal import Decimal

import pytest

from backend.core.errors import ConflictError, InvalidInputError, TooLargeError, UnavailableError
from backend.core.tables import Tables
from backend.core.transactions import Condition, Put, Update
from backend.spec.tables.assets import ASSETS
from tests.contract.tables.conftest import Engine
from tests.contract.tables.test_tables import asset, read, store


@pytest.mark.parametrize(
    ("field", "value"),
    [("databaseId", ""), ("assetId", ""), ("assetId", "x" * 1025), ("bucketId", "x" * 2049)],
)
def test_keys_that_dynamodb_does_not_take_are_refused_by_name(
    tables: Tables, own: str, field: str, value: str
) -> None:
    item = {**asset(own, "a"), field: value}
    for write in (
        lambda: tables.write(Put(table=ASSETS, item=item)),
        lambda: tables.transact([Put(table=ASSETS, item=item)]),
        lambda: tables.put_many(ASSETS, [item]),
    ):
        with pytest.raises(InvalidInputError) as refusal:
            write()
        assert refusal.value.fields[0].field == field
    assert read(tables, own, "a") is None


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), Decimal("1." + "1" * 38), "a\ud800b", set[str]()]
)
def test_values_that_dynamodb_does_not_take_are_refused_by_name(
    tables: Tables, own: str, value: object
) -> None:
    for write in (
        Put(table=ASSETS, item=asset(own, "a", x=value)),
        Update(table=ASSETS, key=asset(own, "a"), set={"x": value}),
    ):
        with pytest.raises(InvalidInputError) as refusal:
            tables.write(write)
        assert refusal.value.fields[0].field == "x"
    assert read(tables, own, "a") is None


def test_a_text_is_neither_more_nor_less_than_a_number(engine: Engine, own: str) -> None:
    store(engine.tables, own, "a", text="b")
    for operator in ("<", ">"):
        condition = Condition("text", operator, 5)
        write = Update(table=ASSETS, key=asset(own, "a"), set={"x": 1}, conditions=(condition,))
        with pytest.raises(UnavailableError if engine.name == "moto" else ConflictError):
            engine.tables.write(write)


def test_an_item_just_below_400_kb_is_taken_and_one_above_refused(engine: Engine, own: str) -> None:
    names = len("databaseId") + len(own) + len("assetId") + len("a") + len("x")
    room = 400 * 1024 - names
    taken = 380_000 if engine.name == "moto" else room
    store(engine.tables, own, "a", x="x" * taken)
    for write in (
        Put(table=ASSETS, item=asset(own, "a", x="x" * (room + 1))),
        Put(table=ASSETS, item=asset(own, "a", x="ä" * (room // 2 + 1))),
    ):
        with pytest.raises(TooLargeError):
            engine.tables.write(write)
    assert len((read(engine.tables, own, "a") or {})["x"]) == taken


def test_an_item_that_would_grow_over_400_kb_stays_as_it_was(tables: Tables, own: str) -> None:
    store(tables, own, "a", x="x" * 300_000)
    grown = Update(table=ASSETS, key=asset(own, "a"), set={"y": "y" * 200_000})
    with pytest.raises(TooLargeError):
        tables.write(grown)
    with pytest.raises(TooLargeError):
        tables.transact([Put(table=ASSETS, item=asset(own, "b")), grown])
    assert "y" not in (read(tables, own, "a") or {})
    assert read(tables, own, "b") is None


def test_a_transaction_over_4_mb_is_refused_whole(engine: Engine, own: str) -> None:
    writes = [Put(table=ASSETS, item=asset(own, f"a{n}", x="x" * 380_000)) for n in range(12)]
    if engine.name == "moto":  # it has no such limit
        engine.tables.transact(writes)
    else:
        with pytest.raises(TooLargeError):
            engine.tables.transact(writes)
    assert (read(engine.tables, own, "a0") is None) == (engine.name != "moto")
