"""The registry of metadata keys with geographic fields: first come, within two limits."""

from collections.abc import Iterable

import pytest

from backend.core.tables import Tables
from backend.core.transactions import Item, Update, Write
from backend.search.indexing.geo_keys import GeoKeys
from backend.search.values import MAX_GEO_KEYS, MAX_KEYS_OF_DATABASE
from backend.spec.tables.operations import SEARCH_STATE


def add(tables: Tables, keys: Iterable[str], database_id: str = "museum") -> frozenset[str]:
    return GeoKeys(tables).add_keys(dict.fromkeys(keys, database_id))


def fill(tables: Tables, *, but: int) -> None:
    """Take all places but some, for databases within their shares."""
    for start in range(0, MAX_GEO_KEYS - but, MAX_KEYS_OF_DATABASE):
        stop = min(start + MAX_KEYS_OF_DATABASE, MAX_GEO_KEYS - but)
        keys = {f"k{n}" for n in range(start, stop)}
        assert add(tables, keys, f"database-{start}") == keys


def test_new_keys_are_allowed_and_known_to_all_writers(tables: Tables) -> None:
    assert add(tables, ["a", "b"]) == {"a", "b"}
    assert add(tables, ["b", "c"]) == {"b", "c"}


def test_beyond_two_hundred_keys_only_old_ones_are_allowed(tables: Tables) -> None:
    fill(tables, but=1)
    assert len(add(tables, ["new-1", "new-2"])) == 1
    assert add(tables, ["new-3", "k0"]) == {"k0"}


def test_one_database_takes_its_share_only(tables: Tables) -> None:
    many = [f"k{n:03}" for n in range(MAX_GEO_KEYS)]
    assert add(tables, many) == set(many[:MAX_KEYS_OF_DATABASE])
    assert add(tables, ["late", "k000"]) == {"k000"}
    assert add(tables, ["late"], "zoo") == {"late"}
    assert add(tables, ["late"]) == {"late"}


def test_two_writers_that_add_the_same_key_take_one_place(tables: Tables) -> None:
    writers = [GeoKeys(tables), GeoKeys(tables)]
    for writer in writers:  # the second one has read nothing yet
        writer.add_keys({"a": "museum"})
    fill(tables, but=1)
    assert add(tables, ["b"], "zoo") == set()


def test_keys_that_are_added_while_others_are_freed_remain(
    tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The share of a database is counted again, and a key of an earlier release has none."""
    fill(tables, but=MAX_GEO_KEYS - MAX_KEYS_OF_DATABASE)
    tables.write(
        Update(
            table=SEARCH_STATE, key={"stateKey": "geoKeys"}, set={"key#old": True}, add={"count": 1}
        )
    )
    write, late = type(tables).write, ["late"]

    def add_first(self: Tables, *writes: Write) -> Item | None:
        if late:
            assert add(tables, [late.pop()], "zoo") == {"late"}
        return write(self, *writes)

    monkeypatch.setattr(type(tables), "write", add_first)
    GeoKeys(tables).free(["k0", "k1", "absent"])
    assert GeoKeys(tables).all_keys() == {"old", "late", *(f"k{n}" for n in range(2, 20))}
    assert len(add(tables, ["k0", "k1", "more"], "database-0")) == 2
