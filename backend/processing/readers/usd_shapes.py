"""The shapes of USD's prims as parts, in the space of each prim."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from backend.processing import limits
from backend.processing.colors import linear_to_srgb
from backend.processing.readers.gltf_materials import Coordinates
from backend.processing.readers.polygons import triangle_order
from backend.processing.readers.soundness import Bools, unusable
from backend.processing.scene import Floats, Indices, Part, RefusedError

# Sides of a round shape; a multiple of four, so that its extents are exact.
_SIDES = 32
# How often the axes of a shape around z are rotated for another one.
_ROTATIONS = {"X": 1, "Y": 2, "Z": 0}
_CUBE = np.array(list(product((-0.5, 0.5), repeat=3)))
_SQUARE = np.array([(-0.5, -0.5, 0), (0.5, -0.5, 0), (0.5, 0.5, 0), (-0.5, 0.5, 0)])
_SIDES_OF_CUBE = [
    (0, 1, 3, 2),
    (4, 6, 7, 5),
    (0, 4, 5, 1),
    (2, 3, 7, 6),
    (0, 2, 6, 4),
    (1, 5, 7, 3),
]
LeaveOut = Callable[[str, object], None]


class Surface(NamedTuple):
    """The material of a prim, and the texture coordinates that it uses."""

    material: int = -1
    primvar: str = "st"
    coordinates: Coordinates = Coordinates()


class Values(NamedTuple):
    """The values of an attribute, and to what each belongs: vertices, faces or their corners."""

    values: Floats
    interpolation: str

    @property
    def is_split(self) -> bool:
        """Whether the corners of a vertex may have different values."""
        return self.interpolation in {"uniform", "faceVarying"}

    def of_corners(self, vertices: Indices, faces: Indices, corners: Indices) -> Floats | None:
        """Return the value of each corner, None if there are too few values."""
        places = {"uniform": faces, "faceVarying": corners, "constant": corners * 0}
        place = places.get(self.interpolation, vertices)
        if not len(place) or int(place.max()) >= len(self.values):
            return None
        return self.values[place]


def floats(attribute: Any, time: Any, columns: int) -> Floats:
    """Return the rows of an attribute; none if it has no values with so many columns."""
    try:
        values = attribute.Get(time) if attribute else None
        array = np.array([] if values is None else values, np.float64)
    except (TypeError, ValueError):  # a file may declare any type
        return np.zeros((0, columns))
    return array.reshape(-1, columns) if array.size % columns == 0 else np.zeros((0, columns))


def whole(attribute: Any, time: Any) -> Indices:
    """Return the integers of an attribute; none if it has others."""
    numbers = floats(attribute, time, 1).reshape(-1)
    # Larger ones are no index either.
    return np.clip(np.nan_to_num(numbers, nan=-1), -1, 1 << 40).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Shapes:
    """Reads the prims of a stage at one time.

    `surface_of` returns the material of a prim; `posed` its vertices as moved by a skeleton, or the
    same array if none moves them.
    """

    pxr: Any
    time: Any
    surface_of: Callable[[Any], Surface]
    posed: Callable[[Any, Floats], Floats]
    leave_out: LeaveOut

    def read(self, prim: Any) -> list[Part]:
        """Return the parts of a geometric prim in its own space, without those of its children."""
        kind = str(prim.GetTypeName())
        if kind == "Mesh":
            return self.mesh(prim)
        if kind in {"Points", "BasisCurves"}:
            return self.points_or_curves(prim, kind)
        part = self.solid(prim, kind)
        if part is None:
            self.leave_out(f"prims of the type {kind}, which is not read", prim.GetPath())
            return []
        return [replace(part, material=self.surface_of(prim).material)]

    def primvar(self, prim: Any, name: str, columns: int) -> Values | None:
        """Return the values that a prim, or one above it, has under a name."""
        primvar = self.pxr.UsdGeom.PrimvarsAPI(prim).FindPrimvarWithInheritance(name)
        if not primvar or not primvar.HasValue():
            return None
        values = floats(primvar.GetAttr(), self.time, columns)
        if primvar.IsIndexed():
            indices = whole(primvar.GetIndicesAttr(), self.time)
            values = values[indices[(indices >= 0) & (indices < len(values))]]
        return Values(values, str(primvar.GetInterpolation()))

    def colors(self, prim: Any) -> Values | None:
        """Return colours of the screen; a constant one is the material's."""
        colors = self.primvar(prim, "displayColor", 3)
        if colors is None or colors.interpolation == "constant":
            return None
        shown = linear_to_srgb(np.clip(np.nan_to_num(colors.values), 0, 1))
        return Values(np.hstack([shown, np.ones((len(shown), 1))]), colors.interpolation)

    def mesh(self, prim: Any) -> list[Part]:
        """Return the triangles of a mesh, those of each material as a part."""
        mesh, time = self.pxr.UsdGeom.Mesh(prim), self.time
        positions = floats(mesh.GetPointsAttr(), time, 3)
        counts = whole(mesh.GetFaceVertexCountsAttr(), time)
        corners = whole(mesh.GetFaceVertexIndicesAttr(), time)
        if len(counts) and (int(counts.min()) < 0 or int(counts.sum()) != len(corners)):
            self.leave_out("meshes whose faces have another number of corners", prim.GetPath())
            return []
        if len(positions) > limits.VERTICES:
            raise RefusedError(f"more than {limits.VERTICES} vertices")
        wrong = unusable(corners, counts, np.ones(len(positions), np.bool_), 3)
        if wrong.any():
            self.leave_out("meshes with faces whose vertices do not exist", prim.GetPath())
        holes = whole(mesh.GetHoleIndicesAttr(), time)
        wrong[holes[(holes >= 0) & (holes < len(counts))]] = True
        faces = np.repeat(np.arange(len(counts)), counts)
        kept = np.flatnonzero(~wrong[faces])
        triangles = kept[triangle_order(corners[kept], counts[~wrong], positions)]
        if str(mesh.GetOrientationAttr().Get(time)) == "leftHanded":
            triangles = triangles[:, ::-1]
        parts, posed = list[Part](), self.posed(prim, positions)
        for surface, shown in self.surfaces(prim, len(counts)).items():
            chosen = triangles[shown[faces[triangles[:, 0]]]]
            if len(chosen):
                part = self.part(prim, posed, (corners, faces), chosen, surface)
                # The normals of the file are those before a skeleton moves the vertices.
                parts.append(part if posed is positions else replace(part, normals=None))
        return parts

    def surfaces(self, prim: Any, faces: int) -> Mapping[Surface, Bools]:
        """Return the materials of a mesh, each with whether the faces have it."""
        surfaces = [self.surface_of(prim)]
        numbers = np.zeros(faces, np.int64)
        for subset in self.pxr.UsdShade.MaterialBindingAPI(prim).GetMaterialBindSubsets():
            indices = whole(subset.GetIndicesAttr(), self.time)
            numbers[indices[(indices >= 0) & (indices < faces)]] = len(surfaces)
            surfaces.append(self.surface_of(subset.GetPrim()))
        shown: dict[Surface, Bools] = {}
        for number, surface in enumerate(surfaces):
            shown[surface] = shown.get(surface, np.zeros(faces, np.bool_)) | (numbers == number)
        return shown

    def part(
        self,
        prim: Any,
        positions: Floats,
        elements: tuple[Indices, Indices],
        triangles: Indices,
        surface: Surface,
    ) -> Part:
        """Return a part whose vertices are the distinct corners of triangles.

        `elements` are the vertex and the face of each corner of the mesh.
        """
        normals = self.primvar(prim, "normals", 3)
        if normals is None:
            mesh = self.pxr.UsdGeom.Mesh(prim)
            values = floats(mesh.GetNormalsAttr(), self.time, 3)
            normals = Values(values, str(mesh.GetNormalsInterpolation()))
        uv = self.primvar(prim, surface.primvar, 2)
        colors = self.colors(prim) if surface.material < 0 else None
        used, places = np.unique(triangles, return_inverse=True)
        vertices, faces = (owners[used] for owners in elements)
        key, rows = vertices, list[Floats | None]()
        for attribute in (normals, uv, colors):
            values = None if attribute is None else attribute.of_corners(vertices, faces, used)
            rows.append(values)
            if attribute is not None and values is not None and attribute.is_split:
                row = np.ascontiguousarray(values, np.float32)
                whole_rows = row.view(f"V{row.strides[0]}").reshape(-1)
                codes = np.unique(whole_rows, return_inverse=True)[1]
                key = np.unique(key * (int(codes.max()) + 1) + codes, return_inverse=True)[1]
        _, first, same = np.unique(key, return_index=True, return_inverse=True)
        normal, place, color = (None if values is None else values[first] for values in rows)
        moved = surface.coordinates.move(place)
        return Part(
            positions[vertices[first]],
            same[places].reshape(-1, 3),
            normals=normal,
            uv=None if moved is None else moved * [1, -1] + [0, 1],
            colors=color,
            material=surface.material,
        )

    def points_or_curves(self, prim: Any, kind: str) -> list[Part]:
        """Return points, or curves as lines between their points."""
        material = self.surface_of(prim).material
        positions = floats(prim.GetAttribute("points"), self.time, 3)
        if len(positions) > limits.VERTICES:
            raise RefusedError(f"more than {limits.VERTICES} vertices")
        order = np.arange(len(positions))
        colors = self.colors(prim) if material < 0 else None
        shown = None if colors is None else colors.of_corners(order, order, order)
        if kind == "Points":
            return [Part(positions, points=order, colors=shown, material=material)]
        counts = whole(prim.GetAttribute("curveVertexCounts"), self.time)
        if len(counts) and (int(counts.min()) < 0 or int(counts.sum()) != len(positions)):
            self.leave_out("curves that have another number of points", prim.GetPath())
            return []
        if str(prim.GetAttribute("type").Get(self.time)) != "linear":
            self.leave_out("cubic curves, which are drawn between their points", prim.GetPath())
        owners = np.repeat(np.arange(len(counts)), counts)
        lines = np.stack([order[:-1], order[1:]], 1)[owners[:-1] == owners[1:]]
        return [Part(positions, lines=lines, colors=shown, material=material)]

    def solid(self, prim: Any, kind: str) -> Part | None:
        """Return a shape that numbers define, None for another kind of prim."""

        def number(name: str) -> float:
            value = prim.GetAttribute(name).Get(self.time) if prim.HasAttribute(name) else None
            return abs(float(value)) if isinstance(value, int | float) else 0.0

        axis = str(prim.GetAttribute("axis").Get(self.time)) if prim.HasAttribute("axis") else "Z"
        rotations = _ROTATIONS.get(axis, 0)
        half = number("height") / 2
        bottom, top = (number(f"radius{end}") or number("radius") for end in ("Bottom", "Top"))
        arc = np.linspace(0, np.pi / 2, _SIDES // 4 + 1)
        match kind:
            case "Cube":
                faces = np.array(_SIDES_OF_CUBE)
                return Part(_CUBE * number("size"), faces[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3))
            case "Plane":
                sizes = [number("width"), number("length"), 0]
                sizes = sizes if rotations == 0 else [sizes[1], sizes[0], 0]
                corners = np.roll(_SQUARE * sizes, rotations, axis=1)
                return Part(corners, np.array([(0, 1, 2), (0, 2, 3)]))
            case "Sphere":
                arc = np.linspace(-np.pi / 2, np.pi / 2, _SIDES // 2 + 1)
                radii, heights = bottom * np.cos(arc), bottom * np.sin(arc)
            case "Cone":
                radii, heights = np.array([0, bottom, 0]), np.array([-half, -half, half])
            case "Cylinder" | "Cylinder_1":
                radii = np.array([0, bottom, top, 0])
                heights = np.array([-half, -half, half, half])
            case "Capsule" | "Capsule_1":
                radii = np.concatenate([bottom * np.sin(arc), top * np.cos(arc)])
                heights = np.concatenate([-half - bottom * np.cos(arc), half + top * np.sin(arc)])
            case _:
                return None
        return revolved(radii, heights, rotations)


def revolved(radii: Floats, heights: Floats, rotations: int) -> Part:
    """Return a surface around an axis. Its profile begins and ends there."""
    angles = np.arange(_SIDES) * (2 * np.pi / _SIDES)
    circle = np.stack([np.cos(angles), np.sin(angles), np.zeros(_SIDES)], 1)
    rings = circle * radii[1:-1, None, None] + np.outer(heights, (0, 0, 1))[1:-1, None]
    count = len(rings) * _SIDES
    ends = np.array([(0, 0, heights[0]), (0, 0, heights[-1])])
    ring, after = np.arange(_SIDES), np.roll(np.arange(_SIDES), -1)
    last = count - _SIDES
    triangles = [
        np.stack([np.full(_SIDES, count), after, ring], 1),
        np.stack([np.full(_SIDES, count + 1), last + ring, last + after], 1),
    ]
    for start in range(0, last, _SIDES):
        below, above = start + ring, start + _SIDES + ring
        triangles += [
            np.stack([below, start + after, start + _SIDES + after], 1),
            np.stack([below, start + _SIDES + after, above], 1),
        ]
    positions = np.concatenate([rings.reshape(-1, 3), ends])
    return Part(np.roll(positions, rotations, axis=1), np.concatenate(triangles))
