"""Shapes, meshes and numbers of robots and worlds in XML (URDF, SDF, MJCF)."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from xml.etree.ElementTree import Element

import numpy as np

from backend.processing import limits
from backend.processing.files import Files
from backend.processing.readers.soundness import no_number, number
from backend.processing.readers.transforms import transform
from backend.processing.readers.xml_start import Elements, tree_of
from backend.processing.scene import METRE, Floats, Material, Part, RefusedError, Scene
from backend.spec.formats import extension_of

# By the content, the name, the extension and the files beside it.
ReadMesh = Callable[[bytes, str, str, Files], Scene]

_MESHES = {"dae", "glb", "gltf", "obj", "ply", "stl"}
GREY = (0.8, 0.8, 0.8, 1.0)
_SIDES, _RINGS = 32, 17  # of round shapes
_CORNERS = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
_FACES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))


def numbers(text: str | None, default: Sequence[float], place: str, fewest: int = 0) -> Floats:
    """Return the numbers of an attribute, as many as the default has or at least the fewest.

    Raises:
        RefusedError: they are not finite numbers, or too few or many.
    """
    if text is None:
        return np.array(default, np.float64)
    values = list[float]()
    for token in text.split():
        value = number(token.encode())
        if value is None and "${" in text:
            raise RefusedError(f"{place}: macros of xacro are not expanded: run xacro first")
        if value is None:
            raise no_number(place, token.encode())
        if not math.isfinite(value):
            raise RefusedError(f"{place}: '{token:.40}' is not finite")
        values.append(value)
    if not (fewest or len(default)) <= len(values) <= len(default):
        raise RefusedError(f"{place}: has {len(values)} numbers instead of {len(default)}")
    return np.array(values)


def turn(axis: Sequence[float] | Floats, angle: float) -> Floats:
    """Return the rotation around an axis, by Rodrigues' formula."""
    x, y, z = np.array(axis) / (np.linalg.norm(axis) or 1)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross


def roll_pitch_yaw(angles: Floats) -> Floats:
    roll, pitch, yaw = angles
    return turn((0, 0, 1), yaw) @ turn((0, 1, 0), pitch) @ turn((1, 0, 0), roll)


def quaternion(w: float, axis: Floats) -> Floats:
    return turn(axis, 2 * math.atan2(float(np.linalg.norm(axis)), w))


def place(position: Floats, linear: Floats | None = None) -> Floats:
    """Return the matrix of a place, with a rotation or scale."""
    matrix = np.eye(4)
    matrix[:3, 3] = position
    if linear is not None:
        matrix[:3, :3] = linear
    return matrix


def box() -> Part:
    """Return a box from -1 to 1."""
    triangles = [t for a, b, c, d in _FACES for t in ((a, b, c), (a, c, d))]
    return Part(np.array(_CORNERS, np.float64), np.array(triangles))


def turned(profile: Sequence[tuple[float, float]]) -> Part:
    """Return a solid of revolution around z, by the radii and heights of its profile."""
    radii, heights = np.array(profile).T
    angles = np.arange(_SIDES) * 2 * np.pi / _SIDES
    ring = np.stack([np.cos(angles), np.sin(angles), np.ones(_SIDES)], 1)
    positions = ring * np.stack([radii, radii, heights], 1)[:, None]
    here = np.arange(len(profile) * _SIDES).reshape(-1, _SIDES)
    beside = np.roll(here, -1, 1)
    lower = np.stack([here[:-1], beside[:-1], beside[1:]], -1)[radii[:-1] > 0]
    upper = np.stack([here[:-1], beside[1:], here[1:]], -1)[radii[1:] > 0]
    return Part(positions.reshape(-1, 3), np.concatenate([lower, upper]).reshape(-1, 3))


def cylinder() -> Part:
    """Return a cylinder of radius 1 from -1 to 1."""
    return turned([(0, -1), (1, -1), (1, 1), (0, 1)])


def capsule(radius: float = 1, half: float = 0) -> Part:
    """Return a capsule along z, whose cylinder is twice as long as `half`; without one a sphere."""
    angles = np.linspace(-np.pi / 2, np.pi / 2, _RINGS)
    profile = [
        (radius * math.cos(angle), radius * math.sin(angle) + math.copysign(half, angle))
        for angle in angles[1:-1].tolist()
    ]
    return turned([(0, -radius - half), *profile, (0, radius + half)])


class Robot:
    """Collects the shapes of a robot or world."""

    def __init__(self, files: Files, read_mesh: ReadMesh) -> None:
        self.files = files
        self._read_mesh = read_mesh
        self._parts: list[Part] = []
        self._materials = [Material(declared=False)]
        self._numbers: dict[tuple[object, ...], int] = {}
        self._meshes: dict[str, tuple[Scene, int] | None] = {}
        self._left_out: dict[str, tuple[int, str]] = {}
        self._shapes = 0
        self._vertices = 0

    def document(self, data: bytes, *names: str) -> Element:
        """Return the root of a document, which has one of these names."""
        element = tree_of(data, Elements(), with_namespaces=False)
        if element.tag not in names:
            raise RefusedError(f"its first element is {element.tag:.100}, not {names[0]}")
        return element

    def leave_out(self, what: str, first: str) -> None:
        count, known = self._left_out.get(what, (0, first))
        self._left_out[what] = count + 1, known

    def material(self, name: str, color: Floats, texture: bytes | None = None) -> int:
        """Return the number of a material of three or four channels, which may be known."""
        red, green, blue, alpha = np.clip([*color, 1][:4], 0, 1).tolist()
        key = name, red, green, blue, alpha, texture
        if key not in self._numbers:
            self._numbers[key] = len(self._materials)
            self._materials.append(Material(name, (red, green, blue, alpha), texture))
        return self._numbers[key]

    def add(self, part: Part, world: Floats, material: int) -> None:
        """Add a shape that is no mesh."""
        self._shapes += 1
        self._add(part, world, material)

    def add_mesh(self, written: str, files: Files, world: Floats, material: int) -> None:
        """Add a mesh of a file. It has the material only where it has none of its own."""
        self._shapes += 1
        path = files.path_of(written)
        if path not in self._meshes:
            scene = self._open(written, files)
            self._meshes[path] = (scene, len(self._materials)) if scene else None
            self._materials += scene.materials if scene else ()
        known = self._meshes[path]
        if known is None:
            return
        scene, first = known
        if scene.unit is not None:
            world = world @ np.diag([scene.unit.metres] * 3 + [1])
        for part in scene.parts:
            given = 0 <= part.material < len(scene.materials)
            is_own = given and scene.materials[part.material].declared
            self._add(part, world, first + part.material if is_own else material)

    def _open(self, written: str, files: Files) -> Scene | None:
        extension = extension_of(written)
        if extension not in _MESHES:
            self.leave_out("meshes in a format that is not read here", written)
            return None
        data = None
        if len(self._meshes) < limits.REFERENCES:
            data = files.read(written, "model")
        if data is None:
            self.leave_out("meshes that are missing", written)
            return None
        try:
            scene = self._read_mesh(data, f"mesh.{extension}", extension, files.beside(written))
        except RefusedError as error:
            self.leave_out("meshes that cannot be read", f"{written}: {error}")
            return None
        if scene.left_out:
            self.leave_out("meshes without some elements", f"{written}: {scene.left_out[0]}")
        return scene

    def _add(self, part: Part, world: Floats, material: int) -> None:
        self._vertices += len(part.positions)
        if self._vertices > limits.VERTICES:
            raise RefusedError(f"has more than {limits.VERTICES} vertices")
        self._parts.append(replace(transform(part, world), material=material))

    def scene(self, format_: str, links: int, joints: int, generator: str = "") -> Scene:
        """Return all shapes as a scene in metres with z up, as these formats define."""
        if not links and not self._shapes:
            raise RefusedError("contains no links and no shapes")
        return Scene(
            format_,
            self._parts,
            self._materials,
            self._shapes,
            generator=generator[:200],
            up="z",
            defines_up=True,
            unit=METRE,
            left_out=tuple(
                f"{count} {what} (first: {first})"
                for what, (count, first) in self._left_out.items()
            ),
            facts={"links": links, "joints": joints},
        )
