"""Writes glTF 2.0: nodes with meshes, PBR materials with textures, and animations of nodes."""

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from samples.shapes import Mesh, merged

Color = tuple[float, float, float]


class Material(NamedTuple):
    """A surface. The colour is sRGB from 0 to 1; textures are names of images of the model."""

    color: Color = (1.0, 1.0, 1.0)
    metallic: float = 0.0
    roughness: float = 0.7
    texture: str | None = None
    normals: str | None = None
    surface: str | None = None
    """Occlusion, roughness and metalness in the three channels."""
    glow: Color | None = None


@dataclass
class Node:
    """A part that moves as one: meshes by material, and the nodes that move with it."""

    name: str
    parts: Sequence[tuple[Mesh, str]] = ()
    at: Sequence[float] = (0.0, 0.0, 0.0)
    children: Sequence["Node"] = ()


class Turning(NamedTuple):
    """The rotation of a node over time, in degrees about one axis."""

    node: str
    axis: str
    keys: Sequence[tuple[float, float]]


@dataclass
class Model:
    name: str
    materials: Mapping[str, Material]
    nodes: Sequence[Node]
    images: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    turnings: Sequence[Turning] = ()
    resting: Mapping[str, tuple[str, float]] = field(default_factory=dict[str, tuple[str, float]])
    """How nodes are turned while no animation runs."""


def single(
    name: str, parts: Sequence[tuple[Mesh, str]], materials: Mapping[str, Material]
) -> Model:
    """Return a model of one node."""
    return Model(name, materials, [Node(name, parts)])


def glb(model: Model) -> bytes:
    """Return the model as one binary file."""
    writer = _Writer(model)
    document, binary = writer.document(), writer.binary()
    document["buffers"] = [{"byteLength": len(binary)}]
    text = json.dumps(document, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    length = 12 + 8 + len(text) + 8 + len(binary)
    return b"".join(
        (
            struct.pack("<4sII", b"glTF", 2, length),
            struct.pack("<I4s", len(text), b"JSON") + text,
            struct.pack("<I4s", len(binary), b"BIN\0") + binary,
        )
    )


def gltf(model: Model, *, buffer: str) -> tuple[bytes, bytes]:
    """Return the document and the buffer that it refers to."""
    writer = _Writer(model)
    document, binary = writer.document(), writer.binary()
    document["buffers"] = [{"byteLength": len(binary), "uri": buffer}]
    return (json.dumps(document, indent=1) + "\n").encode(), binary


def exact(values: Any, digits: int) -> NDArray[np.float32]:
    """Return values rounded beyond what math libraries differ in, without negative zeros."""
    return (np.round(np.asarray(values, float), digits) + 0.0).astype("<f4")


class _Writer:
    def __init__(self, model: Model) -> None:
        self._model = model
        self._chunks = list[bytes]()
        self._views = list[dict[str, Any]]()
        self._accessors = list[dict[str, Any]]()
        self._meshes = list[dict[str, Any]]()
        self._nodes = list[dict[str, Any]]()
        self._numbers = {name: number for number, name in enumerate(model.materials)}
        self._images = {name: number for number, name in enumerate(model.images)}

    def binary(self) -> bytes:
        return b"".join(self._chunks)

    def document(self) -> dict[str, Any]:
        model = self._model
        roots = [self._node(node) for node in model.nodes]
        document: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": "vitrine samples"},
            "scene": 0,
            "scenes": [{"name": model.name, "nodes": roots}],
            "nodes": self._nodes,
            "meshes": self._meshes,
            "materials": [self._material(*material) for material in model.materials.items()],
        }
        if model.images:
            document["images"] = [self._image(*image) for image in model.images.items()]
            document["samplers"] = [{"wrapS": 10497, "wrapT": 10497, "minFilter": 9987}]
            document["textures"] = [{"source": n, "sampler": 0} for n in range(len(model.images))]
        if model.turnings:
            document["animations"] = [self._animation()]
        return document | {"accessors": self._accessors, "bufferViews": self._views}

    def _node(self, node: Node) -> int:
        number = len(self._nodes)
        described: dict[str, Any] = {"name": node.name}
        self._nodes.append(described)
        if any(node.at):
            described["translation"] = [float(part) for part in exact(node.at, 5)]
        if node.name in self._model.resting:
            turned = _quaternion(*self._model.resting[node.name])
            described["rotation"] = [float(part) for part in exact(turned, 6)]
        if node.parts:
            described["mesh"] = self._mesh(node)
        if node.children:
            described["children"] = [self._node(child) for child in node.children]
        return number

    def _mesh(self, node: Node) -> int:
        by_material = dict[str, list[Mesh]]()
        for mesh, material in node.parts:
            by_material.setdefault(material, []).append(mesh)
        primitives = [self._primitive(merged(meshes), name) for name, meshes in by_material.items()]
        self._meshes.append({"name": node.name, "primitives": primitives})
        return len(self._meshes) - 1

    def _primitive(self, mesh: Mesh, name: str) -> dict[str, Any]:
        material = self._model.materials[name]
        textured = bool(material.texture or material.normals)
        columns = [exact(mesh.points, 5), _unit(mesh.normals)]
        columns += [exact(mesh.uv, 4)] if textured else []
        rows, numbers = np.unique(np.concatenate(columns, 1), axis=0, return_inverse=True)
        attributes = {
            "POSITION": self._accessor(rows[:, :3], "VEC3", bounded=True),
            "NORMAL": self._accessor(rows[:, 3:6], "VEC3"),
        }
        if textured:
            attributes["TEXCOORD_0"] = self._accessor(rows[:, 6:], "VEC2")
        small = len(rows) < 0xFFFF
        indices = numbers.reshape(-1)[mesh.faces].reshape(-1).astype("<u2" if small else "<u4")
        return {
            "attributes": attributes,
            "indices": self._accessor(indices, "SCALAR"),
            "material": self._numbers[name],
        }

    def _accessor(self, values: NDArray[Any], kind: str, *, bounded: bool = False) -> int:
        indices = kind == "SCALAR" and values.dtype.kind == "u"
        target = {"target": 34963 if indices else 34962}
        accessor: dict[str, Any] = {
            "bufferView": self._view(values.tobytes(), target),
            "componentType": {"u2": 5123, "u4": 5125, "f4": 5126}[values.dtype.str[1:]],
            "count": len(values),
            "type": kind,
        }
        if bounded:
            flat = values.reshape(len(values), -1)
            accessor["min"] = [float(value) for value in flat.min(0)]
            accessor["max"] = [float(value) for value in flat.max(0)]
        self._accessors.append(accessor)
        return len(self._accessors) - 1

    def _view(self, data: bytes, more: Mapping[str, int]) -> int:
        at = sum(map(len, self._chunks))
        self._views.append({"buffer": 0, "byteOffset": at, "byteLength": len(data), **more})
        self._chunks.append(data + b"\0" * (-len(data) % 4))
        return len(self._views) - 1

    def _image(self, name: str, content: bytes) -> dict[str, Any]:
        kind = "image/png" if content.startswith(b"\x89PNG") else "image/jpeg"
        return {"name": name, "mimeType": kind, "bufferView": self._view(content, {})}

    def _material(self, name: str, material: Material) -> dict[str, Any]:
        surface: dict[str, Any] = {
            "baseColorFactor": [*_linear(material.color), 1.0],
            "metallicFactor": material.metallic,
            "roughnessFactor": material.roughness,
        }
        described: dict[str, Any] = {"name": name, "pbrMetallicRoughness": surface}
        if material.texture:
            surface["baseColorTexture"] = {"index": self._images[material.texture]}
        if material.surface:
            surface["metallicRoughnessTexture"] = {"index": self._images[material.surface]}
            described["occlusionTexture"] = {"index": self._images[material.surface]}
        if material.normals:
            described["normalTexture"] = {"index": self._images[material.normals]}
        if material.glow:
            described["emissiveFactor"] = _linear(material.glow)
        return described

    def _animation(self) -> dict[str, Any]:
        channels, samplers = list[dict[str, Any]](), list[dict[str, Any]]()
        used = list[int]()
        names = [node["name"] for node in self._nodes]
        for turning in self._model.turnings:
            times = exact([time for time, _ in turning.keys], 4)
            turns = exact([_quaternion(turning.axis, angle) for _, angle in turning.keys], 6)
            sampler: dict[str, Any] = {
                "input": self._accessor(times, "SCALAR", bounded=True),
                "output": self._accessor(turns, "VEC4"),
                "interpolation": "LINEAR",
            }
            target = {"node": names.index(turning.node), "path": "rotation"}
            channels.append({"sampler": len(samplers), "target": target})
            samplers.append(sampler)
            used += [sampler["input"], sampler["output"]]
        for accessor in used:
            # A target is of vertices and indices only.
            del self._views[self._accessors[accessor]["bufferView"]]["target"]
        return {"name": self._model.name, "channels": channels, "samplers": samplers}


def _linear(color: Color) -> list[float]:
    """Return a colour of the screen as light, which factors of glTF are."""
    return [
        round(part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4, 4)
        for part in color
    ]


def _quaternion(axis: str, degrees: float) -> list[float]:
    half = np.radians(degrees) / 2
    return [*(float(np.sin(half)) * (axis == name) for name in "xyz"), float(np.cos(half))]


def _unit(normals: NDArray[np.float64]) -> NDArray[np.float32]:
    return exact(normals / np.maximum(np.linalg.norm(normals, axis=1), 1e-12)[:, None], 3)
