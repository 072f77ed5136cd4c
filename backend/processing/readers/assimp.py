"""Forty formats by the Open Asset Import Library, through the C API that `assimp-py` exports.

`assimp_py` itself returns meshes only. Its library also has materials, textures and metadata, and
above all an interface for file access: an importer opens what `Files` returns, and no other file.
"""

import ctypes as c
import functools
import importlib.util
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from backend.processing.files import Files
from backend.processing.readers import assimp_types as ai
from backend.processing.readers.assimp_arrays import bone_names, leave_out, mesh_count, parts_of
from backend.processing.readers.assimp_files import FileAccess
from backend.processing.readers.assimp_materials import Materials
from backend.processing.readers.assimp_texts import with_plain_lists, without_prefix
from backend.processing.readers.text import BYTE_ORDER_MARK, utf8_lines
from backend.processing.readers.transforms import transform
from backend.processing.readers.units import unit_and_up
from backend.processing.render.camera import upright
from backend.processing.scene import RefusedError, Scene, UnsupportedError
from backend.spec.formats import FORMAT_OF, extension_of

# aiProcess_JoinIdenticalVertices in assimp/postprocess.h.
_JOIN_VERTICES = 0x2
# Positions remain in the units and axes of the file.
_COLLADA = ("IMPORT_COLLADA_IGNORE_UNIT_SIZE", "IMPORT_COLLADA_IGNORE_UP_DIRECTION")
_SKELETON = "SkeletonMaterial"
# Texts of the importers that repeat the rest of the file, or name their own classes.
_REASONS = tuple(
    (re.compile(pattern, re.DOTALL), reason)
    for pattern, reason in (
        (r'(?:Cannot parse string|The string) "\s*([^\s",]{1,40}).*', r"'\1' is not a number"),
        (r'(?:Cannot parse string|The string) ".*', "a number is missing"),
        (
            r"(?:StreamReader: )?(?:End of [Ff]ile|File is empty) .*",
            "truncated: the file ends early",
        ),
        (r"Failed to open file .*", "not a ZIP archive that can be read"),
        (r"Failed to create XML reader .*", "its XML is not valid"),
        (r"No suitable reader found .*", "its content is not of a format that importers know"),
        (
            r".*_M_range_check: __n \(which is (\d+)\) >= this->size\(\) \(which is (\d+)\).*",
            r"element \1 does not exist, there are \2",
        ),
        (r"An unknown error .*", "the importer cannot read it, without a reason"),
    )
)
# Assimp gets the names of files under a root that no model names: references are relative to it.
_ROOT = "/model-8c1f/"


@functools.cache
def library() -> Any:
    """Return assimp's library. Loading it opens files: a confined child has it loaded before."""
    spec = importlib.util.find_spec("assimp_py")
    if spec is None or spec.submodule_search_locations is None:
        raise ImportError("assimp_py is not installed")
    folder = Path(spec.submodule_search_locations[0])
    loaded = c.CDLL(str(next(folder.glob("assimp_py*.so"))))
    ai.declare(loaded)
    return loaded


def read(data: bytes, name: str, files: Files) -> Scene:
    """Read a file by the importer that its extension or its content selects.

    Raises:
        UnsupportedError: no importer can read it; the message is that of the importer.
    """
    extension = extension_of(name)
    path, data = _ROOT + name, _readable(data)
    if FORMAT_OF[extension].is_xml:
        data = with_plain_lists(without_prefix(data))
    access = FileAccess(
        lambda requested: data if requested == path else files.read(_name_of(requested), "other")
    )
    loaded = library()
    properties = loaded.aiCreatePropertyStore()
    for setting in _COLLADA:
        loaded.aiSetImportPropertyInteger(properties, setting.encode(), 1)
    # No steps of post-processing: assimp's own triangulation leaves out corners and polygons
    # (decision 87).
    pointer = loaded.aiImportFileExWithProperties(
        path.encode(), 0, c.byref(access.structure), properties
    )
    loaded.aiReleasePropertyStore(properties)
    if not pointer:
        message = (loaded.aiGetErrorString() or b"").decode("utf-8", "replace").strip()
        raise _refusal(message)
    try:
        left_out, may_join = leave_out(pointer.contents)
        # Not if all faces of a mesh were left out: joining reads the vertices of faces.
        if may_join:
            pointer = loaded.aiApplyPostProcessing(pointer, _JOIN_VERTICES)
        scene = _scene(pointer.contents, data, extension, files)
        return replace(scene, left_out=(*left_out, *scene.left_out))
    finally:
        loaded.aiReleaseImport(pointer)


def _readable(data: bytes) -> bytes:
    """Return a text without byte order mark, with line ends that all importers know."""
    if data[:2] in {b"\xff\xfe", b"\xfe\xff"} and b"<" not in data[2:4]:
        data = utf8_lines(data)  # not XML, whose parsers read UTF-16, and which names its encoding
    data = data.removeprefix(BYTE_ORDER_MARK)
    if b"\r" in data[:4096] and b"\n" not in data and b"\0" not in data:
        return data.replace(b"\r", b"\n")
    return data


def _refusal(message: str) -> RefusedError:
    if "bad_alloc" in message or "bad allocation" in message:
        return RefusedError("needs more memory than allowed")
    for pattern, reason in _REASONS:
        message = pattern.sub(reason, message)
    text = message.replace(_ROOT, "").replace("\n", " ")
    return UnsupportedError(text or "no importer reads it")


def _name_of(path: str) -> str:
    return path.replace("\\", "/").removeprefix(_ROOT)


def _scene(scene: Any, data: bytes, extension: str, files: Files) -> Scene:
    format_ = FORMAT_OF[extension]
    metadata = _metadata(scene.metadata)
    read_materials = Materials(scene, files, data, extension).read()
    bones: dict[str, Literal["meshes", "placed meshes"]] = {
        "Collada": "meshes",
        "FBX": "placed meshes",
    }
    parts = parts_of(scene, bones.get(format_.name, ""))
    is_skeleton = {material.name for material in read_materials} == {_SKELETON}
    places = np.concatenate([np.zeros((0, 3)), *(part.positions for part in parts)])
    # Importers draw a pyramid for each node where there is no mesh. In Collada it may be a light.
    if is_skeleton and (format_.name == "Collada" or (places == places[:1]).all()):
        parts = []
    if not parts and not scene.animation_count and not is_skeleton:
        raise UnsupportedError("contains no geometry")
    unit, up = unit_and_up(format_.units, data, metadata)
    if format_.is_rotated:
        up = "z"
    if format_.is_rotated or ("UpAxis" in metadata and up):
        # These importers turn every scene to y up.
        back = np.eye(4)
        back[:3, :3] = upright(up or "z").T
        if extension == "ifc" and unit is not None:
            back /= unit.metres  # and scales it to metres
            back[3, 3] = 1
        parts = [transform(part, back) for part in parts]
    return Scene(
        format=_format(metadata, extension),
        parts=parts,
        materials=read_materials,
        meshes=mesh_count(scene),
        generator=str(metadata.get("SourceAsset_Generator", ""))[:200],
        up=up or ("z" if extension == "stl" else "y"),
        defines_up=up is not None,
        unit=unit,
        animations=scene.animation_count,
        bones=len(bone_names(scene)),
        embedded_textures=scene.texture_count,
    )


def _format(metadata: dict[str, Any], extension: str) -> str:
    named = str(metadata.get("SourceAsset_Format", "")).removesuffix(" Importer").strip()
    return named[:80] or extension.upper()


def _metadata(pointer: Any) -> dict[str, Any]:
    if not pointer:
        return {}
    kinds: dict[int, Any] = {0: c.c_bool, 1: c.c_int32, 2: c.c_uint64, 3: c.c_float, 4: c.c_double}
    values: dict[str, Any] = {}
    metadata = pointer.contents
    # A broken file may declare any count.
    for index in range(min(metadata.count, 1000)):
        entry = metadata.values[index]
        if entry.data and entry.type in kinds:
            values[metadata.keys[index].text()] = kinds[entry.type].from_address(entry.data).value
        elif entry.data and entry.type == 5:
            values[metadata.keys[index].text()] = ai.String.from_address(entry.data).text()
    return values
