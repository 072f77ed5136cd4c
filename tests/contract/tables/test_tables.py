"""The contract of the port of tables, on all supported engines.

Differences from DynamoDB on AWS: all three show a write in global indexes immediately, where AWS
lags (the fake can lag, too: `MemoryTables.lagging`); none throttles, and none refuses a transaction
because of another one. All sort keys by bytes, as AWS does. Only moto replies 500 if a condition
compares a text with a number, and measures an item as JSON, which is larger.
"""

from decimal import Decimal
from typing import Any

import pytest
from botocore.exceptions import ClientError

from backend.core.errors import ConflictError
from backend.core.paging import PageRequest, Position
from backend.core.tables import Query, Tables
from backend.core.transactions import (
    Check,
    Condition,
    Delete,
    Item,
    Put,
    Update,
    absent,
    equals,
    exists,
    put_new,
)
from backend.spec import keys
from backend.spec.tables.assets import ASSETS, BY_ASSET_ID, BY_BUCKET
from backend.spec.tables.metadata import ASSET_FILE_METADATA, FILE_METADATA_BY_FILE
from backend.spec.tables.operations import RESERVATIONS
from backend.spec.tables.registry import TAGS


class TakenError(ConflictError):
    """The error that a test sets for a write that is refused."""


def asset(own: str, asset_id: str, **fields: Any) -> Item:
    return {"databaseId": own, "assetId": asset_id, **fields}


def store(tables: Tables, own: str, *asset_ids: str, **fields: Any) -> None:
    for asset_id in asset_ids:
        tables.write(Put(table=ASSETS, item=asset(own, asset_id, **fields)))


def read(tables: Tables, own: str, asset_id: str) -> Item | None:
    return tables.get(ASSETS, {"databaseId": own, "assetId": asset_id})


def ids(items: tuple[Item, ...] | list[Item]) -> list[str]:
    return [item["assetId"] for item in items]


def all_pages(tables: Tables, query: Query, limit: int) -> list[Item]:
    result: list[Item] = []
    after: Position | None = None
    while True:
        page = tables.query(query, PageRequest(limit, after))
        assert len(page.items) <= limit
        result += page.items
        after = page.after
        if after is None:
            return result


def test_an_item_is_read_as_it_was_written(tables: Tables, own: str) -> None:
    item = asset(
        own,
        "a",
        text="ä€😀",
        empty="",
        whole=38,
        decimal=Decimal("1.50"),
        huge=10**37,
        yes=True,
        list=["x", 1, {"deep": [False]}],
        map={"k": {"l": "m"}},
        names={"x", "y"},
    )
    tables.write(Put(table=ASSETS, item={**item, "none": None}))
    assert read(tables, own, "a") == item


def test_a_put_takes_the_place_of_the_whole_item(tables: Tables, own: str) -> None:
    store(tables, own, "a", old=1)
    store(tables, own, "a", new=2)
    assert read(tables, own, "a") == asset(own, "a", new=2)


def test_what_is_absent_is_not_found(tables: Tables, own: str) -> None:
    assert read(tables, own, "none") is None
    assert tables.get_many([(ASSETS, {"databaseId": own, "assetId": "none"})]) == []
    query = Query(table=ASSETS, partition=own)
    assert tables.query_all(query) == []
    tables.write(Delete(table=ASSETS, key={"databaseId": own, "assetId": "none"}))


def test_many_items_of_two_tables_are_got_at_once_and_each_once(tables: Tables, own: str) -> None:
    names = [f"{n:03}" for n in range(150)]
    tables.put_many(ASSETS, [asset(own, name) for name in names])
    tables.write(Put(table=RESERVATIONS, item={"reservationKey": own}))
    wanted = [(ASSETS, {"databaseId": own, "assetId": name}) for name in [*names, "000", "none"]]
    many = tables.get_many([*wanted, (RESERVATIONS, {"reservationKey": own})])
    assert sorted(item["assetId"] for table, item in many if table is ASSETS) == names
    assert [item for table, item in many if table is RESERVATIONS] == [{"reservationKey": own}]


def test_a_partition_is_in_the_order_of_the_bytes_of_its_sort_keys(
    tables: Tables, own: str
) -> None:
    names = ["a", "B", "ä", "b", "a b", "a-b", "😀", "\ufb01", "10", "9"]
    store(tables, own, *names)
    query = Query(table=ASSETS, partition=own, consistent=True)
    wanted = sorted(names, key=str.encode)
    assert ids(tables.query_all(query)) == wanted
    backwards = Query(table=ASSETS, partition=own, newest_first=True)
    assert ids(tables.query_all(backwards)) == wanted[::-1]


@pytest.mark.parametrize("newest_first", [False, True])
@pytest.mark.parametrize("limit", [1, 3, 7, 8])
def test_pages_leave_nothing_out_and_repeat_nothing(
    tables: Tables, own: str, limit: int, newest_first: bool
) -> None:
    store(tables, own, *"abcdefg")
    query = Query(table=ASSETS, partition=own, newest_first=newest_first)
    result = ids(all_pages(tables, query, limit))
    assert result == list("abcdefg")[:: -1 if newest_first else 1]


def test_a_page_continues_after_an_item_that_was_deleted(tables: Tables, own: str) -> None:
    store(tables, own, *"abcd")
    query = Query(table=ASSETS, partition=own)
    first = tables.query(query, PageRequest(2))
    assert first.after == {"databaseId": own, "assetId": "b"}
    tables.write(Delete(table=ASSETS, key={"databaseId": own, "assetId": "b"}))
    assert ids(tables.query(query, PageRequest(9, first.after)).items) == ["c", "d"]


def test_the_beginning_of_a_sort_key_or_all_of_it_narrows(tables: Tables, own: str) -> None:
    store(tables, own, "a", "ab", "abc", "b")
    narrowed = Query(table=ASSETS, partition=own, sort_prefix="ab")
    assert ids(tables.query_all(narrowed)) == ["ab", "abc"]
    just_one = Query(table=ASSETS, partition=own, sort_equals="ab")
    assert ids(tables.query_all(just_one)) == ["ab"]
    some = Query(table=ASSETS, partition=own, sort_between=("ab", "abc"), newest_first=True)
    assert ids(tables.query_all(some)) == ["abc", "ab"]


def test_a_global_index_shows_what_has_its_keys(tables: Tables, own: str) -> None:
    store(tables, own, "b", "a", bucketId=own, assetName="x")
    store(tables, own, "without")
    query = Query(table=ASSETS, partition=own, index=BY_BUCKET)
    assert tables.query_all(query) == [
        {"bucketId": own, "databaseId": own, "assetId": name} for name in "ab"
    ]
    assert ids(all_pages(tables, query, 1)) == ["a", "b"]
    by_id = Query(table=ASSETS, partition="b", index=BY_ASSET_ID, sort_equals=own)
    assert ids(tables.query_all(by_id)) == ["b"]


def test_an_index_over_everything_shows_what_is_requested(tables: Tables, own: str) -> None:
    path = keys.FILE.build(own, "a", "/x")
    item = {"metadataKey": "k", keys.FILE.name: path, "metadataValue": "v", "more": 1}
    tables.write(Put(table=ASSET_FILE_METADATA, item=item))
    query = Query(table=ASSET_FILE_METADATA, partition=path, index=FILE_METADATA_BY_FILE)
    assert tables.query_all(query) == [item]
    short = Query(
        table=ASSET_FILE_METADATA,
        partition=path,
        index=FILE_METADATA_BY_FILE,
        attributes=("metadataKey",),
    )
    assert tables.query_all(short) == [{"metadataKey": "k"}]
    tables.write(Delete(table=ASSET_FILE_METADATA, key={"metadataKey": "k", keys.FILE.name: path}))
    assert tables.query_all(query) == []


def test_a_scan_reads_the_table_in_pages(tables: Tables, own: str) -> None:
    wanted = {f"{own}-{number}" for number in range(5)}
    tables.put_many(TAGS, [{"tagName": name} for name in sorted(wanted)])
    result: list[str] = []
    after: Position | None = None
    while True:
        page = tables.scan(TAGS, PageRequest(2, after))
        result += (item["tagName"] for item in page.items)
        after = page.after
        if after is None:
            break
    assert {name for name in result if name.startswith(own)} == wanted
    assert len(result) == len(set(result))
    tables.delete_many(TAGS, [{"tagName": name} for name in wanted])
    left = {item["tagName"] for item in tables.scan(TAGS, PageRequest(1000)).items}
    assert not left & wanted


def test_an_update_changes_what_it_names_and_answers_with_the_item(
    tables: Tables, own: str
) -> None:
    store(tables, own, "a", kept="k", old="o", gone=1, also=2, count=5)
    key = {"databaseId": own, "assetId": "a"}
    change = Update(
        table=ASSETS,
        key=key,
        set={"old": "n", "made": True, "also": None},
        remove=("gone",),
        add={"count": -2, "fresh": 1},
    )
    wanted = asset(own, "a", kept="k", old="n", made=True, count=3, fresh=1)
    assert tables.write(change) == wanted
    assert read(tables, own, "a") == wanted


def test_an_update_makes_what_is_absent_unless_a_condition_forbids(
    tables: Tables, own: str
) -> None:
    key = {"databaseId": own, "assetId": "a"}
    forbidden = Update(
        table=ASSETS,
        key=key,
        set={"x": 1},
        conditions=(exists("assetId"),),
        refused=TakenError("no"),
    )
    with pytest.raises(TakenError):
        tables.write(forbidden)
    assert read(tables, own, "a") is None
    assert tables.write(Update(table=ASSETS, key=key, add={"x": 1})) == asset(own, "a", x=1)


HOLDS = [
    (exists("n"), True),
    (exists("none"), False),
    (absent("none"), True),
    (absent("n"), False),
    (equals("n", 5), True),
    (equals("n", 6), False),
    (equals("none", 5), False),
    (equals("text", "b"), True),
    (Condition("n", "<>", 6), True),
    (Condition("n", "<>", 5), False),
    (Condition("none", "<>", 5), True),
    (Condition("n", "<", 6), True),
    (Condition("n", "<", Decimal("5.5")), True),
    (Condition("n", "<", 5), False),
    (Condition("n", "<=", 5), True),
    (Condition("n", ">", 4), True),
    (Condition("n", ">", 5), False),
    (Condition("n", ">=", 5), True),
    (Condition("none", ">=", 5), False),
    (Condition("none", "<", 5), False),
    (Condition("text", "<", "c"), True),
    (Condition("n", "not >", 5), True),
    (Condition("n", "not >", 4), False),
    (Condition("none", "not >", 5), True),
]


@pytest.mark.parametrize(("condition", "holds"), HOLDS, ids=repr)
def test_a_condition_holds_or_refuses(
    tables: Tables, own: str, condition: Condition, holds: bool
) -> None:
    store(tables, own, "a", n=5, text="b")
    key = {"databaseId": own, "assetId": "a"}
    write = Update(
        table=ASSETS, key=key, set={"x": 1}, conditions=(condition,), refused=TakenError("no")
    )
    if holds:
        tables.write(write)
    else:
        with pytest.raises(TakenError):
            tables.write(write)
    assert ("x" in (read(tables, own, "a") or {})) == holds


def test_all_conditions_must_hold(tables: Tables, own: str) -> None:
    store(tables, own, "a", n=5)
    gone = Delete(
        table=ASSETS,
        key={"databaseId": own, "assetId": "a"},
        conditions=(exists("n"), equals("n", 6)),
    )
    with pytest.raises(ConflictError):
        tables.write(gone)
    assert read(tables, own, "a") is not None


def test_a_new_item_is_put_once(tables: Tables, own: str) -> None:
    new = put_new(ASSETS, asset(own, "a", n=1), TakenError("taken"))
    tables.write(new)
    with pytest.raises(TakenError):
        tables.write(put_new(ASSETS, asset(own, "a", n=2), TakenError("taken")))
    assert read(tables, own, "a") == asset(own, "a", n=1)


def test_increments_begin_above_the_initial_value_and_never_repeat(
    tables: Tables, own: str
) -> None:
    key = {"reservationKey": own}
    tables.write(Update(table=RESERVATIONS, key=key, set={"kept": "k"}))
    numbers = [tables.increment(RESERVATIONS, key, "n", initial=100) for _ in range(3)]
    assert [item["n"] for item in numbers] == [101, 102, 103]
    assert numbers[-1] == {**key, "kept": "k", "n": 103}
    fresh = {"reservationKey": f"{own}-fresh"}
    assert tables.increment(RESERVATIONS, fresh, "n", initial=0) == {**fresh, "n": 1}


def test_a_transaction_writes_all_of_several_tables(tables: Tables, own: str) -> None:
    store(tables, own, "gone", "changed", "checked")
    tables.transact(
        [
            put_new(ASSETS, asset(own, "new"), TakenError("no")),
            Update(table=ASSETS, key=asset(own, "changed"), add={"n": 1}),
            Delete(table=ASSETS, key=asset(own, "gone"), conditions=(exists("assetId"),)),
            Check(table=ASSETS, key=asset(own, "checked"), conditions=(exists("assetId"),)),
            Put(table=RESERVATIONS, item={"reservationKey": own, "assetId": "new"}),
        ]
    )
    assert ids(tables.query_all(Query(table=ASSETS, partition=own))) == [
        "changed",
        "checked",
        "new",
    ]
    assert read(tables, own, "changed") == asset(own, "changed", n=1)
    assert tables.get(RESERVATIONS, {"reservationKey": own}) is not None


class OtherError(ConflictError):
    """The error of a write that comes later."""


def test_a_transaction_that_is_refused_writes_nothing_and_raises_the_first_refusal(
    tables: Tables, own: str
) -> None:
    store(tables, own, "there")
    with pytest.raises(TakenError):
        tables.transact(
            [
                Put(table=ASSETS, item=asset(own, "new")),
                put_new(ASSETS, asset(own, "there"), TakenError("first")),
                Check(
                    table=ASSETS,
                    key=asset(own, "none"),
                    conditions=(exists("assetId"),),
                    refused=OtherError("second"),
                ),
            ]
        )
    assert read(tables, own, "new") is None


def test_a_transaction_takes_a_hundred_items_and_each_once(tables: Tables, own: str) -> None:
    puts = [Put(table=ASSETS, item=asset(own, f"{n:03}")) for n in range(101)]
    with pytest.raises(ValueError, match="101 writes"):
        tables.transact(puts)
    with pytest.raises((ValueError, ClientError)):
        tables.transact([puts[0], puts[0]])
    assert tables.query_all(Query(table=ASSETS, partition=own)) == []
    tables.transact(puts[:100])
    assert len(tables.query_all(Query(table=ASSETS, partition=own))) == 100


def test_a_check_alone_is_a_mistake(tables: Tables, own: str) -> None:
    with pytest.raises(TypeError):
        tables.write(Check(table=ASSETS, key=asset(own, "a"), conditions=(exists("assetId"),)))


def test_many_items_are_put_and_deleted_in_batches(tables: Tables, own: str) -> None:
    names = [f"{n:02}" for n in range(60)]
    tables.put_many(ASSETS, [asset(own, name, x="y" * 9000) for name in names])
    query = Query(table=ASSETS, partition=own)
    assert ids(tables.query_all(query)) == names
    tables.delete_many(ASSETS, [asset(own, name) for name in names[:50]])
    assert ids(tables.query_all(query)) == names[50:]
