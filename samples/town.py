"""A house and its plan, a lighthouse and a wind turbine."""

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from samples.furniture import Parts
from samples.gltf import Material, Model, Node, Turning, single
from samples.pictures import random
from samples.shapes import (
    Mesh,
    Vector,
    box,
    cylinder,
    flat,
    lathe,
    placed,
    skinned,
    sphere,
    tube,
    turn,
)
from samples.trees import clump

HOUSE = {
    "plaster": Material((1.0, 0.94, 0.80), roughness=0.9),
    "stone": Material((0.58, 0.56, 0.54), roughness=0.95),
    "tiles": Material((0.72, 0.29, 0.20), roughness=0.8),
    "frame": Material((0.98, 0.98, 0.96), roughness=0.5),
    "glass": Material((0.42, 0.60, 0.72), 0.1, 0.08),
    "door": Material((0.16, 0.40, 0.42), roughness=0.4),
    "shutter": Material((0.24, 0.50, 0.50), roughness=0.6),
    "brick": Material((0.60, 0.33, 0.26), roughness=0.9),
    "lawn": Material((0.52, 0.68, 0.36), roughness=1.0),
    "hedge": Material((0.28, 0.48, 0.25), roughness=1.0),
}


@cache
def house() -> Parts:
    """A house of two floors with a tiled roof, a dormer, a porch and windows with shutters."""
    width, depth, eaves, ridge = 8.0, 6.0, 4.6, 7.3
    parts: Parts = [(box((width + 0.16, 0.4, depth + 0.16), (0, 0.2, 0), bevel=0.03), "stone")]
    parts.append((box((width, eaves - 0.4, depth), (0, 0.4 + (eaves - 0.4) / 2, 0)), "plaster"))
    for x in (-width / 2, width / 2):
        gable: list[Vector] = [(x, eaves, depth / 2), (x, eaves, -depth / 2), (x, ridge - 0.12, 0)]
        parts.append((flat([gable if x > 0 else gable[::-1]]), "plaster"))
    parts += [(mesh, "tiles") for mesh in _roof(width + 1.0, depth + 1.1, eaves - 0.28, ridge)]
    front = depth / 2
    for x in (-2.7, 2.7):
        parts += _window((x, 1.75, front), 1.1, 1.3)
    for x in (-2.7, 0.0, 2.7):
        parts += _window((x, 3.65, front), 1.0, 1.15)
    for z in (-1.5, 1.5):
        for y in (1.75, 3.65):
            side = _window((0, 0, 0), 1.0, 1.2)
            parts += [
                (placed(mesh, (width / 2, y, z), turned=turn("y", 90)), name) for mesh, name in side
            ]
    attic = _window((0, 0, 0), 0.8, 0.9, shutters=False)
    parts += [
        (placed(mesh, (width / 2, 5.6, 0), turned=turn("y", 90)), name) for mesh, name in attic
    ]
    parts += _porch(front)
    parts.append((box((0.8, 2.6, 0.8), (-2.2, 6.9, -0.9), bevel=0.02), "brick"))
    parts.append((box((0.95, 0.14, 0.95), (-2.2, 8.2, -0.9), bevel=0.02), "stone"))
    parts.append((box((10.6, 0.12, 9.0), (-0.2, -0.06, 0.6), bevel=0.02), "lawn"))
    parts.append((box((1.3, 0.06, 2.5), (0, 0.02, front + 1.15)), "stone"))
    for number in range(9):
        at = (-5.1, 0.42, -3.2 + number * 0.95)
        bush = placed(sphere(0.5, 12), at, scale=(1, 0.9 + 0.35 * random(number), 1.1))
        parts.append((bush, "hedge"))
    return parts


def _roof(width: float, depth: float, eaves: float, ridge: float) -> list[Mesh]:
    """Two slopes of rows of tiles, and the ridge."""
    meshes, rows = list[Mesh](), 11
    for side in (-1, 1):
        for row in range(rows):
            a, b = row / rows, (row + 1.25) / rows
            low, high = eaves + (ridge - eaves) * a, eaves + (ridge - eaves) * min(b, 1)
            near, far = depth / 2 * (1 - a), depth / 2 * (1 - min(b, 1))
            x, thick = width / 2, 0.10
            lower = [(-x, low + thick, side * near), (x, low + thick, side * near)]
            upper = [(x, high + 0.02, side * far), (-x, high + 0.02, side * far)]
            top: list[Vector] = [*lower, *upper]
            edge: list[Vector] = [
                (-x, low - 0.02, side * near),
                (x, low - 0.02, side * near),
                lower[1],
                lower[0],
            ]
            faces = [top, edge]
            for sign in (-1, 1):
                faces.append(  # noqa: PERF401 - longer with extend
                    [
                        (sign * x, low - 0.02, side * near),
                        (sign * x, low + thick, side * near),
                        (sign * x, high + 0.02, side * far),
                        (sign * x, high - 0.1, side * far),
                    ]
                )
            meshes.append(flat([_facing(face, side) for face in faces]))
        under: list[Vector] = [
            (-width / 2, eaves - 0.02, side * depth / 2),
            (width / 2, eaves - 0.02, side * depth / 2),
            (width / 2, ridge - 0.1, 0),
            (-width / 2, ridge - 0.1, 0),
        ]
        meshes.append(flat([under if side < 0 else under[::-1]]))
    meshes.append(tube([(-width / 2, ridge, 0), (width / 2, ridge, 0)], 0.14, 12))
    return meshes


def _facing(face: list[Vector], side: int) -> list[Vector]:
    """Return the face as seen from above, from the front of its side, or from the gable."""
    a, b, c = (np.array(corner) for corner in face[:3])
    normal = np.cross(b - a, c - a)
    outside = np.array(
        [np.sign(a[0]) if abs(normal[0]) > max(abs(normal[1]), abs(normal[2])) else 0, 0.5, side]
    )
    return face if float((normal * outside).sum()) > 0 else face[::-1]


def _window(at: Vector, width: float, height: float, *, shutters: bool = True) -> Parts:
    """A window in a wall that faces z: panes, bars, a sill and shutters."""
    x, y, z = at
    parts: Parts = [(box((width, height, 0.06), (x, y, z + 0.01)), "glass")]
    for sign in (-1, 1):
        parts.append(
            (
                box((0.09, height + 0.09, 0.12), (x + sign * width / 2, y, z + 0.03), bevel=0.01),
                "frame",
            )
        )
        parts.append(
            (
                box((width + 0.09, 0.09, 0.12), (x, y + sign * height / 2, z + 0.03), bevel=0.01),
                "frame",
            )
        )
        if shutters:
            parts.append(
                (
                    box(
                        (width * 0.46, height + 0.06, 0.05),
                        (x + sign * (width * 0.73 + 0.06), y, z + 0.03),
                        bevel=0.012,
                    ),
                    "shutter",
                )
            )
    parts.append((box((0.05, height, 0.09), (x, y, z + 0.02)), "frame"))
    parts.append((box((width, 0.05, 0.09), (x, y + height * 0.12, z + 0.02)), "frame"))
    parts.append(
        (box((width + 0.3, 0.07, 0.24), (x, y - height / 2 - 0.07, z + 0.08), bevel=0.015), "stone")
    )
    return parts


def _porch(front: float) -> Parts:
    """A door with steps, and a small roof on two posts."""
    parts: Parts = [(box((1.7, 0.4, 1.3), (0, 0.2, front + 0.6), bevel=0.03), "stone")]
    parts.append((box((1.4, 0.2, 0.4), (0, 0.1, front + 1.4), bevel=0.02), "stone"))
    parts.append((box((1.0, 2.1, 0.1), (0, 1.45, front + 0.02), bevel=0.02), "door"))
    for sign in (-1, 1):
        parts.append((box((0.1, 2.2, 0.16), (sign * 0.55, 1.5, front + 0.04), bevel=0.01), "frame"))
        parts.append(
            (box((0.13, 2.1, 0.13), (sign * 0.72, 1.45, front + 1.1), bevel=0.015), "frame")
        )
    parts.append((box((0.5, 0.5, 0.04), (0, 2.05, front + 0.075)), "glass"))
    parts.append((placed(sphere(0.05, 12), (0.38, 1.4, front + 0.12)), "frame"))
    slope = box((2.1, 0.12, 1.65), bevel=0.02)
    parts.append((placed(slope, (0, 2.72, front + 0.7), turned=turn("x", 14)), "tiles"))
    return parts


def lighthouse() -> Model:
    """A lighthouse with red and white bands, a gallery and a lantern, on a rock."""

    def radius(y: float) -> float:
        return 2.0 - 0.95 * (y / 14) ** 0.8

    parts: Parts = []
    for band in range(7):
        steps = [2.0 * band + 2.0 * step / 4 for step in range(5)]
        parts.append((lathe([(radius(y), y) for y in steps], 48), "red" if band % 2 else "white"))
    parts += _lantern()
    for level, angle in ((3.2, 60), (7.2, 35), (11.2, 55)):
        window = box((0.5, 0.85, 0.2), bevel=0.05)
        parts.append(
            (placed(placed(window, (0, level, radius(level))), turned=turn("y", angle)), "dark")
        )
    door = placed(box((0.95, 1.7, 0.25), bevel=0.06), (0, 1.0, radius(0.9)))
    parts.append((placed(door, turned=turn("y", 20)), "dark"))
    parts += _rocks()
    colors = {
        "white": (0.96, 0.95, 0.92),
        "red": (0.80, 0.20, 0.17),
        "dark": (0.22, 0.26, 0.31),
        "rock": (0.55, 0.52, 0.49),
        "sea": (0.20, 0.50, 0.62),
        "foam": (0.62, 0.80, 0.84),
    }
    materials = {name: Material(color) for name, color in colors.items()}
    materials["lamp"] = Material((1.0, 0.88, 0.50), glow=(1.0, 0.8, 0.4))
    return single("lighthouse", parts, materials)


def _lantern() -> Parts:
    """The gallery with its railing, the light and the roof."""
    parts: Parts = []
    parts.append((lathe([(1.05, 14), (1.75, 14.3), (1.8, 14.5), (0, 14.5)], 48), "dark"))
    for number in range(16):
        angle = 2 * math.pi * number / 16
        post = (1.7 * math.cos(angle), 14.5, 1.7 * math.sin(angle))
        parts.append((tube([post, (post[0], 15.3, post[2])], 0.03, 6), "dark"))
    for level in (14.9, 15.3):
        rail = [
            (1.7 * math.cos(a), level, 1.7 * math.sin(a)) for a in np.arange(48) * 2 * math.pi / 48
        ]
        parts.append((tube(rail, 0.03, 6, closed=True), "dark"))
    parts.append((lathe([(0.85, 14.5), (0.85, 16.3)], 12), "lamp"))
    for number in range(12):
        angle = 2 * math.pi * number / 12
        x, z = 0.86 * math.cos(angle), 0.86 * math.sin(angle)
        parts.append((tube([(x, 14.5, z), (x, 16.3, z)], 0.035, 6), "dark"))
    roof = [(0, 16.3), (1.08, 16.3), (1.05, 16.45), (0.55, 17.15), (0.1, 17.45), (0, 17.45)]
    parts.append((lathe(roof, 36), "red"))
    parts.append((placed(sphere(0.16, 16), (0, 17.55, 0)), "dark"))
    return parts


def _rocks() -> Parts:
    parts: Parts = []
    for number in range(16):
        angle = number * 2.39996
        reach = 0.6 + 0.72 * math.sqrt(number) * 1.1
        size = 1.7 - 0.055 * number + 0.5 * random(500 + number)
        at = (reach * math.cos(angle), -0.75 - 0.05 * number, reach * math.sin(angle))
        parts.append((placed(clump(number + 50), at, scale=(size, 0.85, size)), "rock"))
    parts.append((placed(cylinder(6.0, 0.35, 72, bevel=0.08), (0, -1.6, 0)), "sea"))
    parts.append((placed(cylinder(4.6, 0.37, 60, bevel=0.08), (0, -1.6, 0)), "foam"))
    return parts


def wind_turbine() -> Model:
    """A wind turbine whose rotor turns."""
    tower: Parts = [(tube([(0, 0, 0), (0, 22, 0)], lambda t: 0.95 - 0.4 * t, 32), "white")]
    tower.append((placed(cylinder(2.4, 0.5, 40, bevel=0.1), (0, -0.3, 0)), "concrete"))
    body = placed(
        lathe([(0, -2.6), (0.62, -2.5), (0.82, -1.4), (0.85, 0.9), (0.6, 1.5), (0, 1.5)], 28),
        turned=turn("x", 90),
    )
    tower.append((placed(body, (0, 22.2, -0.1)), "white"))
    blades: Parts = [(placed(sphere(0.8, 28), (0, 0, 0.2), scale=(0.95, 0.95, 1.35)), "grey")]
    for number in range(3):
        blades += [
            (placed(mesh, turned=turn("z", 120.0 * number + 20)), name) for mesh, name in _blade()
        ]
    rotor = Node("rotor", blades, at=(0, 22.2, 1.7))
    colors = {
        "white": (0.95, 0.96, 0.97),
        "grey": (0.80, 0.83, 0.86),
        "tip": (0.86, 0.24, 0.18),
        "concrete": (0.66, 0.66, 0.64),
    }
    keys = [(0.25 * step, -30.0 * step) for step in range(13)]
    return Model(
        "wind turbine",
        {name: Material(color, roughness=0.4) for name, color in colors.items()},
        [Node("tower", tower), rotor],
        turnings=[Turning("rotor", "z", keys)],
    )


def _blade() -> Parts:
    """A blade along y: round at the hub, twisted, thin and narrow at its tip."""
    rows = list[np.ndarray]()
    for step in range(17):
        t = step / 16
        chord = (0.35 + 1.95 * min(1.0, t / 0.2) * (1 - t) ** 0.9 + 0.12) if t > 0 else 0.38
        thick = 0.36 * (1 - t) ** 1.5 + 0.045
        twist = math.radians(24 * (1 - t))
        ring = list[tuple[float, float, float]]()
        for side in range(16):
            angle = 2 * math.pi * side / 16
            x, z = chord * (math.cos(angle) * 0.5 + 0.12 * t), thick * math.sin(angle) * 0.5
            ring.append(
                (
                    x * math.cos(twist) - z * math.sin(twist),
                    0.4 + 13.5 * t,
                    x * math.sin(twist) + z * math.cos(twist) + 0.2,
                )
            )
        rows.append(np.array([*ring, ring[0]]))
    return [(skinned(rows[:14]), "white"), (skinned(rows[13:]), "tip")]


_PAPER, _WALL, _ROOM, _BATH, _WINDOW, _DOOR = range(6)
_PLAN_COLORS = [
    (250, 249, 246),
    (52, 58, 66),
    (241, 231, 212),
    (214, 229, 236),
    (120, 176, 208),
    (196, 120, 60),
]
_PLAN = (
    (-4.1, -3.1, 8.2, 6.2, _WALL),
    (-3.85, -2.85, 4.4, 3.1, _ROOM),
    (0.7, -2.85, 3.15, 2.3, _BATH),
    (-3.85, 0.4, 3.1, 2.45, _ROOM),
    (-0.6, 0.4, 1.15, 2.45, _ROOM),
    (0.7, -0.4, 3.15, 3.25, _ROOM),
    *((x - 0.55, z, 1.1, 0.25, _WINDOW) for x in (-2.7, 2.7) for z in (2.85, -3.1)),
    *((3.85, z - 0.5, 0.25, 1.0, _WINDOW) for z in (-1.5, 1.5)),
    (-0.5, 2.85, 1.0, 0.25, _DOOR),
    (-0.75, 1.2, 0.15, 0.9, _DOOR),
    (0.55, 1.2, 0.15, 0.9, _DOOR),
    (-0.45, 0.25, 0.9, 0.15, _DOOR),
    (0.55, -1.6, 0.15, 0.8, _DOOR),
    *((-0.55, 0.45 + 0.09 * step, 1.05, 0.02, _WALL) for step in range(9)),
)
_FURNITURE = (
    (-3.6, -2.6, 0.9, 2.0),
    (-1.9, -1.9, 1.4, 0.8),
    (1.0, -2.6, 1.7, 0.75),
    (-3.6, 0.7, 0.6, 1.6),
    (1.6, 0.8, 1.5, 0.9),
)
"""Rectangles in metres from the middle of the house: x, z, width, depth."""


def plan() -> tuple[NDArray[np.uint8], list[tuple[int, int, int]]]:
    """Return the plan of the ground floor, as numbers of colours, and the colours."""
    pixels = np.full((384, 480), _PAPER, np.uint8)
    edges = [(*piece, _WALL) for piece in _FURNITURE]
    tops = [(x + 0.03, z + 0.03, w - 0.06, d - 0.06, _PAPER) for x, z, w, d in _FURNITURE]
    for x, z, width, depth, color in (*_PLAN, *edges, *tops):
        left, top = round(240 + 48 * x), round(192 + 48 * z)
        right, low = left + max(1, round(48 * width)), top + max(1, round(48 * depth))
        pixels[top:low, left:right] = color
    return pixels, _PLAN_COLORS
