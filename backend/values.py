"""A decorator for value classes that are quick to declare.

`dataclass` generates and compiles the source of up to six methods per class at every cold start:
0.6 ms a class, and a function loads a hundred. Here all classes share methods that use the names of
the fields. `fields`, `replace` and `asdict` of dataclasses accept such classes too. Creating an
instance takes a microsecond longer, so values that exist once per document are not declared this
way.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, fields
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def frozen(declared: type[T], /) -> type[T]:
    """Declare a value: compared, hashed and displayed by its fields, never changed."""
    names = _take_fields(declared)

    def values(one: object) -> tuple[Any, ...]:
        given = one.__dict__
        return tuple([given[name] for name in names])

    def equals(one: object, other: object) -> bool:
        if other.__class__ is not one.__class__:
            return NotImplemented
        return values(one) == values(other)

    def hashed(one: object) -> int:
        return hash(values(one))

    def shown(one: object) -> str:
        fields = [f"{name}={each!r}" for name, each in zip(names, values(one), strict=True)]
        return f"{type(one).__qualname__}({', '.join(fields)})"

    cls: Any = declared
    cls.__eq__, cls.__hash__, cls.__repr__ = equals, hashed, shown
    cls.__setattr__ = cls.__delattr__ = _refuse
    return declared


def _take_fields(declared: type[Any], /) -> tuple[str, ...]:
    """Have `dataclass` collect the fields, add the constructor, and return the names."""
    declared.__doc__ = declared.__doc__ or declared.__name__  # otherwise `dataclass` generates one
    dataclass(init=False, repr=False, eq=False, match_args=False)(declared)
    found = fields(declared)
    names = tuple([field.name for field in found])
    by_place = tuple([field.name for field in found if not field.kw_only])
    optional = {field.name: field for field in found if _is_optional(field)}
    declared.__init__ = _constructor(by_place, frozenset(names), optional)
    return names


def _constructor(
    by_place: tuple[str, ...], names: frozenset[str], optional: Mapping[str, Field[Any]]
) -> Callable[..., None]:
    def construct(self: object, /, *args: Any, **named: Any) -> None:
        given = self.__dict__
        given.update(zip(by_place, args, strict=False), **named)
        if len(given) != len(args) + len(named):
            raise TypeError(f"{type(self).__name__} received too many values, or one twice")
        if len(given) < len(names):
            for name in optional.keys() - given.keys():
                field = optional[name]
                given[name] = (
                    field.default if field.default_factory is MISSING else field.default_factory()
                )
        if given.keys() != names:
            wrong = ", ".join(sorted(given.keys() ^ names))
            raise TypeError(f"{type(self).__name__} has missing or unknown fields: {wrong}")

    return construct


def _is_optional(field: Field[Any]) -> bool:
    return field.default is not MISSING or field.default_factory is not MISSING


def _refuse(self: object, name: str, *_: object) -> None:
    raise FrozenInstanceError(f"the field {name} of {type(self).__name__} cannot be changed")
