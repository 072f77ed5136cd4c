"""Trees: a broad-leaved one and a pine."""

import math

import numpy as np

from samples.furniture import Parts
from samples.gltf import Material, Model, single
from samples.pictures import random
from samples.shapes import Mesh, flat, placed, skinned, sphere, tube

LEAVES = {
    "bark": Material((0.45, 0.33, 0.24), roughness=0.95),
    "light leaves": Material((0.56, 0.70, 0.28), roughness=0.9),
    "leaves": Material((0.40, 0.58, 0.24), roughness=0.9),
    "dark leaves": Material((0.27, 0.45, 0.22), roughness=0.9),
    "needles": Material((0.20, 0.42, 0.32), roughness=0.95),
    "light needles": Material((0.27, 0.51, 0.37), roughness=0.95),
}


def tree() -> Model:
    """A broad-leaved tree: a trunk that forks, and leaves in many clumps."""
    parts: Parts = [(_trunk(), "bark")]
    tips = [(0.9, 3.2, 0.3), (-0.8, 3.3, 0.5), (0.2, 3.7, -0.8), (-0.3, 3.1, -0.7), (0.1, 4.0, 0.2)]
    for number, tip in enumerate(tips):
        bend = (tip[0] * 0.3, 2.3 + 0.1 * number, tip[2] * 0.3)
        parts.append((tube([(0, 1.55, 0), bend, tip], lambda t: 0.11 - 0.08 * t, 8), "bark"))
    for number in range(42):
        angle, level = number * 2.39996, number / 41
        reach = 1.75 * math.sin(math.pi * (0.16 + 0.78 * level)) * (0.62 + 0.38 * random(number))
        size = 0.52 + 0.34 * random(100 + number)
        at = (reach * math.cos(angle), 2.55 + 2.3 * level, reach * math.sin(angle))
        shade = ("dark leaves", "leaves", "light leaves")[
            min(2, int(level * 1.9 + random(200 + number) * 1.1))
        ]
        parts.append((placed(clump(number), at, scale=size), shade))
    return single(
        "tree",
        parts,
        {name: LEAVES[name] for name in ("bark", "light leaves", "leaves", "dark leaves")},
    )


def _trunk() -> Mesh:
    path = [(0, 0, 0), (0.03, 0.5, 0.01), (-0.02, 1.1, 0.02), (0, 1.7, 0), (0.02, 2.9, -0.05)]
    return tube(path, lambda t: 0.30 * (1 - t) ** 3 + 0.19 * (1 - 0.75 * t), 14)


def clump(seed: int) -> Mesh:
    """An uneven ball with flat faces."""
    ball = sphere(1.0, 10)
    moved = list[list[float]]()
    for x, y, z in np.round(ball.points, 4).tolist():
        spot = round(1000 * (x * 3 + y * 7 + z * 11)) + 31 * seed
        reach = 0.84 + 0.3 * random(spot)
        moved.append([x * reach, y * reach * 0.85, z * reach])
    triangles = np.array(moved)[ball.faces]
    return flat([[tuple(corner) for corner in triangle] for triangle in triangles.tolist()])


def pine() -> Model:
    """A pine: a trunk and tiers of branches."""
    parts: Parts = [
        (tube([(0, 0, 0), (0, 2, 0), (0, 5.6, 0)], lambda t: 0.17 * (1 - t) + 0.02, 12), "bark")
    ]
    tiers = 9
    for tier in range(tiers):
        t = tier / (tiers - 1)
        radius, base, tall = 1.75 * (1 - t) ** 0.85 + 0.22, 0.9 + 4.5 * t, 1.15 - 0.35 * t
        rows = list[np.ndarray]()
        for reach, level in ((0.12, 0.3), (1.0, 0.0), (0.72, 0.22), (0.03, 1.0)):
            ring = list[tuple[float, float, float]]()
            for step in range(28):
                angle = 2 * math.pi * step / 28 + tier
                point = radius * reach * (1.0 + (0.16 if step % 2 else -0.1) * (reach > 0.5))
                drop = -0.1 * radius if step % 2 and reach > 0.5 else 0.0
                ring.append(
                    (point * math.cos(angle), base + level * tall + drop, point * math.sin(angle))
                )
            rows.append(np.array([*ring, ring[0]]))
        parts.append((skinned(rows), "needles" if tier % 2 else "light needles"))
    return single(
        "pine", parts, {name: LEAVES[name] for name in ("bark", "needles", "light needles")}
    )
