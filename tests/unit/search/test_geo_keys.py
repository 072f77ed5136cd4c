"""The registry of metadata keys with geographic fields: two hundred, first come, first served."""

from backend.core.tables import Tables
from backend.search.indexing.geo_keys import GeoKeys
from backend.search.values import MAX_GEO_KEYS


def test_new_keys_are_allowed_and_known_to_all_writers(tables: Tables) -> None:
    assert GeoKeys(tables).add_keys({"a", "b"}) == {"a", "b"}
    assert GeoKeys(tables).add_keys({"b", "c"}) == {"b", "c"}


def test_beyond_two_hundred_keys_only_old_ones_are_allowed(tables: Tables) -> None:
    first = {f"k{n}" for n in range(MAX_GEO_KEYS - 1)}
    assert GeoKeys(tables).add_keys(first) == first
    assert len(GeoKeys(tables).add_keys({"new-1", "new-2"})) == 1
    assert GeoKeys(tables).add_keys({"new-3", "k0"}) == {"k0"}


def test_two_writers_that_add_the_same_key_take_one_place(tables: Tables) -> None:
    writers = [GeoKeys(tables), GeoKeys(tables)]
    writers[0].add_keys({"a"})
    writers[1].add_keys({"a"})  # has read nothing yet
    rest = {f"k{n}" for n in range(MAX_GEO_KEYS - 1)}
    assert GeoKeys(tables).add_keys(rest) == rest
