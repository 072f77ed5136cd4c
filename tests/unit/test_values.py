"""Values are declared quickly, and are dataclasses all the same."""

import dataclasses
from typing import Any

import pytest

from backend.values import frozen


@frozen
class Place:
    street: str
    number: int = 1
    names: list[str] = dataclasses.field(default_factory=list[str])


@frozen
class Flat(Place):
    floor: int = 0


@frozen
class Sealed:
    _: dataclasses.KW_ONLY
    secret: str = "-"
    key: str


def test_values_of_equal_fields_are_equal() -> None:
    assert Place("a", 2) == Place(number=2, street="a")
    assert Place("a", 2) != Place("a", 3)


def test_values_of_different_kinds_are_not_equal() -> None:
    assert Flat("a") != Place("a")
    assert Place("a") != "a"


def test_a_value_is_found_in_sets() -> None:
    assert Sealed(key="a") in {Sealed(key="a"), Sealed(key="b")}


def test_a_value_cannot_be_changed() -> None:
    place: Any = Place("a")
    with pytest.raises(dataclasses.FrozenInstanceError, match="number of Place"):
        place.number = 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        del place.street


def test_a_value_is_shown_with_its_fields() -> None:
    assert repr(Flat("a", floor=2)) == "Flat(street='a', number=1, names=[], floor=2)"


def test_defaults_are_made_for_each_value() -> None:
    result, other = Place("a"), Place("a")
    result.names.append("b")
    assert other.names == []


def test_dataclasses_know_values() -> None:
    assert dataclasses.replace(Flat("a", floor=2), number=3) == Flat("a", 3, floor=2)
    assert dataclasses.asdict(Place("a")) == {"street": "a", "number": 1, "names": []}
    assert [field.name for field in dataclasses.fields(Sealed)] == ["secret", "key"]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((), {}),
        (("a",), {"street": "b"}),
        (("a", 1, (), 4), {}),
        (("a",), {"town": "b"}),
    ],
)
def test_a_value_takes_its_own_fields_once(arguments: Any, named: Any) -> None:
    with pytest.raises(TypeError, match="Place"):
        Place(*arguments, **named)


def test_fields_by_name_are_not_taken_by_place() -> None:
    sealed: Any = Sealed
    with pytest.raises(TypeError, match="Sealed"):
        sealed("a", "b")
