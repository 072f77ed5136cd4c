"""The result of every reader: geometry as numpy arrays, materials, and facts of the file."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from backend.processing.texts import printable_line

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Bytes = NDArray[np.uint8]


class RefusedError(Exception):
    """The file cannot be read; the message is the reason that users see."""


class UnsupportedError(RefusedError):
    """This reader cannot read the file, another one may."""


# Exceptions of Python by which libraries describe a file; the others describe a value of Python.
_OF_LIBRARIES = (OSError, RuntimeError, NotImplementedError)


def words_of(error: Exception) -> str:
    """Return how a library describes what is wrong with a file; Python's own words say nothing."""
    kind = type(error)
    is_of_python = kind.__module__ in {"builtins", "struct"} and kind not in _OF_LIBRARIES
    if is_of_python or getattr(error, "errno", None) is not None:
        return "the content is not as expected"
    return printable_line(str(error)) or "the content is not as expected"


@dataclass(frozen=True, eq=False)
class Part:
    """Vertices with the elements drawn from them.

    Positions are in coordinates of the whole file.
    """

    positions: Floats  # (n, 3)
    triangles: Indices | None = None  # (m, 3)
    lines: Indices | None = None  # (m, 2)
    points: Indices | None = None  # (m,)
    normals: Floats | None = None  # (n, 3)
    uv: Floats | None = None  # (n, 2), the origin at the top left of the image
    colors: Floats | None = None  # (n, 4), 0 to 1, of the screen (sRGB)
    material: int = 0
    node: int = -1  # the id of its node


@dataclass(frozen=True, eq=False)
class Material:
    name: str = ""
    color: tuple[float, float, float, float] = (0.8, 0.8, 0.8, 1.0)  # of the screen (sRGB)
    texture: bytes | Bytes | None = None  # an encoded image, or RGBA
    declared: bool = True  # not one that a reader makes up for faces without a material


@dataclass(frozen=True)
class Node:
    """A node of the GLB, with the index of the node that contains it, -1 for none."""

    name: str
    id: int
    parent: int


@dataclass(frozen=True)
class Unit:
    """The unit of length: its name and its length in metres."""

    name: str
    metres: float


METRE = Unit("metre", 1.0)


@dataclass(frozen=True, eq=False)
class Scene:
    """A model. `total_points` and `bounds` are set if only a part of all points was read.

    `up` is the axis that pictures and the GLB have upwards; `defines_up` whether the file or its
    format defines it. `left_out` says which elements are not valid and are missing in `parts`.
    `facts` are further facts of the format.
    `nodes` are those of the GLB, whose elements `structure` describes.
    `ends_within_line`: its text, in a format without an end mark, may be cut off.
    """

    format: str
    parts: list[Part] = field(default_factory=list["Part"])
    materials: list[Material] = field(default_factory=list["Material"])
    meshes: int = 0
    generator: str = ""
    up: str = "y"
    defines_up: bool = False
    unit: Unit | None = None
    crs: str = ""
    animations: int = 0
    bones: int = 0
    embedded_textures: int = 0
    ends_within_line: bool = False
    left_out: tuple[str, ...] = ()
    total_points: int | None = None
    facts: Mapping[str, int] = field(default_factory=dict[str, int])
    bounds: tuple[Floats, Floats] | None = None
    nodes: tuple[Node, ...] = ()
    structure: bytes | None = None
