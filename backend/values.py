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

    def values(instance: object) -> tuple[Any, ...]:
        fields = instance.__dict__
        return tuple([fields[name] for name in names])

    def equals(instance: object, other: object) -> bool:
        if other.__class__ is not instance.__class__:
            return NotImplemented
        return values(instance) == values(other)

    def hash_of(instance: object) -> int:
        return hash(values(instance))

    def text_of(instance: object) -> str:
        pairs = zip(names, values(instance), strict=True)
        fields = [f"{name}={value!r}" for name, value in pairs]
        return f"{type(instance).__qualname__}({', '.join(fields)})"

    cls: Any = declared
    cls.__eq__, cls.__hash__, cls.__repr__ = equals, hash_of, text_of
    cls.__setattr__ = cls.__delattr__ = _refuse
    return declared


def _take_fields(declared: type[Any], /) -> tuple[str, ...]:
    """Have `dataclass` collect the fields, add the constructor, and return the names."""
    declared.__doc__ = declared.__doc__ or declared.__name__  # otherwise `dataclass` generates one
    dataclass(init=False, repr=False, eq=False, match_args=False)(declared)
    members = fields(declared)
    names = tuple([field.name for field in members])
    by_place = tuple([field.name for field in members if not field.kw_only])
    optional = {
        field.name: field
        for field in members
        if field.default is not MISSING or field.default_factory is not MISSING
    }
    declared.__init__ = _constructor(by_place, frozenset(names), optional)
    return names


def _constructor(
    by_place: tuple[str, ...], names: frozenset[str], optional: Mapping[str, Field[Any]]
) -> Callable[..., None]:
    def construct(self: object, /, *args: Any, **named: Any) -> None:
        values = self.__dict__
        values.update(zip(by_place, args, strict=False), **named)
        if len(values) != len(args) + len(named):
            raise TypeError(f"{type(self).__name__} received too many values, or one twice")
        if len(values) < len(names):
            for name in optional.keys() - values.keys():
                field = optional[name]
                values[name] = (
                    field.default if field.default_factory is MISSING else field.default_factory()
                )
        if values.keys() != names:
            wrong = ", ".join(sorted(values.keys() ^ names))
            raise TypeError(f"{type(self).__name__} has missing or unknown fields: {wrong}")

    return construct


def _refuse(self: object, name: str, *_: object) -> None:
    raise FrozenInstanceError(f"the field {name} of {type(self).__name__} cannot be changed")
