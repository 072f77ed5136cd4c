"""How the classes are declared that a function is wired of. Not for values: those are compared."""

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(eq_default=False, frozen_default=True)
def wired(declared: type[T], /) -> type[T]:
    """A dataclass of the parts that it works with: built once, never compared, never changed.

    The type checker keeps it frozen. To have Python do so too, and to make the methods that
    compare and print, takes four times as long for each class, at every cold start.
    """
    return dataclass(eq=False, repr=False, slots=True)(declared)
