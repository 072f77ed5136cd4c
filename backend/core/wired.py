"""The decorator for classes that consist of parts a function is wired from. Not for values."""

from typing import TypeVar, dataclass_transform

from backend.values import take_fields

T = TypeVar("T")


@dataclass_transform(eq_default=False, frozen_default=True)
def wired(declared: type[T], /) -> type[T]:
    """Declare a dataclass that is created once, and neither compared nor changed.

    Only the type checker keeps it frozen.
    """
    take_fields(declared)
    return declared
