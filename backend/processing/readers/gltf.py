"""glTF 2.0 and GLB."""

import json
import struct
from collections.abc import Iterator, Mapping
from math import isinf
from typing import Any
from urllib.parse import unquote

import numpy as np

from backend.processing import limits
from backend.processing.colors import linear_to_srgb
from backend.processing.files import Files
from backend.processing.readers.accessors import Accessors, entry, whole
from backend.processing.readers.data_uris import data_of
from backend.processing.readers.draco import Draco
from backend.processing.readers.gltf_materials import Materials
from backend.processing.readers.gltf_morphs import Shape, morphed, shape_of, weights_of
from backend.processing.readers.gltf_places import (
    INFLUENCES,
    Influence,
    Skins,
    influence_of,
    instances,
    skinned,
    transformation,
)
from backend.processing.readers.json_values import listing, mapping
from backend.processing.readers.text import BYTE_ORDER_MARK
from backend.processing.readers.transforms import opaque, transform
from backend.processing.scene import (
    METRE,
    Floats,
    Indices,
    Part,
    RefusedError,
    Scene,
    UnsupportedError,
)

Json = dict[str, Any]

_MOVING = frozenset({"matrix", "rotation", "scale", "translation"})
_DIGITS = 300  # of a whole number within the range of a double
_JSON_CHUNK, _BINARY_CHUNK = 0x4E4F534A, 0x004E4942

# Extensions that move or hide nodes.
_CENTRE, _VISIBILITY = "CESIUM_RTC", "KHR_node_visibility"

# What a document may require: read here, or without effect on its geometry.
_SUPPORTED = frozenset(
    {
        *("EXT_mesh_gpu_instancing", "KHR_draco_mesh_compression", "KHR_mesh_quantization"),
        *("KHR_texture_transform", "KHR_gaussian_splatting", "EXT_mesh_features"),
        *("EXT_structural_metadata", "EXT_instance_features", "KHR_xmp", "KHR_xmp_json_ld"),
        *("KHR_animation_pointer", "KHR_techniques_webgl", "MSFT_lod", "VRM", "VRMC_vrm"),
        "KHR_technique_webgl",  # an exporter writes it so
        *("VRMC_materials_mtoon", "VRMC_node_constraint", "VRMC_springBone"),
        *("KHR_lights_punctual", "EXT_lights_ies", "EXT_lights_image_based", "KHR_audio"),
        *("EXT_texture_avif", "EXT_texture_webp", "KHR_texture_basisu", "MSFT_texture_dds"),
        *("KHR_materials_anisotropy", "KHR_materials_clearcoat", "KHR_materials_common"),
        *("KHR_materials_diffuse_transmission", "KHR_materials_dispersion"),
        *("KHR_materials_emissive_strength", "KHR_materials_ior", "KHR_materials_iridescence"),
        *("KHR_materials_pbrSpecularGlossiness", "KHR_materials_sheen", "KHR_materials_specular"),
        *("KHR_materials_transmission", "KHR_materials_unlit", "KHR_materials_variants"),
        *("KHR_materials_volume", "ADOBE_materials_clearcoat_specular"),
        *("ADOBE_materials_thin_transparency", "MSFT_packing_normalRoughnessMetallic"),
        *("MSFT_packing_occlusionRoughnessMetallic", _CENTRE, _VISIBILITY),
    }
)


def read(data: bytes, files: Files) -> Scene:
    """Read a glTF document or a GLB."""
    document, binary = _container(data)
    if not str(mapping(document.get("asset")).get("version", "")).startswith("2"):
        raise UnsupportedError("not glTF 2.0")
    for name in map(str, _list_of(document, "extensionsRequired")):
        if name not in _SUPPORTED:
            raise RefusedError(f"requires the extension {name:.80}, which no reader supports")
    return _Document(document, binary, files).scene()


def _container(data: bytes) -> tuple[Json, bytes]:
    if data[:4] != b"glTF":
        return _json(data), b""
    if len(data) < 12 or struct.unpack_from("<I", data, 4)[0] != 2:
        raise UnsupportedError("not a GLB of version 2")
    declared = struct.unpack_from("<I", data, 8)[0]
    if len(data) - declared > 3:  # fewer are padding
        excess = len(data) - declared
        raise RefusedError(f"the file has {excess} bytes after the length that its GLB declares")
    chunks: dict[int, bytes] = {}
    position = 12
    while position + 8 <= len(data):
        length, kind = struct.unpack_from("<II", data, position)
        if position + 8 + length > len(data):
            raise RefusedError("truncated: a chunk of the GLB is longer than the file")
        chunks.setdefault(kind, data[position + 8 : position + 8 + length])
        position += 8 + length + (-length % 4)
    if _JSON_CHUNK not in chunks:
        raise RefusedError("the GLB has no JSON chunk")
    return _json(chunks[_JSON_CHUNK]), chunks.get(_BINARY_CHUNK, b"")


def _json(text: bytes) -> Json:
    if len(text) > limits.JSON_BYTES:
        raise RefusedError("the JSON of the glTF document is larger than 64 MiB")
    try:
        # Detecting another encoding would load a codec, which the confined process cannot.
        decoded = text.removeprefix(BYTE_ORDER_MARK).decode("utf-8", "surrogatepass")
        document = json.loads(decoded, parse_float=_double, parse_int=_integer)
    except RecursionError:
        raise RefusedError("the JSON of the glTF document is nested too deeply") from None
    except ValueError:
        raise UnsupportedError("not a glTF document: its JSON is not valid") from None
    if not isinstance(document, dict):
        raise RefusedError("the glTF document is not a JSON object")
    return mapping(document)  # pyright: ignore[reportUnknownArgumentType] - untyped JSON


def _double(text: str) -> float:
    value = float(text)
    if isinf(value):
        raise RefusedError(f"the number {text[:40]} of the glTF document is larger than a double")
    return value


def _integer(text: str) -> int:
    if len(text) > _DIGITS:
        _double(text)
    return int(text)


def _list_of(document: Mapping[str, Any], name: str) -> list[Any]:
    entries = document.get(name, [])
    if not isinstance(entries, list):
        raise RefusedError(f"{name} is not a list")
    return listing(entries)  # pyright: ignore[reportUnknownArgumentType] - untyped JSON


class _Document:
    def __init__(self, document: Json, binary: bytes, files: Files) -> None:
        self._document = document
        self._binary = binary
        self._files = files
        self._buffers: dict[int, bytes] = {}
        self._accessors = Accessors(document, self._buffer)
        self._draco = Draco(self._accessors)
        self._materials = Materials(document, self._accessors, files)
        self._skins = Skins(document, self._accessors)
        self._meshes: dict[Shape, list[tuple[Part, Influence | None]]] = {}
        self._vertices = 0
        self._stored_vertices = 0
        self.left_out: list[str] = []

    def scene(self) -> Scene:
        parts = [part for mesh in self._places() for part in self._move(*mesh)]
        asset = self._document["asset"]
        joints = {
            whole(joint, "joint")
            for skin in _list_of(self._document, "skins")
            for joint in _list_of(mapping(skin), "joints")
        }
        return Scene(
            format="glTF2",
            parts=parts,
            materials=self._materials.read(),
            meshes=len(_list_of(self._document, "meshes")),
            generator=str(asset.get("generator", "")),
            defines_up=True,
            unit=METRE,
            animations=len(_list_of(self._document, "animations")),
            bones=len(joints),
            embedded_textures=self._materials.embedded,
            left_out=tuple(self.left_out),
        )

    def _buffer(self, index: int) -> bytes:
        if index not in self._buffers:
            buffer = entry(self._document, "buffers", index)
            uri = buffer.get("uri")
            data = self._binary if uri is None and index == 0 else self._open(str(uri))
            if len(data) < whole(buffer.get("byteLength"), "byteLength"):
                raise RefusedError(f"buffer {index} is shorter than the document says")
            self._buffers[index] = data
        return self._buffers[index]

    def _open(self, uri: str) -> bytes:
        if uri.startswith("data:"):
            return data_of(uri)
        data = self._files.read(unquote(uri), "buffer")
        if data is None:
            # Open the other buffers, so that the references name all that are missing.
            for buffer in map(mapping, _list_of(self._document, "buffers")):
                other = buffer.get("uri")
                if isinstance(other, str) and not other.startswith("data:"):
                    self._files.read(unquote(other), "buffer")
            raise RefusedError(f"the file {uri:.200} that it references cannot be read")
        return data

    def _places(self) -> Iterator[tuple[Floats, Shape, Floats | None]]:
        """Return the meshes of the scene, each with its transformation or those of its joints."""
        visited, placed, worlds = 0, 0, dict[int, Floats]()
        with_skins = list[tuple[Shape, object]]()
        # A node has one parent. Some exporters share nodes, but not all of them many times.
        allowed = 4 * len(_list_of(self._document, "nodes")) + 1000
        centre = mapping(mapping(self._document.get("extensions")).get(_CENTRE)).get("center")
        world = transformation({"translation": centre})
        hidden = 0
        waiting = [(world, node, frozenset[int](), False) for node in self._roots()]
        while waiting:
            parent, index, above, is_hidden = waiting.pop()
            visited += 1
            _check_visit(index, above, visited, allowed)
            node = entry(self._document, "nodes", index)
            visibility = mapping(mapping(node.get("extensions")).get(_VISIBILITY))
            if not is_hidden and visibility.get("visible") is False:
                hidden, is_hidden = hidden + 1, True
            world = parent @ transformation(node) if _MOVING & node.keys() else parent
            worlds[index] = world
            mesh = shape_of(node) if "mesh" in node and not is_hidden else None
            if mesh is not None and "skin" in node:  # joints may follow; only they move the mesh
                with_skins.append((mesh, node["skin"]))
            elif mesh is not None:
                for place in instances(node, world, self._accessors, limits.NODES - placed):
                    placed += 1
                    yield place, mesh, None
            if len(above) >= 500:
                raise RefusedError("nodes are nested too deeply")
            if children := _list_of(node, "children"):
                path = above | {index}
                waiting += [
                    (world, whole(child, "child"), path, is_hidden) for child in reversed(children)
                ]
        if hidden:
            self.left_out.append(f"{hidden} hidden node{'s' * (hidden != 1)}")
        for mesh, skin in with_skins:
            yield np.eye(4), mesh, self._skins.joints(skin, worlds)

    def _roots(self) -> list[int]:
        scenes = _list_of(self._document, "scenes")
        if scenes:
            scene = entry(self._document, "scenes", self._document.get("scene", 0))
            return [whole(node, "node") for node in reversed(_list_of(scene, "nodes"))]
        nodes = [mapping(node) for node in _list_of(self._document, "nodes")]
        children = {str(child) for node in nodes for child in _list_of(node, "children")}
        return [index for index in range(len(nodes)) if str(index) not in children]

    def _move(self, world: Floats, shape: Shape, joints: Floats | None) -> Iterator[Part]:
        if shape not in self._meshes:
            mesh = entry(self._document, "meshes", shape.mesh)
            weights = shape.weights or weights_of(mesh)
            self._meshes[shape] = [
                read
                for primitive in _list_of(mesh, "primitives")
                if (read := self._primitive(mapping(primitive), weights)) is not None
            ]
        for part, influence in self._meshes[shape]:
            self._vertices += len(part.positions)
            if self._vertices > limits.VERTICES:
                raise RefusedError(f"more than {limits.VERTICES} vertices")
            if joints is not None and influence is not None:
                yield skinned(part, influence, joints)
            else:
                yield transform(part, world)

    def _primitive(
        self, primitive: Json, weights: tuple[float, ...]
    ) -> tuple[Part, Influence | None] | None:
        material = primitive.get("material", -1)
        material = material if isinstance(material, int) else -1  # drawn without one
        uv = self._materials.coordinates(material)
        read = self._draco.attributes(primitive) or self._plain(primitive, f"TEXCOORD_{uv.number}")
        positions = read.get("POSITION")
        if positions is None or positions.shape[1] != 3:
            return None
        count = len(positions)
        self._stored_vertices += count
        if self._stored_vertices > limits.VERTICES:
            raise RefusedError(f"more than {limits.VERTICES} vertices")
        indices = read.get("indices")
        order = np.arange(count) if indices is None else indices[:, 0].astype(np.int64)
        mode = primitive.get("mode", 4)
        corners = 3 if mode == 4 else 2 if mode == 1 else 1
        wrong, rest = int((order >= count).sum()), len(order) % corners
        if wrong:
            fact = f"{wrong} of {len(order)} indices are of vertices that do not exist"
            self.left_out.append(f"{fact} (first: index {int((order >= count).argmax())})")
        if rest:
            self.left_out.append(f"{rest} of {len(order)} indices are no whole triangle or line")
        part = Part(
            morphed(positions.astype(np.float64), primitive, weights, self._accessors),
            triangles=_valid(_triangles(order, mode), count) if mode in (4, 5, 6) else None,
            lines=_valid(_lines(order, mode), count) if mode in (1, 2, 3) else None,
            points=order[order < count] if mode == 0 else None,
            normals=_fit(read.get("NORMAL"), count, (3,)),
            uv=uv.move(_fit(read.get(f"TEXCOORD_{uv.number}"), count, (2,))),
            colors=_shown(opaque(_fit(read.get("COLOR_0"), count, (3, 4)))),
            material=material,
        )
        return part, influence_of(read, count)

    def _plain(self, primitive: Json, coordinates: str) -> dict[str, Any]:
        named = mapping(primitive.get("attributes"))
        wanted = ("POSITION", "NORMAL", coordinates, "COLOR_0", *INFLUENCES)
        read = {name: self._accessors.read(named[name]) for name in wanted if name in named}
        if "indices" in primitive:
            read["indices"] = self._accessors.read(primitive["indices"])
        return read


def _check_visit(index: int, above: frozenset[int], visited: int, allowed: int) -> None:
    if visited > limits.NODES:
        raise RefusedError(f"more than {limits.NODES} nodes")
    if visited > allowed:
        raise RefusedError("its nodes are not a tree: each may have one parent")
    if index in above:
        raise RefusedError("circular: a node is its own descendant")


def _fit(values: Any, count: int, columns: tuple[int, ...]) -> Floats | None:
    """Return an attribute as floats, if it has a row for each vertex; others cannot be drawn."""
    if values is None or len(values) != count or values.shape[1] not in columns:
        return None
    return values.astype(np.float64)


def _shown(light: Floats | None) -> Floats | None:
    """Return vertex colours as on the screen: glTF has them, and factors, as linear light."""
    return None if light is None else np.hstack([linear_to_srgb(light[:, :3]), light[:, 3:]])


def _valid(elements: Indices, count: int) -> Indices:
    return elements[(elements < count).all(1)]


def _triangles(order: Indices, mode: int) -> Indices:
    if mode == 4:
        return order[: len(order) // 3 * 3].reshape(-1, 3)
    if len(order) < 3:
        return np.zeros((0, 3), np.int64)
    if mode == 6:
        return np.stack([np.full(len(order) - 2, order[0]), order[1:-1], order[2:]], 1)
    strip = np.stack([order[:-2], order[1:-1], order[2:]], 1)
    strip[1::2] = strip[1::2, [1, 0, 2]]  # every other triangle of a strip has the other winding
    return strip


def _lines(order: Indices, mode: int) -> Indices:
    if mode == 1:
        return order[: len(order) // 2 * 2].reshape(-1, 2)
    strip = np.stack([order[:-1], order[1:]], 1)
    if mode == 3 and len(order):
        strip = np.vstack([strip, [[order[-1], order[0]]]])
    return strip
