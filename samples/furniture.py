"""Furniture: a chair, a stool, a table, a bookshelf and a desk lamp."""

import math
from collections.abc import Sequence

import numpy as np

from samples.gltf import Material, Model, single
from samples.pictures import random
from samples.shapes import Mesh, box, cylinder, lathe, merged, placed, skinned, sphere, tube, turn

Parts = list[tuple[Mesh, str]]
WOOD = {
    "oak": Material((0.80, 0.58, 0.36), roughness=0.55),
    "walnut": Material((0.45, 0.28, 0.17), roughness=0.5),
    "felt": Material((0.20, 0.42, 0.44), roughness=0.95),
}


_INKS = {
    "red": (0.70, 0.16, 0.17),
    "blue": (0.20, 0.42, 0.66),
    "green": (0.22, 0.48, 0.28),
    "sand": (0.85, 0.74, 0.52),
    "plum": (0.44, 0.20, 0.38),
    "orange": (0.90, 0.52, 0.18),
    "navy": (0.13, 0.20, 0.36),
    "paper": (0.95, 0.93, 0.86),
    "clay": (0.78, 0.42, 0.28),
    "back": (0.62, 0.44, 0.27),
}


def chair() -> Model:
    """A chair with four splayed legs, a curved back of slats, and a cushion."""
    parts: Parts = []
    for x in (-1, 1):
        legs = [
            ((x * 0.19, 0.43, 0.18), (x * 0.225, 0, 0.215)),
            ((x * 0.19, 0.43, -0.17), (x * 0.225, 0, -0.235)),
        ]
        parts += [(_leg(*leg), "oak") for leg in legs]
        post = [(x * 0.185, 0.42, -0.18), (x * 0.19, 0.62, -0.205), (x * 0.195, 0.88, -0.265)]
        parts.append((tube(post, lambda t: 0.017 - 0.004 * t, 14), "oak"))
        parts.append((tube([(x * 0.207, 0.2, 0.197), (x * 0.207, 0.2, -0.207)], 0.009, 10), "oak"))
    parts.append((tube([(-0.205, 0.26, 0.198), (0.205, 0.26, 0.198)], 0.009, 10), "oak"))
    parts.append((_slab(0.46, 0.034, 0.44, (0, 0.437, 0), 0.05), "oak"))
    parts.append((_slab(0.42, 0.045, 0.40, (0, 0.474, 0.004), 0.08), "felt"))
    for height, lean in ((0.585, -0.205), (0.69, -0.226), (0.80, -0.25)):
        parts.append((_slat(0.37, 0.062, height, lean), "oak"))
    return single("chair", parts, {name: WOOD[name] for name in ("oak", "felt")})


def stool() -> Model:
    """A round stool on three legs."""
    parts: Parts = [
        (
            placed(
                lathe(
                    [
                        (0, 0),
                        (0.15, 0),
                        (0.168, 0.008),
                        (0.17, 0.022),
                        (0.16, 0.032),
                        (0.1, 0.027),
                        (0, 0.024),
                    ],
                    48,
                ),
                (0, 0.43, 0),
            ),
            "walnut",
        )
    ]
    ring = list[tuple[float, float, float]]()
    for leg in range(4):
        angle = math.pi / 4 + math.pi / 2 * leg
        sine, cosine = math.sin(angle), math.cos(angle)
        parts.append(
            (_leg((0.11 * cosine, 0.435, 0.11 * sine), (0.2 * cosine, 0, 0.2 * sine)), "walnut")
        )
        ring.append((0.166 * cosine, 0.165, 0.166 * sine))
    parts += [
        (tube([a, b], 0.009, 10), "walnut") for a, b in zip(ring, [*ring[1:], ring[0]], strict=True)
    ]
    return single("stool", parts, {"walnut": WOOD["walnut"]})


def table() -> Mesh:
    """A dining table with a frame and tapered legs; the texture of wood runs along it."""
    top = _upright_grain(box((1.6, 0.036, 0.82), (0, 0.732, 0), bevel=0.007, tile=0.8))
    parts = [top]
    for x in (-1, 1):
        parts.append(box((0.024, 0.085, 0.66), (x * 0.69, 0.67, 0), bevel=0.003, tile=0.8))
        parts += [_square_leg((x * 0.70, z * 0.33), 0.714) for z in (-1, 1)]
    parts += [
        box((1.36, 0.085, 0.024), (0, 0.67, z * 0.33), bevel=0.003, tile=0.8) for z in (-1, 1)
    ]
    return merged(parts)


def bookshelf() -> Model:
    """A shelf of four boards with books of many colours, a plant and a globe."""
    parts: Parts = [
        (box((0.024, 1.5, 0.28), (x * 0.43, 0.75, 0), bevel=0.003), "oak") for x in (-1, 1)
    ]
    parts += [
        (box((0.836, 0.022, 0.27), (0, y, 0), bevel=0.002), "oak")
        for y in (0.06, 0.43, 0.79, 1.14, 1.489)
    ]
    parts.append((box((0.85, 1.43, 0.008), (0, 0.775, -0.136)), "back"))
    parts += _books() + _ornaments()
    materials = {name: Material(color) for name, color in _INKS.items()}
    materials |= {"oak": WOOD["oak"], "brass": Material((0.83, 0.66, 0.32), 1.0, 0.35)}
    return single("bookshelf", parts, materials)


def _books() -> Parts:
    """Books of several sizes and colours on each board."""
    parts: Parts = []
    inks = ["red", "blue", "green", "sand", "plum", "orange", "navy"]
    for row, base in enumerate((0.071, 0.441, 0.801, 1.151)):
        at, end = -0.405, (0.4, 0.22, 0.405, 0.05)[row]
        for book in range(40):
            seed = 97 * row + 7 * book
            thick, tall = 0.018 + 0.03 * random(seed), 0.2 + 0.085 * random(seed + 1)
            deep = 0.16 + 0.05 * random(seed + 2)
            if at + thick > end:
                break
            middle, level = at + thick / 2, base + tall / 2
            cover = box((thick - 0.0015, tall, deep), (middle, level, 0.12 - deep / 2))
            parts.append((cover, inks[int(random(seed + 3) * len(inks))]))
            pages = box((thick - 0.006, tall + 0.0005, 0.004), (middle, level, 0.1185 - deep))
            parts.append((pages, "paper"))
            at += thick
    return parts


def _ornaments() -> Parts:
    """A plant in a pot, and a globe on a stand."""
    parts: Parts = []
    pot = lathe([(0, 0), (0.04, 0), (0.055, 0.085), (0.05, 0.085), (0.047, 0.075), (0, 0.075)], 28)
    parts.append((placed(pot, (0.31, 0.441, 0.02)), "clay"))
    for leaf in range(11):
        tilt = 22 + 34 * random(300 + leaf)
        blade = placed(sphere(1, 10), (0, 0.085, 0), scale=(0.018, 0.085, 0.006))
        where = placed(blade, turned=turn("x", tilt))
        parts.append((placed(where, (0.31, 0.51, 0.02), turned=turn("y", leaf * 137.5)), "green"))
    parts.append((placed(cylinder(0.045, 0.012, 28, bevel=0.003), (0.22, 1.151, 0.0)), "brass"))
    parts.append((placed(cylinder(0.007, 0.06, 12), (0.22, 1.16, 0.0)), "brass"))
    parts.append((placed(sphere(0.085, 32), (0.22, 1.295, 0.0)), "blue"))
    arc = [
        (0.22 + 0.098 * math.sin(a), 1.295 + 0.098 * math.cos(a), 0)
        for a in np.linspace(-0.4, math.pi, 24)
    ]
    parts.append((tube(arc, 0.005, 8), "brass"))
    return parts


def lamp() -> Model:
    """A desk lamp: a round foot, two jointed arms with springs, and a shade with a bulb."""
    foot, elbow, head = (0.0, 0.035, 0.0), (-0.13, 0.33, 0.0), (0.16, 0.50, 0.0)
    base = [
        (0, 0),
        (0.085, 0),
        (0.092, 0.006),
        (0.09, 0.016),
        (0.03, 0.03),
        (0.018, 0.045),
        (0, 0.045),
    ]
    parts: Parts = [(lathe(base, 56), "enamel")]
    for z in (-0.011, 0.011):
        parts.append((tube([(a, b, z) for a, b, _ in (foot, elbow)], 0.0055, 12), "steel"))
        parts.append((tube([(a, b, z) for a, b, _ in (elbow, head)], 0.0055, 12), "steel"))
    for joint in (foot, elbow, head):
        knob = placed(cylinder(0.017, 0.05, 24, bevel=0.003), (0, -0.025, 0))
        parts.append((placed(knob, joint, turned=turn("x", 90)), "brass"))
    parts += [
        (_spring(foot, elbow, (0.1, 0.5)), "steel"),
        (_spring(elbow, head, (0.1, 0.5)), "steel"),
    ]
    parts += _shade(head)
    return single(
        "lamp",
        parts,
        {
            "enamel": Material((0.84, 0.27, 0.16), roughness=0.3),
            "steel": Material((0.72, 0.74, 0.77), 1.0, 0.3),
            "brass": Material((0.83, 0.66, 0.32), 1.0, 0.3),
            "light": Material((1.0, 0.95, 0.78), glow=(1.0, 0.9, 0.6)),
        },
    )


def _shade(head: Sequence[float]) -> Parts:
    """The shade at the end of the arms, with its cap and bulb."""
    shade = [
        (0.02, 0.075),
        (0.022, 0.06),
        (0.045, 0.03),
        (0.085, -0.055),
        (0.088, -0.06),
        (0.083, -0.056),
        (0.043, 0.026),
        (0.018, 0.055),
    ]
    cap = lathe([(0, 0.085), (0.014, 0.083), (0.02, 0.075)][::-1], 40)
    lean = turn("z", 28)
    at = (head[0] + 0.012, head[1] - 0.03, 0.0)
    parts: Parts = [
        (placed(lathe(shade[::-1], 56), at, turned=lean), "enamel"),
        (placed(cap, at, turned=lean), "brass"),
    ]
    bulb = placed(sphere(0.03, 24), (0, -0.022, 0), scale=(1, 1.15, 1))
    parts += [(placed(bulb, at, turned=lean), "light")]
    return parts


def _spring(start: Sequence[float], end: Sequence[float], part: tuple[float, float]) -> Mesh:
    a, b = np.array(start), np.array(end)
    along = b - a
    across = np.array([-along[1], along[0], 0]) / math.hypot(along[0], along[1])
    path = list[np.ndarray]()
    for step in range(97):
        t, angle = step / 96, 2 * math.pi * 12 * step / 96
        place = a + along * (part[0] + (part[1] - part[0]) * t)
        path.append(
            place + 0.0075 * (math.cos(angle) * across + math.sin(angle) * np.array([0, 0, 1]))
        )
    return tube(path, 0.0016, 6)


def _leg(top: Sequence[float], foot: Sequence[float]) -> Mesh:
    return tube([top, foot], lambda t: 0.021 - 0.008 * t, 14)


def _square_leg(at: tuple[float, float], height: float) -> Mesh:
    """A leg that becomes thinner towards the floor."""
    leg = box((0.06, height, 0.06), (0, height / 2, 0), bevel=0.004, tile=0.8)
    taper = 0.55 + 0.45 * leg.points[:, 1:2] / height
    points = np.concatenate(
        [leg.points[:, :1] * taper, leg.points[:, 1:2], leg.points[:, 2:] * taper], 1
    )
    return placed(leg._replace(points=points), (at[0], 0, at[1]))


def _upright_grain(mesh: Mesh) -> Mesh:
    """Turn the texture, so that the grain runs along x."""
    return mesh._replace(uv=mesh.uv[:, ::-1])


def _slab(width: float, height: float, depth: float, at: Sequence[float], corner: float) -> Mesh:
    """A board with round corners and a rounded edge."""
    rows = list[np.ndarray]()
    for share, level in ((0.5, -0.5), (0.12, -0.4), (0.0, 0.0), (0.12, 0.4), (0.5, 0.5)):
        inset = share * height
        ring = list[tuple[float, float, float]]()
        for quarter, (x, z) in enumerate(((1, 1), (-1, 1), (-1, -1), (1, -1))):
            for step in range(9):
                angle = math.pi / 2 * (quarter + step / 8)
                reach = max(corner - inset, 0.001)
                ring.append(
                    (
                        x * (width / 2 - inset - reach) + reach * math.cos(angle),
                        level * height,
                        z * (depth / 2 - inset - reach) + reach * math.sin(angle),
                    )
                )
        rows.append(np.array([*ring, ring[0]]))
    return placed(skinned(rows), at)


def _slat(width: float, height: float, level: float, lean: float) -> Mesh:
    """A board of a back, curved backwards in the middle."""
    rows = list[np.ndarray]()
    for step in range(17):
        t = 2 * step / 16 - 1
        x, z = t * width / 2, lean - 0.032 * (1 - t * t)
        low, high = level - height / 2, level + height / 2
        tilt = 0.21 * height / 2
        rows.append(
            np.array(
                [
                    (x, low, z + tilt + 0.007),
                    (x, high, z - tilt + 0.007),
                    (x, high, z - tilt - 0.007),
                    (x, low, z + tilt - 0.007),
                    (x, low, z + tilt + 0.007),
                ]
            )
        )
    return skinned(rows)
