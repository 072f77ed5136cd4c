"""A robot arm with six joints that picks something up, as an animated model; and a crate."""

import math

import numpy as np

from samples.furniture import Parts
from samples.gltf import Material, Model, Node, Turning, single
from samples.pictures import Floats, fractal, jpeg, mixed, squares
from samples.shapes import Mesh, box, cylinder, lathe, merged, placed, tube, turn

_PAINT = {
    "orange": Material((0.95, 0.48, 0.11), roughness=0.35),
    "dark": Material((0.20, 0.22, 0.25), roughness=0.5),
    "metal": Material((0.78, 0.80, 0.83), 1.0, 0.25),
    "floor": Material((0.62, 0.65, 0.68), roughness=0.8),
}


def robot_arm() -> Model:
    """An industrial arm: each joint is a node, so that an animation can turn it."""
    upper: Parts = [
        (_drum(0.135, 0.34), "dark"),
        (_limb([(0, 0, 0), (0, 0.3, 0.03), (0, 0.62, 0)], [0.115, 0.095, 0.085]), "orange"),
    ]
    shoulder = Node("upper arm", upper, at=(0, 0.42, 0.09), children=[_forearm()])
    column: Parts = [
        (
            placed(
                lathe([(0, 0), (0.19, 0), (0.19, 0.06), (0.15, 0.14), (0.14, 0.26), (0, 0.26)], 48),
                (0, 0.1, 0),
            ),
            "orange",
        )
    ]
    for x in (-1, 1):
        column.append((box((0.07, 0.3, 0.26), (x * 0.125, 0.4, 0.06), bevel=0.02), "orange"))
    turntable = Node("column", column, children=[shoulder])
    turnings = _moves()
    resting = {turning.node: (turning.axis, turning.keys[0][1]) for turning in turnings}
    return Model(
        "robot arm",
        _PAINT,
        [Node("foot", _foot(), children=[turntable])],
        turnings=turnings,
        resting=resting,
    )


def _forearm() -> Node:
    """The part from the elbow on, with wrist and hand."""
    hand = Node("hand", _hand(), at=(0, 0, 0.13))
    wrist = Node(
        "wrist",
        [
            (_drum(0.055, 0.15), "dark"),
            (
                placed(cylinder(0.045, 0.1, 28, bevel=0.008), (0, 0, 0.02), turned=turn("x", 90)),
                "orange",
            ),
        ],
        at=(0, 0.05, 0.62),
        children=[hand],
    )
    forearm: Parts = [
        (_drum(0.105, 0.25), "dark"),
        (_limb([(0, 0.03, 0), (0, 0.06, 0.18), (0, 0.05, 0.62)], [0.1, 0.085, 0.055]), "orange"),
    ]
    forearm.append((placed(box((0.13, 0.13, 0.2), bevel=0.02), (0, 0.08, -0.1)), "dark"))
    return Node("forearm", forearm, at=(0, 0.62, 0), children=[wrist])


def _foot() -> Parts:
    """The foot, on a plate, with its screws."""
    foot: Parts = [
        (cylinder(0.24, 0.1, 56, bevel=0.012), "dark"),
        (placed(box((0.9, 0.03, 0.9), bevel=0.01), (0, -0.015, 0)), "floor"),
    ]
    foot += [
        (placed(cylinder(0.018, 0.02, 6), (0.21 * math.cos(a), 0.1, 0.21 * math.sin(a))), "metal")
        for a in np.arange(8) * math.pi / 4
    ]
    return foot


def _moves() -> list[Turning]:
    """Return the turns of the joints: down to one place, over to another, and back."""
    poses = [(0.0, -50, -22, 36, 76), (1.2, -95, 22, 12, 56), (2.0, -95, 40, 8, 42)]
    poses += [(2.8, -95, 22, 12, 56), (4.2, 20, 18, 15, 57), (5.0, 20, 36, 12, 42)]
    poses += [(5.8, 20, 18, 15, 57), (7.0, -50, -22, 36, 76)]
    keys = {
        name: [(pose[0], pose[1 + index]) for pose in poses]
        for index, name in enumerate(("column", "upper arm", "forearm", "wrist"))
    }
    return [
        Turning(name, "y" if name == "column" else "x", values) for name, values in keys.items()
    ]


def _drum(radius: float, width: float) -> Mesh:
    """A joint: a cylinder along x with caps."""
    drum = cylinder(radius, width, 40, bevel=0.012)
    return placed(placed(drum, (0, -width / 2, 0)), turned=turn("z", 90))


def _limb(path: list[tuple[float, float, float]], radii: list[float]) -> Mesh:
    count = len(radii) - 1

    def radius(t: float) -> float:
        at = min(int(t * count), count - 1)
        part = t * count - at
        return radii[at] * (1 - part) + radii[at + 1] * part

    points = np.array(path)
    smooth = [
        points[0] * (1 - t) ** 2 + 2 * points[1] * t * (1 - t) + points[2] * t * t
        for t in np.linspace(0, 1, 15)
    ]
    return tube(smooth, radius, 28)


def _hand() -> Parts:
    """A gripper with two fingers, along z."""
    flange = placed(cylinder(0.035, 0.05, 28, bevel=0.005), (0, 0, -0.02), turned=turn("x", 90))
    parts: Parts = [(flange, "metal"), (box((0.16, 0.06, 0.045), (0, 0, 0.05), bevel=0.01), "dark")]
    for x in (-1, 1):
        parts.append((box((0.022, 0.04, 0.1), (x * 0.062, 0, 0.115), bevel=0.005), "metal"))
        parts.append((box((0.03, 0.034, 0.02), (x * 0.055, 0, 0.16), bevel=0.004), "dark"))
    return parts


def crate_images(side: int = 256) -> dict[str, bytes]:
    """Return the colour, the normals, and occlusion, roughness and metalness of a crate's side."""
    x, y = squares(side)
    plank, iron, height = _planks(x, y)
    wear = fractal(x * 6, y * 6, 4)
    rust = mixed((0.33, 0.33, 0.36), (0.50, 0.31, 0.20), 2.2 * (wear - 0.42))
    color = np.where(iron[..., None] > 0, rust, plank)
    slope_x = np.gradient(height, axis=1) * side * 0.016
    slope_y = np.gradient(height, axis=0) * side * 0.016
    normals = np.stack([-slope_x, slope_y, np.ones_like(height)], -1)
    normals = normals / np.sqrt((normals * normals).sum(-1, keepdims=True)) * 0.5 + 0.5
    occlusion = np.clip(0.55 + height * 0.6, 0.3, 1)
    rough = np.where(iron > 0, 0.4 + 0.35 * wear, 0.75 + 0.2 * wear)
    surface = np.stack(
        [occlusion, rough, np.where(iron > 0, np.clip(1.3 - 1.2 * wear, 0, 1), 0)], -1
    )
    color = color * (0.5 + 0.5 * occlusion[..., None])
    return {"color": jpeg(color), "normals": jpeg(normals), "surface": jpeg(surface)}


def _planks(x: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the colours of the wood, where iron is, and how high each place is."""
    frame = np.minimum(np.minimum(x, 1 - x), np.minimum(y, 1 - y))
    diagonal = np.abs(x - y) / math.sqrt(2)
    in_frame, in_bar = frame < 0.13, (diagonal < 0.075) & (frame >= 0.13)
    across = np.where(in_bar, (x - y) * 3, np.where(in_frame, frame * 4, y * 6))
    along = np.where(
        in_bar, x + y, np.where(np.minimum(y, 1 - y) < 0.13, x, np.where(in_frame, y, x))
    )
    board = np.where(in_frame | in_bar, 9, np.floor(y * 6))
    grain = fractal(along * 4 + board * 3.7, across * 9 + board * 5.1, 4)
    tone = 0.35 + 0.3 * fractal(board * 1.7, board * 0.9, 1)
    wood = mixed((0.42, 0.27, 0.15), (0.80, 0.60, 0.38), tone * 0.75 + 1.1 * (grain - 0.38))
    wood = np.where((in_frame | in_bar)[..., None], wood * 1.1 + 0.02, wood * 0.86)
    seam = np.where(
        in_frame | in_bar, 1.0, np.clip(np.minimum(y * 6 % 1, 1 - y * 6 % 1) * 14, 0, 1)
    )
    rim = np.clip(
        np.minimum(np.abs(frame - 0.13), np.where(frame > 0.13, np.abs(diagonal - 0.075), 1)) * 60,
        0.45,
        1,
    )
    corner = np.minimum(x, 1 - x) + np.minimum(y, 1 - y)
    iron = ((corner < 0.20) & in_frame).astype(float)
    nails = np.zeros_like(x)
    for cx, cy in ((0.05, 0.05), (0.12, 0.05), (0.05, 0.12)):
        nails = np.maximum(
            nails,
            np.clip(
                1.6 - np.hypot(np.minimum(x, 1 - x) - cx, np.minimum(y, 1 - y) - cy) * 110, 0, 1
            ),
        )
    height = 0.35 * (in_frame | in_bar) + 0.25 * seam + 0.12 * grain + 0.12 * iron + 0.2 * nails
    return (
        wood * (0.35 + 0.65 * seam * rim)[..., None],
        np.maximum(iron, nails),
        np.clip(height, 0, 1),
    )


def crate() -> Model:
    """A wooden crate with iron corners: colour, normals and surface are textures."""
    side = 0.8
    cube = box((side, side, side), (0, side / 2, 0), tile=side)
    uv = np.concatenate(
        [
            cube.uv[face * 4 : face * 4 + 4] - cube.uv[face * 4 : face * 4 + 4].min(0)
            for face in range(6)
        ]
    )
    material = Material((1, 1, 1), 1.0, 1.0, texture="color", normals="normals", surface="surface")
    model = single("crate", [(merged([cube._replace(uv=uv)]), "planks")], {"planks": material})
    model.images = crate_images()
    return model
