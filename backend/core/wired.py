"""How the classes are declared that a function is wired of. Not for values: those are compared."""

from typing import TypeVar, dataclass_transform

from backend.values import take_fields

T = TypeVar("T")


@dataclass_transform(eq_default=False, frozen_default=True)
def wired(declared: type[T], /) -> type[T]:
    """A dataclass of the parts that it works with: built once, never compared, never changed.

    Only the type checker keeps it frozen.
    """
    take_fields(declared)
    return declared
