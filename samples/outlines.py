"""Outlines in a plane: circles, gears, and the triangles that fill polygons with holes."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Point = tuple[float, float]
Outline = Sequence[Point]
_NEAR, _TINY = 1e-12, 1e-24


def circle(
    radius: float, count: int = 32, at: Point = (0.0, 0.0), start: float = 0.0
) -> list[Point]:
    """Return points on a circle, counter-clockwise."""
    angles = [start + 2 * math.pi * index / count for index in range(count)]
    return [(at[0] + radius * math.cos(a), at[1] + radius * math.sin(a)) for a in angles]


def area(outline: Outline) -> float:
    """Return the area inside; negative if the outline runs clockwise."""
    pairs = zip(outline, [*outline[1:], outline[0]], strict=True)
    return sum(a[0] * b[1] - b[0] * a[1] for a, b in pairs) / 2


def gear(
    teeth: int, module: float, *, pressure: float = 20.0, points: int = 6, shift: float = 0.0
) -> list[Point]:
    """Return the outline of a spur gear with involute flanks; the middle of a tooth is at +x.

    `shift` widens the teeth (and narrows the gaps) by a part of the module.
    """
    pitch = teeth * module / 2
    base = pitch * math.cos(math.radians(pressure))
    tip, root = pitch + module, pitch - 1.25 * module
    alpha = math.radians(pressure)
    half = math.pi / (2 * teeth) + shift / teeth + math.tan(alpha) - alpha
    lowest = max(base, root)
    flank = list[Point]()
    for index in range(points):
        radius = lowest + (tip - lowest) * index / (points - 1)
        turned = math.acos(min(1.0, base / radius))
        flank.append((radius, half - (math.tan(turned) - turned)))
    sides = [(radius, -angle) for radius, angle in flank] + list(reversed(flank))
    between = 2 * math.pi / teeth
    foot = min(0.48 * between, flank[0][1] + 0.12 * between) if root < base else flank[0][1]
    if root < lowest:
        sides = [(root, -foot), *sides, (root, foot)]
    outline = list[Point]()
    for tooth in range(teeth):
        for radius, angle in sides:
            whole = angle + between * tooth
            outline.append((radius * math.cos(whole), radius * math.sin(whole)))
    return outline


def triangulated(
    loops: Sequence[Sequence[Point]],
) -> tuple[list[Point], list[tuple[int, int, int]]]:
    """Return the points of all loops, and triangles between the first loop and the holes in it.

    The first loop runs counter-clockwise, the holes run clockwise.
    """
    points = [point for loop in loops for point in loop]
    starts = [sum(len(loop) for loop in loops[:index]) for index in range(len(loops))]
    ring = list(range(len(loops[0])))
    holes = [
        list(range(start, start + len(loop)))
        for start, loop in zip(starts[1:], loops[1:], strict=True)
    ]
    for hole in sorted(holes, key=lambda hole: -max(points[index][0] for index in hole)):
        ring = _bridged(points, ring, hole)
    return points, _ears(points, ring)


def _bridged(points: Sequence[Point], ring: list[int], hole: list[int]) -> list[int]:
    """Return one loop of both, joined by the shortest line that crosses neither."""
    start = max(range(len(hole)), key=lambda place: points[hole[place]][0])
    corner = points[hole[start]]
    order = sorted(range(len(ring)), key=lambda place: math.dist(points[ring[place]], corner))
    for place in order:
        end = points[ring[place]]
        if end[0] >= corner[0] and not _crosses(points, ring, corner, end):
            opened = hole[start:] + hole[: start + 1]
            return [*ring[: place + 1], *opened, *ring[place:]]
    raise ValueError("a hole is not inside its outline")


def _crosses(points: Sequence[Point], ring: Sequence[int], a: Point, b: Point) -> bool:
    for index, first in enumerate(ring):
        c, d = points[first], points[ring[(index + 1) % len(ring)]]
        apart = _turn(a, b, c) * _turn(a, b, d), _turn(c, d, a) * _turn(c, d, b)
        if max(apart) < -_TINY:
            return True
    return False


def _turn(a: Sequence[float], b: Sequence[float], c: Sequence[float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _ears(points: Sequence[Point], ring: Sequence[int]) -> list[tuple[int, int, int]]:
    left, triangles = list(ring), list[tuple[int, int, int]]()
    places = np.array(points)
    at = 0
    while len(left) > 3:
        for step in range(len(left)):
            place = (at + step) % len(left)
            a, b, c = left[place - 1], left[place], left[(place + 1) % len(left)]
            if _is_ear(places, left, (a, b, c)):
                triangles.append((a, b, c))
                del left[place]
                at = place + 1  # the next ear elsewhere: long fans of thin triangles look bad
                break
        else:
            raise ValueError("the outline crosses itself")
    return [*triangles, (left[0], left[1], left[2])]


def _is_ear(places: Floats, left: Sequence[int], ear: tuple[int, int, int]) -> bool:
    a, b, c = (places[index] for index in ear)
    if _turn(a, b, c) < -_NEAR:
        return False
    others = places[left]
    corners = (others[:, None] == places[list(ear)][None]).all(2).any(1)
    inside = np.ones(len(left), bool)
    for start, end in ((a, b), (b, c), (c, a)):
        across = (end[0] - start[0]) * (others[:, 1] - start[1])
        inside &= across - (end[1] - start[1]) * (others[:, 0] - start[0]) > -_NEAR
    return not bool((inside & ~corners).any())
