"""Rhino files: the meshes of objects, and those with which Rhino displays surfaces and solids.

The library has no mesher: a file that was saved without such meshes has facts and no picture.
"""

import struct
from collections import Counter
from collections.abc import Iterator
from operator import attrgetter
from typing import Any

import numpy as np

from backend.processing import limits
from backend.processing.files import Files
from backend.processing.readers.soundness import left_out_text, unusable
from backend.processing.readers.transforms import UNMOVED, transform
from backend.processing.readers.units import unit_of_length
from backend.processing.scene import Floats, Material, Part, RefusedError, Scene

# Metres by the number of `UnitSystem` of openNURBS.
_METRES = {
    1: 1e-6,
    2: 1e-3,
    3: 1e-2,
    4: 1.0,
    5: 1e3,
    6: 2.54e-8,
    7: 2.54e-5,
    8: 0.0254,
    9: 0.3048,
    10: 1609.344,
    12: 1e-10,
    13: 1e-9,
    14: 0.1,
    15: 10.0,
    16: 100.0,
    17: 1e6,
    18: 1e9,
    19: 0.9144,
    20: 0.0254 / 72,
    21: 0.0254 / 6,
    22: 1852.0,
    23: 149_597_870_700.0,
    24: 9.460_730_472_580_8e15,
    25: 3.085_677_581_491_37e16,
}
_DEPTH = 32  # of blocks in blocks, which may contain themselves
# Type and length of a chunk; a short one has a value instead of a content.
_CHUNK, _WIDE_CHUNK = struct.Struct("<Ii"), struct.Struct("<Iq")
_END_OF_FILE, _IS_SHORT = 0x7FFF, 1 << 31
_XYZ = attrgetter("X", "Y", "Z")
_ROWS = [[f"M{row}{column}" for column in range(4)] for row in range(4)]


def read(data: bytes, _name: str, files: Files) -> Scene:
    """Read a Rhino file.

    Raises:
        RefusedError: openNURBS cannot read it, or it places too many objects.
    """
    import rhino3dm  # noqa: PLC0415 - only Rhino files need it

    library: Any = rhino3dm
    if not data.startswith(b"3D Geometry File Format "):
        raise RefusedError("not a Rhino file: it does not begin with 3D Geometry File Format")
    _require_chunks(data)
    file: Any = library.File3dm.FromByteArray(data)
    if file is None:
        raise RefusedError("truncated or damaged: openNURBS cannot read it")
    model = _Model(library, file, files)
    for item in model.objects.values():
        if not item.Attributes.IsInstanceDefinitionObject:
            model.add(item, UNMOVED, 0)
    metres = _METRES.get(int(file.Settings.ModelUnitSystem.value))
    return Scene(
        "3DM",
        model.parts,
        model.materials,
        model.meshes,
        generator=str(file.ApplicationName)[:200],
        up="z",
        defines_up=True,
        unit=unit_of_length(metres),
        left_out=(*model.left_out, *model.unread_texts()),
        facts={"layers": len(file.Layers)},
    )


def _require_chunks(data: bytes) -> None:
    """Require that the chunks of the file end within it: openNURBS searches for the end of others.

    Raises:
        RefusedError: a chunk is longer than the file, or there is no last one.
    """
    version = data[24:32].strip()
    if not version.isdigit():
        raise RefusedError("the header of the Rhino file has no version")
    chunk = _WIDE_CHUNK if int(version) >= 50 else _CHUNK
    at = 32
    while at + chunk.size <= len(data):
        code, length = chunk.unpack_from(data, at)
        if code == _END_OF_FILE or int(version) < 2:
            return
        if length < 0 and not code & _IS_SHORT:
            raise RefusedError(f"the chunk at byte {at} has the length {length}")
        at += chunk.size + (0 if code & _IS_SHORT else length)
    raise RefusedError("truncated: the Rhino file has no end, or a chunk beyond it")


class _Model:
    def __init__(self, library: Any, file: Any, files: Files) -> None:
        self._library, self._file, self._files = library, file, files
        self.objects: dict[str, Any] = {str(item.Attributes.Id): item for item in file.Objects}
        self._layers: dict[int, Any] = {layer.Index: layer for layer in file.Layers}
        self._hidden = {index for index in self._layers if self._is_hidden(index)}
        self._definitions: dict[str, Any] = {
            str(definition.Id): definition for definition in file.InstanceDefinitions
        }
        self._material_numbers: dict[tuple[Any, ...], int] = {}
        self._unread = Counter[str]()
        self._placed = 0
        self.parts: list[Part] = []
        self.materials: list[Material] = []
        self.left_out: list[str] = []
        self.meshes = 0

    def _is_hidden(self, index: int) -> bool:
        """Return whether a layer, or one that it is in, is off."""
        by_id = {str(layer.Id): layer for layer in self._layers.values()}
        layer: Any = self._layers[index]
        for _ in range(_DEPTH):
            if layer is None or not layer.Visible:
                break
            layer = by_id.get(str(layer.ParentLayerId))
        return layer is not None and not layer.Visible

    def unread_texts(self) -> Iterator[str]:
        """Return what objects are missing, by their kind."""
        for kind, count in self._unread.items():
            yield f"{count} objects {kind}"

    def add(self, item: Any, matrix: Floats, depth: int) -> None:
        """Add the meshes of an object, and of the objects of a block."""
        self._placed += 1
        if self._placed > limits.NODES:
            raise RefusedError(f"places more than {limits.NODES} objects")
        library, geometry = self._library, item.Geometry
        attributes = item.Attributes
        is_hidden = attributes.Mode == library.ObjectMode.Hidden or not attributes.Visible
        if is_hidden or attributes.LayerIndex in self._hidden:
            self._unread["that are hidden"] += 1
        elif isinstance(geometry, library.InstanceReference):
            self._add_block(geometry, matrix, depth)
        elif isinstance(geometry, library.PointCloud | library.Point):
            is_cloud = isinstance(geometry, library.PointCloud)
            points = geometry.GetPoints() if is_cloud else [geometry.Location]
            positions = _array(list(map(_XYZ, points)))
            part = Part(positions, points=np.arange(len(positions)), material=-1)
            self.parts.append(transform(part, matrix))
        elif meshes := self._meshes_of(geometry):
            material = self._material_of(attributes)
            for mesh in meshes:
                self._add_mesh(mesh, matrix, material)
        else:
            kind = str(geometry.ObjectType).rpartition(".")[2]
            self._unread[f"without a mesh ({kind})"] += 1

    def _add_block(self, reference: Any, matrix: Floats, depth: int) -> None:
        definition = self._definitions.get(str(reference.ParentIdefId))
        if definition is None or depth >= _DEPTH:
            self._unread["of blocks that are missing or contain themselves"] += 1
            return
        transform = reference.Xform
        inner = np.array([[getattr(transform, name) for name in row] for row in _ROWS])
        for number in definition.GetObjectIds():
            if item := self.objects.get(str(number)):
                self.add(item, matrix @ inner, depth + 1)

    def _meshes_of(self, geometry: Any) -> list[Any]:
        library = self._library
        if isinstance(geometry, library.Mesh):
            return [geometry]
        holders: list[Any] = []
        if isinstance(geometry, library.Brep):
            holders = [geometry.Faces[nth] for nth in range(len(geometry.Faces))]
        elif isinstance(geometry, library.Extrusion):
            holders = [geometry]
        meshes = [holder.GetMesh(library.MeshType.Any) for holder in holders]
        return [mesh for mesh in meshes if mesh is not None]

    def _material_of(self, attributes: Any) -> int:
        """Return the material of an object: its own, that of its layer, else its colour."""
        sources = self._library.ObjectMaterialSource
        number = -1
        if attributes.MaterialSource == sources.MaterialFromObject:
            number = attributes.MaterialIndex
        elif (layer := self._layers.get(attributes.LayerIndex)) is not None:
            number = layer.RenderMaterialIndex
        is_declared = 0 <= number < len(self._file.Materials)
        color = None if is_declared else _color(attributes.DrawColor(self._file))
        key = (number if is_declared else -1, color)
        if key not in self._material_numbers:
            self._material_numbers[key] = len(self.materials)
            if color is None:
                material = self._declared(self._file.Materials[number])
            elif any(color[:3]):
                material = Material(color=color, declared=False)
            else:  # The black that layers have at first is meant for lines.
                material = Material(declared=False)
            self.materials.append(material)
        return self._material_numbers[key]

    def _declared(self, material: Any) -> Material:
        red, green, blue, _ = _color(material.DiffuseColor)
        texture = material.GetBitmapTexture()
        name = str(texture.FileName) if texture is not None else ""
        content = self._files.read(name, "texture") if name else None
        alpha = 1 - min(max(float(material.Transparency), 0.0), 1.0)
        return Material(str(material.Name), (red, green, blue, alpha), content)

    def _add_mesh(self, mesh: Any, matrix: Floats, material: int) -> None:
        positions = _array(list(map(_XYZ, mesh.Vertices.ToPoint3dArray())))
        count = len(positions)
        faces = np.array(list(mesh.Faces), np.int64).reshape(-1, 4)
        wrong = unusable(faces.reshape(-1), np.full(len(faces), 4), np.ones(count, bool), 3)
        texts = left_out_text(wrong, "faces", lambda nth: f"face {nth + 1}", finite=True)
        self.left_out.extend(text for text in texts if text not in self.left_out)
        faces = faces[~wrong]
        quads = faces[faces[:, 2] != faces[:, 3]]
        has_texture = self.materials[material].texture is not None
        uv = [(place.X, 1 - place.Y) for place in mesh.TextureCoordinates] if has_texture else []
        normals = list(map(_XYZ, mesh.Normals)) if len(mesh.Normals) == count else []
        colors = list(mesh.VertexColors) if len(mesh.VertexColors) == count else []
        part = Part(
            positions,
            np.concatenate([faces[:, :3], quads[:, [0, 2, 3]]]),
            normals=_array(normals) if normals else None,
            uv=np.array(uv, np.float64) if len(uv) == count and count else None,
            colors=np.array(colors, np.float64)[:, :4] / 255 if colors else None,
            material=material,
        )
        self.meshes += 1
        self.parts.append(transform(part, matrix))


def _array(places: list[tuple[float, float, float]]) -> Floats:
    return np.array(places, np.float64).reshape(-1, 3)


def _color(channels: Any) -> tuple[float, float, float, float]:
    red, green, blue = (float(channel) / 255 for channel in tuple(channels)[:3])
    return red, green, blue, 1.0
