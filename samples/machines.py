"""Machine parts: gears, a planetary set, a bearing, bolts and nuts."""

import math
from functools import cache

import numpy as np

from samples.gltf import Material, Model, Node, Turning, single
from samples.outlines import Point, circle, gear
from samples.shapes import (
    Mesh,
    cleaned,
    cylinder,
    extrude,
    lathe,
    merged,
    placed,
    skinned,
    sphere,
    turn,
)

METALS = {
    "steel": Material((0.70, 0.72, 0.75), 1.0, 0.35),
    "dark steel": Material((0.36, 0.39, 0.43), 1.0, 0.45),
    "brass": Material((0.86, 0.70, 0.36), 1.0, 0.3),
    "bronze": Material((0.72, 0.47, 0.28), 1.0, 0.4),
    "blue steel": Material((0.30, 0.44, 0.60), 1.0, 0.4),
}
MODULE = 0.002
SUN, PLANET, RING = 18, 15, 48
_FLAT = turn("x", -90)
"""What is drawn in x and y lies down, with z upwards."""


@cache
def spur_gear(teeth: int = 24, *, width: float = 0.012, bore: float = 0.006) -> Mesh:
    """A spur gear with a raised rim, a hub with a keyway, and holes that make it lighter."""
    outline = gear(teeth, MODULE)
    pitch = teeth * MODULE / 2
    rim, hub = pitch - 2.2 * MODULE, bore * 1.75
    hole = _keyed(bore)
    parts = [extrude(outline, width, [circle(rim, 64)])]
    parts.append(extrude(circle(hub, 48), width * 1.3, [hole]))
    ring, middle = (rim - hub), (rim + hub) / 2
    lighter = (
        [
            circle(ring * 0.3, 28, (middle * math.cos(a), middle * math.sin(a)))
            for a in np.arange(6) * math.pi / 3 + math.pi / 6
        ]
        if ring > 0.008
        else []
    )
    web = extrude(circle(rim, 64), width * 0.5, [circle(hub, 48), *lighter])
    parts.append(placed(web, (0, 0, width * 0.25)))
    return placed(merged(parts), turned=_FLAT)


@cache
def pinion(teeth: int = PLANET, *, width: float = 0.012, bore: float = 0.004) -> Mesh:
    """A small gear without a web."""
    return placed(extrude(gear(teeth, MODULE), width, [circle(bore, 36)]), turned=_FLAT)


@cache
def ring_gear(teeth: int = RING, *, width: float = 0.012) -> Mesh:
    """A ring with teeth inside, and six holes for screws."""
    inner = gear(teeth, MODULE)
    pitch = teeth * MODULE / 2
    # The gap between teeth of a ring is a tooth of the gear: mirrored about the pitch circle.
    inside = [_mirrored(point, pitch) for point in inner]
    outer = pitch + 5.2 * MODULE
    holes = [
        circle(0.0017, 16, ((outer - 0.0045) * math.cos(a), (outer - 0.0045) * math.sin(a)))
        for a in np.arange(6) * math.pi / 3
    ]
    plate = extrude(circle(outer, 120), width, [inside, *holes])
    return placed(plate, turned=_FLAT)


def _mirrored(point: Point, pitch: float) -> Point:
    """Limit a point of the outline to the depth of a tooth of a ring."""
    radius, angle = math.hypot(*point), math.atan2(point[1], point[0])
    radius = (
        min(radius, pitch + 1.0 * MODULE) if radius > pitch else max(radius, pitch - 0.95 * MODULE)
    )
    return radius * math.cos(angle), radius * math.sin(angle)


def planetary_set() -> Model:
    """A planetary gear: the sun turns three planets in the ring; their carrier follows."""
    reach = (SUN + PLANET) * MODULE / 2
    ring = [Node("ring", [(ring_gear(), "blue steel")])]
    sun_teeth = merged(
        [
            pinion(SUN, width=0.013, bore=0.006),
            placed(cylinder(0.0059, 0.026, 32, bevel=0.0008), (0, -0.004, 0)),
        ]
    )
    sun = Node("sun", [(placed(sun_teeth, turned=turn("y", 180 / SUN)), "brass")])
    planets, arms = list[Node](), list[Mesh]()
    for number in range(3):
        angle = 2 * math.pi * number / 3
        at = (reach * math.cos(angle), 0.0, -reach * math.sin(angle))
        body = placed(pinion(PLANET, bore=0.004), turned=turn("y", _phase(number)))
        pin = placed(cylinder(0.0039, 0.02, 24, bevel=0.0006), (0, -0.004, 0))
        planets.append(Node(f"planet {number + 1}", [(body, "steel"), (pin, "dark steel")], at=at))
        arms.append(placed(cylinder(0.0078, 0.003, 36, bevel=0.0005), (at[0], -0.0045, at[2])))
        bar = extrude([(0, -0.006), (reach, -0.006), (reach, 0.006), (0, 0.006)], 0.003)
        arms.append(
            placed(
                placed(bar, turned=_FLAT), (0, -0.0045, 0), turned=turn("y", math.degrees(angle))
            )
        )
    arms.append(placed(cylinder(0.011, 0.003, 40, bevel=0.0005), (0, -0.0045, 0)))
    carrier = Node("carrier", [(merged(arms), "bronze")], children=planets)
    names = ("steel", "brass", "bronze", "blue steel", "dark steel")
    return Model(
        "planetary gear set",
        {name: METALS[name] for name in names},
        [*ring, sun, carrier],
        turnings=_moves(),
    )


def _moves() -> list[Turning]:
    """Return the turns of sun, carrier and planets while the ring stands still."""
    ratio = 1 + RING / SUN
    seconds, steps = 8.0, 64
    times = [seconds * step / steps for step in range(steps + 1)]
    turned = 360.0 / 3
    own = turned * (RING / PLANET)
    moves = [
        Turning("carrier", "y", [(t, turned * t / seconds) for t in times]),
        Turning("sun", "y", [(t, turned * ratio * t / seconds) for t in times]),
    ]
    moves += [
        Turning(f"planet {n + 1}", "y", [(t, -own * t / seconds) for t in times]) for n in range(3)
    ]
    return moves


def _phase(number: int) -> float:
    """Return how far a planet is turned, so that its teeth are in the gaps of the ring."""
    return 120.0 * number * (1 - RING / PLANET)


def bearing() -> Model:
    """A ball bearing with nine balls and a cage."""
    width, groove = 0.008, 0.0042
    middle = 0.0155
    inner, outer = _races(width, groove, middle)
    balls = [
        placed(sphere(0.0030, 20), (middle * math.cos(a), width / 2, middle * math.sin(a)))
        for a in np.arange(9) * 2 * math.pi / 9
    ]
    cage = lathe(
        [(0.0145, 0.0034), (0.0165, 0.0034), (0.0165, 0.0046), (0.0145, 0.0046)], 60, closed=True
    )
    parts = [
        (lathe(inner, 72, closed=True), "steel"),
        (lathe(outer, 72, closed=True), "steel"),
        (merged(balls), "chrome"),
        (cage, "brass"),
    ]
    materials = {
        "steel": METALS["steel"],
        "brass": METALS["brass"],
        "chrome": Material((0.88, 0.9, 0.93), 1.0, 0.08),
    }
    return single("ball bearing", parts, materials)


def _races(
    width: float, groove: float, middle: float
) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """Return the profiles of the inner and the outer ring, each with a groove for the balls."""
    arc = [(math.cos(a), math.sin(a)) for a in np.linspace(-1.0, 1.0, 9)]
    inner = [
        (0.010, 0.0),
        (0.0133, 0.0),
        *((middle - groove * x * 0.82, groove * y * 0.82 + width / 2) for x, y in arc),
        (0.0133, width),
        (0.010, width),
        (0.0095, width - 0.0005),
        (0.0095, 0.0005),
    ]
    outer = [
        (0.0213, 0.0),
        (0.0219, 0.0006),
        (0.0219, width - 0.0006),
        (0.0213, width),
        (0.0177, width),
        *((middle + groove * x * 0.82, groove * y * 0.82 + width / 2) for x, y in reversed(arc)),
        (0.0177, 0.0),
    ]
    return inner, outer


def hexagon(across: float, height: float, bore: float = 0.0) -> Mesh:
    """A hexagonal prism with chamfered corners, as heads of bolts and nuts have."""
    outer = across / math.sqrt(3)
    rows = list[np.ndarray]()
    for level, limit in ((0.0, 0.955), (0.05, 1.0), (0.93, 1.0), (1.0, 0.94)):
        ring = list[tuple[float, float, float]]()
        for step in range(48):
            angle = 2 * math.pi * step / 48
            flat = across / 2 / math.cos((angle + math.pi / 6) % (math.pi / 3) - math.pi / 6)
            reach = min(flat, outer * limit)
            ring.append((reach * math.cos(angle), height * level, reach * math.sin(angle)))
        rows.append(np.array([*ring, ring[0]]))
    if bore:
        for level in (1.0, 0.0):
            hole = [
                (
                    bore * math.cos(2 * math.pi * s / 48),
                    height * level,
                    bore * math.sin(2 * math.pi * s / 48),
                )
                for s in range(49)
            ]
            rows.append(np.array(hole))
        rows.append(rows[0])
    return skinned(rows, ends=not bore)


def thread(radius: float, pitch: float, length: float, *, sides: int = 24) -> Mesh:
    """A bar with a helical thread, closed below."""
    turns = length / pitch
    depth = 0.61 * pitch
    rows = list[np.ndarray]()
    steps = round(turns * 4)
    for step in range(steps + 1):
        ring = list[tuple[float, float, float]]()
        for side in range(sides + 1):
            around = side % sides / sides
            height = length * step / steps
            phase = (height / pitch - around) % 1.0
            ridge = 1 - abs(2 * phase - 1)
            taper = min(1.0, (height / pitch) * 0.6 + 0.2)
            reach = radius - depth * (1 - ridge * taper)
            ring.append(
                (
                    reach * math.cos(2 * math.pi * around),
                    height,
                    reach * math.sin(2 * math.pi * around),
                )
            )
        rows.append(np.array(ring))
    return skinned(rows)


def bolt(size: float, length: float, *, pitch: float) -> Mesh:
    """A bolt with a hexagonal head: the head, the shank and the thread, standing on its head."""
    head = 0.65 * size
    threaded = length * 0.62
    parts = [hexagon(1.6 * size, head)]
    parts.append(placed(cylinder(0.78 * size, 0.05 * size, 40), (0, head, 0)))
    parts.append(placed(cylinder(size / 2, length - threaded, 32), (0, head, 0)))
    end = thread(size / 2, pitch, threaded)
    parts.append(placed(end, (0, head + length, 0), turned=turn("x", 180)))
    return cleaned(merged(parts))


def nut(size: float, *, pitch: float) -> Mesh:
    """A nut with a chamfered bore."""
    body = hexagon(1.6 * size, 0.8 * size, bore=size * 0.5)
    grooves = [
        lathe([(size * 0.5, y), (size * 0.455, y + pitch / 2), (size * 0.5, y + pitch)][::-1], 40)
        for y in np.arange(0.06 * size, 0.74 * size - pitch / 2, pitch)
    ]
    return merged([body, *grooves])


def washer(size: float) -> Mesh:
    """A flat ring below the head of a bolt."""
    inner, outer, high = 0.54 * size, size, 0.2 * size
    return lathe([(inner, 0), (outer, 0), (outer, high), (inner, high)], 24, closed=True)


def _keyed(bore: float) -> list[Point]:
    """A bore with a keyway."""
    half, depth = bore * 0.28, bore * 1.32
    start = math.asin(half / bore)
    arc = [math.pi / 2 + start + (2 * math.pi - 2 * start) * step / 35 for step in range(36)]
    points = [(bore * math.cos(a), bore * math.sin(a)) for a in arc]
    return [*points, (half, depth), (-half, depth)]


def in_metal(name: str, mesh: Mesh, metal: str) -> Model:
    return single(name, [(mesh, metal)], {metal: METALS[metal]})
