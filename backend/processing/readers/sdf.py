"""SDF, the format of worlds and models of Gazebo."""

import math
import posixpath
from xml.etree.ElementTree import Element

import numpy as np

from backend.processing.files import Files
from backend.processing.readers.robots import (
    GREY,
    ReadMesh,
    Robot,
    box,
    capsule,
    cylinder,
    numbers,
    place,
    quaternion,
    roll_pitch_yaw,
    turned,
)
from backend.processing.scene import Floats, RefusedError, Scene

_DEPTH = 16  # of models that are included in each other, maybe in a cycle
_MODELS = 10_000
_FRAMES = {"frame", "include", "joint", "link", "model"}


def read(data: bytes, files: Files, read_mesh: ReadMesh) -> Scene:
    """Read a world or a model.

    Raises:
        RefusedError: it is not valid, or too large.
    """
    world = _World(Robot(files, read_mesh))
    root = world.robot.document(data, "sdf")
    world.add(root, np.eye(4), files, _kind(root))
    return world.robot.scene("SDF", world.links, world.joints)


def _kind(root: Element) -> str:
    """Return which shapes are drawn: models for simulations only may have no visual ones."""
    return "collision" if next(root.iter("visual"), None) is None else "visual"


def _text(element: Element, name: str, default: str = "") -> str:
    return (element.findtext(name) or default).strip()


def _pose(element: Element) -> Floats:
    pose = element.find("pose")
    where = f"the pose of {element.tag} '{element.get('name', '')}'"
    if pose is None or not (pose.text or "").strip():
        return np.eye(4)
    if pose.get("rotation_format") == "quat_xyzw":
        x, y, z, i, j, k, w = numbers(pose.text, (0,) * 7, where)
        return place(np.array([x, y, z]), quaternion(w, np.array([i, j, k])))
    values = numbers(pose.text, (0,) * 6, where)
    scale = math.pi / 180 if pose.get("degrees") in {"1", "true"} else 1
    return place(values[:3], roll_pitch_yaw(values[3:] * scale))


class _Frames:
    """The places of the frames of a model or world, by their names in it."""

    def __init__(self, scope: Element, robot: Robot) -> None:
        self._robot = robot
        self._elements = {child.get("name", ""): child for child in scope if child.tag in _FRAMES}
        self._places = {"": np.eye(4), "__model__": np.eye(4), "world": np.eye(4)}

    def of(self, name: str) -> Floats:
        chain = list[tuple[str, str, Element]]()
        while name not in self._places:
            if name not in self._elements:
                self._robot.leave_out("poses in frames that do not exist or are nested", name)
                self._places[name] = np.eye(4)
                break
            self._places[name] = np.eye(4)  # where a cycle ends
            element = self._elements[name]
            base = self.base_of(element)
            chain.append((name, base, element))
            name = base
        for name, base, element in reversed(chain):
            self._places[name] = self._places[base] @ _pose(element)
        return self._places[chain[0][0] if chain else name]

    def base_of(self, element: Element, default: str = "") -> str:
        """Return the frame of an element's pose."""
        pose = element.find("pose")
        named = "" if pose is None else pose.get("relative_to", "")
        if element.tag == "joint":
            default = _text(element, "child")
        elif element.tag == "frame":
            default = element.get("attached_to", "")
        return named or default


class _World:
    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.links = self.joints = self._models = 0

    def add(self, scope: Element, world: Floats, files: Files, kind: str, depth: int = 0) -> None:
        """Add the links of a model or world, and the models in it; `world` is its place."""
        frames = _Frames(scope, self.robot)
        for element in scope:
            if element.tag == "world":
                self.add(element, world, files, kind, depth)
            elif element.tag in {"model", "include"}:
                self._models += 1
                if self._models > _MODELS:
                    raise RefusedError(f"places more than {_MODELS} models")
                base = world @ frames.of(frames.base_of(element))
                if element.tag == "include":
                    self._include(element, base, files, depth + 1)
                else:
                    self._add_model(element, base @ _pose(element), files, kind, depth)
            elif element.tag == "link":
                self.links += 1
                self._add_link(element, world, frames, files, kind)
            elif element.tag == "joint":
                self.joints += 1
            elif element.tag in {"actor", "population", "road"}:
                self.robot.leave_out("elements that are not drawn", element.tag)

    def _add_model(
        self, model: Element, world: Floats, files: Files, kind: str, depth: int
    ) -> None:
        if frame := model.get("placement_frame"):
            world = world @ np.linalg.inv(_Frames(model, self.robot).of(frame))
        self.add(model, world, files, kind, depth)

    def _include(self, element: Element, base: Floats, files: Files, depth: int) -> None:
        uri = _text(element, "uri")
        if not uri.endswith(".sdf"):
            config = files.read(posixpath.join(uri, "model.config"), "other")
            named = ""
            if config is not None:
                named = _text(self.robot.document(config, "model"), "sdf")
            uri = posixpath.join(uri, named or "model.sdf")
        data = files.read(uri, "model") if depth <= _DEPTH else None
        if data is None:
            what = (
                "models that are missing" if depth <= _DEPTH else "models that are nested too deep"
            )
            self.robot.leave_out(what, uri)
            return
        root = self.robot.document(data, "sdf")
        model = root.find("model")
        if model is None:
            self.robot.leave_out("included files without a model", uri)
            return
        own = _pose(model) if element.find("pose") is None else _pose(element)
        if frame := _text(element, "placement_frame"):
            model.set("placement_frame", frame)
        self._add_model(model, base @ own, files.beside(uri), _kind(root), depth)

    def _add_link(
        self, link: Element, world: Floats, frames: _Frames, files: Files, kind: str
    ) -> None:
        name = link.get("name", "")
        linked = frames.of(name) if name else _pose(link)
        for shape in link.iterfind(kind):
            named = frames.base_of(shape)
            base = linked if named in {"", name} else frames.of(named)
            geometry = shape.find("geometry/*")
            if geometry is None or geometry.tag == "empty":
                continue
            material, used = 0, shape.find("material")
            where = f"a shape of link '{name}'"
            if used is not None and used.find("diffuse") is not None:
                color = numbers(_text(used, "diffuse"), GREY, where, fewest=3)
                material = self.robot.material("", color)
            self._add_shape(geometry, world @ base @ _pose(shape), files, material, where)

    def _add_shape(
        self, geometry: Element, world: Floats, files: Files, material: int, where: str
    ) -> None:
        kind, robot = geometry.tag, self.robot
        zero = np.zeros(3)
        if kind == "mesh":
            scale = numbers(_text(geometry, "scale", "1 1 1"), (1, 1, 1), where)
            if geometry.find("submesh") is not None:
                robot.leave_out("choices of a submesh: the whole mesh is drawn", where)
            matrix = world @ place(zero, np.diag(scale))
            robot.add_mesh(_text(geometry, "uri"), files, matrix, material)
        elif kind in {"box", "ellipsoid"}:
            halves = (
                numbers(_text(geometry, "size", "1 1 1"), (1, 1, 1), where) / 2
                if kind == "box"
                else numbers(_text(geometry, "radii", "1 1 1"), (1, 1, 1), where)
            )
            unit = box() if kind == "box" else capsule()
            robot.add(unit, world @ place(zero, np.diag(halves)), material)
        elif kind in {"capsule", "cone", "cylinder", "sphere"}:
            (radius,) = numbers(_text(geometry, "radius", "1"), (1,), where)
            half = numbers(_text(geometry, "length", "1"), (1,), where)[0] / 2
            if kind in {"capsule", "sphere"}:
                robot.add(capsule(radius, half if kind == "capsule" else 0), world, material)
            else:
                cone = turned([(0, -1), (1, -1), (0, 1)])
                size = np.diag([radius, radius, half])
                robot.add(
                    cylinder() if kind == "cylinder" else cone, world @ place(zero, size), material
                )
        else:
            robot.leave_out("shapes of a kind that is not drawn", kind)
