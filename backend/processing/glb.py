"""A scene as one GLB, for viewers: geometry, base colours and textures."""

import json
import struct
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.processing import limits
from backend.processing.colors import srgb_to_linear
from backend.processing.normals import with_normals
from backend.processing.render.camera import upright
from backend.processing.scene import Floats, Material, Node, Part, Scene, Unit
from backend.processing.texts import without_surrogates
from backend.processing.textures import encode_texture

_ARRAY, _ELEMENTS = 34962, 34963
_FLOAT, _UNSIGNED = 5126, 5125
_LARGEST = 3e38  # of 32-bit floats
# Distance from the origin above which a model is moved there; its node moves it back. At 10,000 m,
# 32-bit numbers are a millimetre apart, at map coordinates half a metre.
_FAR = 1e4
_PLAIN = -1  # the index of the material of surfaces without one


def build_glb(scene: Scene, merged: Sequence[Part]) -> tuple[bytes | None, bytes | None]:
    """Return the GLB of a scene, and the structure of its nodes.

    If it would be too large with its nodes, it has none, and only the `merged` parts.
    """
    form = scene.materials, scene.up, scene.unit
    if scene.nodes and (glb := write_glb(scene.parts, *form, scene.nodes)):
        return glb, scene.structure
    return write_glb(merged, *form), None


def write_glb(
    parts: Sequence[Part],
    materials: Sequence[Material],
    up: str,
    unit: Unit | None,
    nodes: Sequence[Node] = (),
) -> bytes | None:
    """Return the GLB in metres with y up, None if there is no geometry or it would be too large.

    Parts of `nodes` are drawn by these nodes.
    """
    writer = _Writer(materials)
    turn = upright(up)
    scale = 1.0 if unit is None else unit.metres
    drawable = [usable for part in parts if (usable := _finite(part, scale)) is not None]
    if not drawable:
        return None
    centre = _centre(drawable)
    for part in drawable:
        writer.add(with_normals(part), turn, centre)
        if writer.size > limits.GLB_BYTES:
            return None
    return writer.glb((turn @ centre).tolist(), nodes) if writer.meshes else None


def _finite(part: Part, scale: float) -> Part | None:
    """Return the part in metres, with only the elements whose vertices are all finite."""
    if scale != 1:
        with np.errstate(all="ignore"):
            part = replace(part, positions=part.positions * scale)
    good: NDArray[np.bool_] = np.all(np.abs(part.positions) < _LARGEST, axis=1)
    if good.all():
        return part if len(part.positions) else None
    positions = np.where(good[:, None], part.positions, 0.0)
    return Part(
        positions,
        None if part.triangles is None else part.triangles[good[part.triangles].all(1)],
        None if part.lines is None else part.lines[good[part.lines].all(1)],
        None if part.points is None else part.points[good[part.points]],
        part.normals,
        part.uv,
        part.colors,
        part.material,
        part.node,
    )


def _centre(parts: Sequence[Part]) -> Floats:
    """Return the centre of a model that is too far from its origin for 32-bit numbers."""
    lowest = np.min([part.positions.min(0) for part in parts], axis=0)
    highest = np.max([part.positions.max(0) for part in parts], axis=0)
    centre = lowest / 2 + highest / 2
    return centre if np.abs(centre).max() > _FAR else np.zeros(3)


class _Writer:
    def __init__(self, materials: Sequence[Material]) -> None:
        self._chunks: list[bytes] = []
        self._views: list[dict[str, Any]] = []
        self._accessors: list[dict[str, Any]] = []
        self._images: list[dict[str, Any]] = []
        self._materials: list[dict[str, Any]] = []
        self._written: dict[tuple[int, bool], int] = {}
        self._given = materials
        self.meshes = defaultdict[int, list[dict[str, Any]]](list)
        self.size = 0

    def add(self, part: Part, turn: Floats, centre: Floats) -> None:
        """Add the triangles, lines and points of a part as primitives."""
        positions = ((part.positions - centre) @ turn.T).astype("<f4")
        attributes = {"POSITION": self._accessor(positions, "VEC3", bounded=True)}
        if part.normals is not None:
            normals = part.normals @ turn.T
            with np.errstate(all="ignore"):
                length = np.linalg.norm(normals, axis=1, keepdims=True)
                unit = normals / length
            usable = np.isfinite(unit).all(1) & (length[:, 0] > 1e-30)
            attributes["NORMAL"] = self._accessor(
                np.where(usable[:, None], unit, [0.0, 1.0, 0.0]).astype("<f4"), "VEC3"
            )
        if part.uv is not None:
            uv = np.clip(np.nan_to_num(part.uv), -1e6, 1e6).astype("<f4")
            attributes["TEXCOORD_0"] = self._accessor(uv, "VEC2")
        if part.colors is not None:
            colors = _as_light(part.colors).astype("<f4")
            attributes["COLOR_0"] = self._accessor(colors, "VEC4")
        is_given = 0 <= part.material < len(self._given)
        for elements, mode in ((part.triangles, 4), (part.lines, 1), (part.points, 0)):
            if elements is not None and len(elements):
                indices = self._accessor(elements.reshape(-1).astype("<u4"), "SCALAR")
                primitive = {"attributes": attributes, "indices": indices, "mode": mode}
                # Without a material glTF makes a metal of a surface.
                if is_given or mode == 4:
                    index = part.material if is_given else _PLAIN
                    primitive["material"] = self._material(index, part.uv is not None)
                self.meshes[part.node].append(primitive)

    def _view(self, data: bytes, target: int | None = None) -> int:
        view = {"buffer": 0, "byteOffset": self.size, "byteLength": len(data)}
        self._views.append(view if target is None else {**view, "target": target})
        padded = data + b"\0" * (-len(data) % 4)
        self._chunks.append(padded)
        self.size += len(padded)
        return len(self._views) - 1

    def _accessor(self, values: NDArray[Any], kind: str, *, bounded: bool = False) -> int:
        scalar = kind == "SCALAR"
        accessor: dict[str, Any] = {
            "bufferView": self._view(values.tobytes(), _ELEMENTS if scalar else _ARRAY),
            "componentType": _UNSIGNED if scalar else _FLOAT,
            "count": len(values),
            "type": kind,
        }
        if bounded:
            accessor |= {"min": values.min(0).tolist(), "max": values.max(0).tolist()}
        self._accessors.append(accessor)
        return len(self._accessors) - 1

    def _material(self, index: int, textured: bool) -> int:
        """Add a material, once with and once without its texture, as parts need it."""
        key = (index, textured)
        if key not in self._written:
            material = Material() if index == _PLAIN else self._given[index]
            self._materials.append(self._describe_material(material, textured))
            self._written[key] = len(self._materials) - 1
        return self._written[key]

    def _describe_material(self, material: Material, textured: bool) -> dict[str, Any]:
        color = _as_light(np.array([material.color]))[0].tolist()
        surface: dict[str, Any] = {
            "baseColorFactor": color,
            "metallicFactor": 0,
            "roughnessFactor": 0.8,
        }
        image = None
        if textured and material.texture is not None:
            image = encode_texture(material.texture, limits.TEXTURE_PIXELS)
        if image is not None:
            self._images.append({"bufferView": self._view(image[0]), "mimeType": image[1]})
            surface["baseColorTexture"] = {"index": len(self._images) - 1}
        described: dict[str, Any] = {"doubleSided": True, "pbrMetallicRoughness": surface}
        if material.name:
            described["name"] = without_surrogates(material.name)
        return {**described, "alphaMode": "BLEND"} if color[3] < 0.99 else described

    def glb(self, translation: list[float], nodes: Sequence[Node]) -> bytes:
        """Return the GLB: a node that places the model, and those of its elements below it."""
        numbers = {node: number for number, node in enumerate(self.meshes)}
        written: list[dict[str, Any]] = [{"translation": translation}]
        for number, node in enumerate(nodes, 1):
            written.append({"name": without_surrogates(node.name), "extras": {"ifcId": node.id}})
            written[node.parent + 1].setdefault("children", []).append(number)
        for node, described in zip((-1, *(node.id for node in nodes)), written, strict=True):
            if node in numbers:
                described["mesh"] = numbers[node]
        document: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": "Vitrine"},
            "scene": 0,
            "scenes": [{"nodes": [0]}],
            "nodes": written,
            "meshes": [{"primitives": primitives} for primitives in self.meshes.values()],
            "accessors": self._accessors,
            "bufferViews": self._views,
            "buffers": [{"byteLength": self.size}],
        }
        if self._materials:
            document["materials"] = self._materials
        if self._images:
            document["images"] = self._images
            document["samplers"] = [{}]
            textures = [{"source": image, "sampler": 0} for image in range(len(self._images))]
            document["textures"] = textures
        text = json.dumps(document, separators=(",", ":"), allow_nan=False).encode()
        text += b" " * (-len(text) % 4)
        total = 12 + 8 + len(text) + 8 + self.size
        header = struct.pack("<4sII", b"glTF", 2, total)
        json_header = struct.pack("<I4s", len(text), b"JSON")
        binary_header = struct.pack("<I4s", self.size, b"BIN\0")
        return b"".join([header, json_header, text, binary_header, *self._chunks])


def _as_light(colors: Floats) -> Floats:
    """Return colours of the screen with their alpha as glTF has them: linear light."""
    clipped = np.clip(np.nan_to_num(colors), 0, 1)
    return np.hstack([srgb_to_linear(clipped[:, :3]), clipped[:, 3:]])
