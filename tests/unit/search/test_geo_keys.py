"""The registry of metadata keys with geographic fields: first come, within two limits."""

from collections.abc import Iterable

from backend.core.tables import Tables
from backend.search.indexing.geo_keys import MAX_KEYS_OF_DATABASE, GeoKeys
from backend.search.values import MAX_GEO_KEYS


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
