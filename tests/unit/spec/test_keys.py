"""Composite keys: two tuples of parts never share a key, and a key gives its parts back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.spec.keys import COMPOSITES, Composite, active, archived

# Few characters, those that matter: separators, the escape, its digits, a letter, a wide one.
PART = st.text(alphabet=":_%#/235Aaé", max_size=8)


def _accepted(key: Composite, position: int) -> st.SearchStrategy[str]:
    """Parts that `build` takes: only the last one, and encoded ones, may hold the separator."""
    last = position == len(key.parts) - 1
    if last or key.parts[position] in key.encoded:
        return PART
    return PART.filter(lambda text: key.separator not in text)


@st.composite
def keys_with_parts(draw: st.DrawFn) -> tuple[Composite, tuple[str, ...]]:
    """A composite and parts for it."""
    key = draw(st.sampled_from(COMPOSITES))
    return key, tuple(draw(_accepted(key, position)) for position in range(len(key.parts)))


@st.composite
def keys_with_two_sets_of_parts(
    draw: st.DrawFn,
) -> tuple[Composite, tuple[str, ...], tuple[str, ...]]:
    """A composite and two tuples of parts for it, which may be equal."""
    key, parts = draw(keys_with_parts())
    others = tuple(
        draw(st.one_of(st.just(part), _accepted(key, position)))
        for position, part in enumerate(parts)
    )
    return key, parts, others


@given(keys_with_parts())
def test_a_key_is_parsed_into_its_parts(given_parts: tuple[Composite, tuple[str, ...]]) -> None:
    key, parts = given_parts
    assert key.parse(key.build(*parts)) == parts


@given(keys_with_two_sets_of_parts())
def test_different_parts_never_make_the_same_key(
    given_parts: tuple[Composite, tuple[str, ...], tuple[str, ...]],
) -> None:
    key, parts, others = given_parts
    assert (key.build(*parts) == key.build(*others)) == (parts == others)


@given(keys_with_two_sets_of_parts(), st.data())
def test_a_prefix_finds_the_keys_with_its_parts_and_no_others(
    given_parts: tuple[Composite, tuple[str, ...], tuple[str, ...]], data: st.DataObject
) -> None:
    key, parts, others = given_parts
    length = data.draw(st.integers(min_value=0, max_value=len(key.parts) - 1))
    found = key.build(*others).startswith(key.prefix(*parts[:length]))
    assert found == (others[:length] == parts[:length])


@pytest.mark.parametrize("key", COMPOSITES, ids=lambda key: key.name)
def test_a_part_that_holds_the_separator_is_refused_by_name(key: Composite) -> None:
    parts = ["a"] * len(key.parts)
    parts[0] = f"a{key.separator}b"
    with pytest.raises(ValueError, match=key.parts[0]):
        key.build(*parts)
    if len(key.parts) > 1:
        with pytest.raises(ValueError, match=key.parts[0]):
            key.prefix(parts[0])


@pytest.mark.parametrize("key", COMPOSITES, ids=lambda key: key.name)
def test_a_wrong_number_of_parts_is_refused(key: Composite) -> None:
    with pytest.raises(ValueError, match="parts"):
        key.build(*["a"] * (len(key.parts) + 1))
    with pytest.raises(ValueError, match="parts"):
        key.prefix(*["a"] * len(key.parts))
    with pytest.raises(ValueError, match=key.name):
        key.parse("a")


def test_a_file_key_is_byte_identical_to_the_data_models() -> None:
    key = next(key for key in COMPOSITES if key.name == "databaseId:assetId:filePath")
    assert key.build("db", "a1", "/x:y%3A/z.glb") == "db:a1:/x:y%3A/z.glb"


@given(st.text(alphabet="ab-_.#", max_size=12).filter(lambda text: "#" not in text))
def test_an_archived_partition_names_its_database(database_id: str) -> None:
    assert active(archived(database_id)) == active(database_id) == database_id
    assert archived(database_id) != database_id
