"""MJCF, the format of models of MuJoCo, at the reference positions of the joints."""

import math
import posixpath
from collections import defaultdict
from collections.abc import Mapping
from xml.etree.ElementTree import Element

import numpy as np

from backend.processing.files import Files
from backend.processing.readers.robots import (
    ReadMesh,
    Robot,
    box,
    capsule,
    cylinder,
    numbers,
    place,
    quaternion,
    turn,
)
from backend.processing.scene import Floats, RefusedError, Scene

Attributes = Mapping[str, str]

_AXES = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}
_GREY = (0.5, 0.5, 0.5, 1.0)
# Geoms of higher groups, mostly for collisions, are hidden in MuJoCo's viewer.
_SHOWN_GROUPS = 3
# How many numbers the size of a geom has.
_SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3, "ellipsoid": 3}
_NOT_READ = {"attach", "composite", "flexcomp", "replicate", "skin"}


def read(data: bytes, files: Files, read_mesh: ReadMesh) -> Scene:
    """Read a model.

    Raises:
        RefusedError: it is not valid, or too large.
    """
    robot = Robot(files, read_mesh)
    root = robot.document(data, "mujoco")
    _include(root, robot)
    return _Model(root, robot).scene(root.get("model", ""))


def _include(root: Element, robot: Robot) -> None:
    """Replace each `include` by the elements of its file. MuJoCo includes a file once, too."""
    included = set[str]()
    waiting = [root]
    while waiting:
        element = waiting.pop()
        children = list[Element]()
        queue = list(reversed(element))
        while queue:
            child = queue.pop()
            if child.tag != "include":
                children.append(child)
                continue
            name = child.get("file", "")
            data = None if name in included else robot.files.read(name, "model")
            if data is None:
                again = "files that are included twice" if name in included else "missing files"
                robot.leave_out(again, name)
            else:
                included.add(name)
                queue += reversed(robot.document(data, "mujoco", "mujocoinclude"))
        element[:] = children
        waiting += children


class _Model:
    def __init__(self, root: Element, robot: Robot) -> None:
        self._robot = robot
        self._settings: dict[str, str] = {}
        self._defaults: dict[str, dict[str, dict[str, str]]] = {"": {}}
        self._assets = defaultdict[str, dict[str, Attributes]](dict)
        self._shapes = defaultdict[bool, list[tuple[Attributes, Floats]]](list)
        self._bodies = self._joints = 0
        for compiler in root.iterfind("compiler"):
            self._settings |= compiler.attrib
        if self._settings.get("coordinate") == "global":
            raise RefusedError("its coordinates are global, which MuJoCo 2.3.4 and later refuse")
        for element in root.iterfind("default"):
            self._add_defaults(element, "", self._defaults[""])
        for asset in root.iterfind("asset/*"):
            attributes = self._with_defaults(asset, "")
            stem = posixpath.splitext(posixpath.basename(asset.get("file", "")))[0]
            self._assets[asset.tag][attributes.get("name", stem)] = attributes
        for world in root.iterfind("worldbody"):
            self._add_bodies(world)
        # All are drawn where all are hidden.
        for attributes, world in self._shapes[True] or self._shapes[False]:
            self._add(attributes, world)

    def scene(self, generator: str) -> Scene:
        return self._robot.scene("MJCF", self._bodies, self._joints, generator)

    def _add_defaults(
        self, element: Element, name: str, inherited: dict[str, dict[str, str]]
    ) -> None:
        known = self._defaults[name] = dict(inherited)
        for child in element:
            if child.tag != "default":
                known[child.tag] = {**known.get(child.tag, {}), **child.attrib}
        for child in element.iterfind("default"):
            self._add_defaults(child, child.get("class", ""), known)

    def _with_defaults(self, element: Element, class_: str) -> dict[str, str]:
        """Return the attributes of an element, with those of its class."""
        class_ = element.get("class", class_)
        # The class of all elements has any name.
        known = self._defaults.get(class_, self._defaults[""])
        return {**known.get(element.tag, {}), **element.attrib}

    def _add_bodies(self, world: Element) -> None:
        waiting = [(world, np.eye(4), "")]
        while waiting:
            above, place_, class_ = waiting.pop()
            for element in above:
                if element.tag in {"body", "frame"}:
                    self._bodies += element.tag == "body"
                    inner = place_ @ self._pose(element.attrib)
                    waiting.append((element, inner, element.get("childclass", class_)))
                elif element.tag in {"freejoint", "joint"}:
                    self._joints += 1
                elif element.tag == "geom":
                    attributes = self._with_defaults(element, class_)
                    group = numbers(attributes.get("group"), (0,), "the group of a geom")[0]
                    self._shapes[bool(group < _SHOWN_GROUPS)].append((attributes, place_))
                elif element.tag in _NOT_READ:
                    self._robot.leave_out("elements that are not read", element.tag)

    def _pose(self, attributes: Attributes) -> Floats:
        where = f"the place of '{attributes.get('name', '')}'"
        angle = 1 if self._settings.get("angle") == "radian" else math.pi / 180
        linear = np.eye(3)
        if text := attributes.get("quat"):
            w, *axis = numbers(text, (0,) * 4, where)
            linear = quaternion(w, np.array(axis))
        elif text := attributes.get("axisangle"):
            *axis, angles = numbers(text, (0,) * 4, where)
            linear = turn(axis, angles * angle)
        elif text := attributes.get("euler"):
            sequence = self._settings.get("eulerseq", "xyz")
            for axis, value in zip(sequence, numbers(text, (0,) * 3, where), strict=False):
                turned = turn(_AXES.get(axis.lower(), (1, 0, 0)), value * angle)
                # Capital letters are axes that do not turn.
                linear = turned @ linear if axis.isupper() else linear @ turned
        elif text := attributes.get("xyaxes"):
            x, y = numbers(text, (0,) * 6, where).reshape(2, 3)
            x = x / (np.linalg.norm(x) or 1)
            y = y - x * (x @ y)
            y = y / (np.linalg.norm(y) or 1)
            linear = np.stack([x, y, np.cross(x, y)], 1)
        elif text := attributes.get("zaxis"):
            linear = _toward(numbers(text, (0,) * 3, where))
        return place(numbers(attributes.get("pos"), (0,) * 3, where), linear)

    def _add(self, attributes: Attributes, world: Floats) -> None:
        kind, where = attributes.get("type", "sphere"), f"geom '{attributes.get('name', '')}'"
        named = self._assets["material"].get(attributes.get("material", ""), {})
        default = (1,) * 4 if named else _GREY
        color = numbers(attributes.get("rgba", named.get("rgba")), default, where)
        material = self._robot.material(named.get("name", ""), color)
        world = world @ self._pose(attributes)
        if kind == "mesh":
            self._add_mesh(attributes.get("mesh", ""), world, material)
        elif kind in _SIZES and "mesh" not in attributes:
            fewest = 1 if "fromto" in attributes else _SIZES[kind]
            size = numbers(attributes.get("size", ""), (0,) * 3, where, fewest)
            if text := attributes.get("fromto"):
                start, end = numbers(text, (0,) * 6, where).reshape(2, 3)
                # The position and the rotation of the geom itself do not count.
                above = world @ np.linalg.inv(self._pose(attributes))
                world = above @ place((start + end) / 2, _toward(end - start))
                half = float(np.linalg.norm(end - start)) / 2
                size = np.array([size[0], half if _SIZES[kind] == 2 else size[0], half])
            if kind == "capsule":
                self._robot.add(capsule(size[0], size[1]), world, material)
                return
            if _SIZES[kind] < 3:
                size = np.array([size[0], size[0], size[_SIZES[kind] - 1]])
            unit = {"box": box, "cylinder": cylinder}.get(kind, capsule)()
            self._robot.add(unit, world @ place(np.zeros(3), np.diag(size)), material)
        else:
            self._robot.leave_out("geoms of a kind that is not drawn", kind)

    def _add_mesh(self, name: str, world: Floats, material: int) -> None:
        where = f"mesh '{name}'"
        mesh = self._assets["mesh"].get(name, {})
        matrix = np.diag([*numbers(mesh.get("scale"), (1,) * 3, where), 1])
        w, *axis = numbers(mesh.get("refquat"), (1, 0, 0, 0), where)
        matrix = matrix @ place(np.zeros(3), quaternion(w, np.array(axis)).T)
        matrix = world @ matrix @ place(-numbers(mesh.get("refpos"), (0,) * 3, where))
        if "file" in mesh:
            written = mesh["file"]
            if self._settings.get("strippath") == "true":
                written = posixpath.basename(written.replace("\\", "/"))
            folder = self._settings.get("meshdir", self._settings.get("assetdir", ""))
            written = posixpath.join(folder, written)
            self._robot.add_mesh(written, self._robot.files, matrix, material)
        else:
            self._robot.leave_out("meshes that are not declared, or have no file", name)


def _toward(direction: Floats) -> Floats:
    """Return the shortest rotation of the z axis to a direction."""
    x, y, z = direction
    return turn((-y, x, 0) if x or y else (1, 0, 0), math.atan2(math.hypot(x, y), z))
