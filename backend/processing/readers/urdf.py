"""URDF, the format of robots of ROS: links with shapes, joined at the zero positions of joints."""

from collections import defaultdict
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
    roll_pitch_yaw,
)
from backend.processing.scene import Floats, Scene


def read(data: bytes, files: Files, read_mesh: ReadMesh) -> Scene:
    """Read a robot.

    Raises:
        RefusedError: it is not valid, or too large.
    """
    robot = Robot(files, read_mesh)
    root = robot.document(data, "robot")
    for element in root:
        if element.tag.startswith("xacro:"):
            robot.leave_out("macros of xacro, which are not expanded", element.tag)
    links = {link.get("name", ""): link for link in root.findall("link")}
    joints = root.findall("joint")
    origins: dict[str, Floats] = {}
    children = defaultdict[str, list[str]](list)
    for joint in joints:
        ends = (joint.find("parent"), joint.find("child"))
        above, below = ("" if end is None else end.get("link", "") for end in ends)
        if above in links and below in links and below not in origins:
            children[above].append(below)
            origins[below] = _origin(joint)
        else:
            why = "joints of links that do not exist, or have another parent"
            robot.leave_out(why, joint.get("name", ""))
    worlds = {name: np.eye(4) for name in links if name not in origins}
    waiting = list(worlds)
    while waiting:
        name = waiting.pop()
        waiting += children[name]
        worlds.update((child, worlds[name] @ origins[child]) for child in children[name])
    for name in links:
        if name not in worlds:
            robot.leave_out("links in a cycle of joints", name)
    materials = {item.get("name", ""): item for item in root.iter("material") if len(item)}
    # Robots for simulations only may have no visual shapes.
    kind = "visual" if root.find("link/visual") is not None else "collision"
    for name, world in worlds.items():
        for shape in links[name].iterfind(kind):
            _add(robot, shape, name, world @ _origin(shape), materials)
    return robot.scene("URDF", len(links), len(joints))


def _origin(element: Element) -> Floats:
    origin = element.find("origin")
    if origin is None:
        return np.eye(4)
    name = f"the origin of {element.tag} '{element.get('name', '')}'"
    position, angles = (numbers(origin.get(key), (0, 0, 0), name) for key in ("xyz", "rpy"))
    return place(position, roll_pitch_yaw(angles))


def _add(
    robot: Robot, shape: Element, link: str, world: Floats, materials: dict[str, Element]
) -> None:
    used, material = shape.find("material"), 0
    if used is not None:
        name = used.get("name", "")
        declared = used if len(used) else materials.get(name, used)
        color, image = declared.find("color"), declared.find("texture")
        rgba = numbers(None if color is None else color.get("rgba"), GREY, f"material '{name}'")
        texture = None if image is None else robot.files.read(image.get("filename", ""), "texture")
        material = robot.material(name, rgba, texture)
    geometry = shape.find("geometry/*")
    where = f"a shape of link '{link}'"
    if geometry is None:
        robot.leave_out("shapes without a geometry", where)
    elif geometry.tag == "mesh":
        scale = numbers(geometry.get("scale"), (1, 1, 1), where)
        written = geometry.get("filename", "")
        robot.add_mesh(written, robot.files, world @ place(np.zeros(3), np.diag(scale)), material)
    elif geometry.tag == "box":
        size = numbers(geometry.get("size", ""), (0, 0, 0), where)
        robot.add(box(), world @ place(np.zeros(3), np.diag(size / 2)), material)
    elif geometry.tag in {"capsule", "cylinder", "sphere"}:
        (radius,) = numbers(geometry.get("radius", ""), (0,), where)
        half = numbers(geometry.get("length"), (0,), where)[0] / 2
        if geometry.tag == "cylinder":
            size = np.diag([radius, radius, half])
            robot.add(cylinder(), world @ place(np.zeros(3), size), material)
        else:
            robot.add(capsule(radius, half), world, material)
    else:
        robot.leave_out("shapes of a kind that is not drawn", geometry.tag)
