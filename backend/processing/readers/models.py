"""Reads a model by its extension."""

from dataclasses import replace
from importlib import import_module

from backend.processing.files import Files
from backend.processing.readers import assimp, cad, draco, dxf, gltf, las, obj, ply, stl, three_mf
from backend.processing.readers.archives import ifc_of, xgl_of
from backend.processing.readers.endings import OPEN_ENDED, ends_within_line, require_end
from backend.processing.readers.text import require_text, utf8_lines
from backend.processing.readers.text_elements import off_rows, require_elements
from backend.processing.readers.text_lists import with_plain_numbers
from backend.processing.scene import RefusedError, Scene, UnsupportedError
from backend.spec.formats import (
    DOCUMENT_EXTENSIONS,
    IMAGE_EXTENSIONS,
    INSPECT_CAD_EXTENSIONS,
    OWN_EXTENSIONS,
    POINT_CLOUD_EXTENSIONS,
)

_TEXTS = frozenset(
    {"ac", "ac3d", "acc", "amf", "ase", "bvh", "csm", "dae", "dxf", "enff", "gltf", "ifc", "iges"}
    | {"igs", "irr", "irrmesh", "lws", "md5anim", "md5camera", "md5mesh", "nff", "obj", "off"}
    | {"ogex", "raw", "smd", "step", "stp", "vta", "x3d", "xgl", "xml"}
)
_PACKED = (b"PK", b"\x1f\x8b", b"glTF")


def preload(extension: str, data: bytes) -> None:
    """Load the libraries by which a file is read. Readers load them too, but may be confined."""
    names: list[str] = []
    if extension in POINT_CLOUD_EXTENSIONS:
        names = ["laspy", "lazrs"]
    elif extension in DOCUMENT_EXTENSIONS:
        names = ["pypdfium2"]
    elif extension in INSPECT_CAD_EXTENSIONS:
        names = ["cascadio"]
    elif extension in OWN_EXTENSIONS and draco.EXTENSION.encode() in data:
        names = ["DracoPy"]
    elif extension not in IMAGE_EXTENSIONS:
        names = ["mapbox_earcut"]
    for name in names:
        import_module(name)


def read_model(data: bytes, name: str, extension: str, files: Files) -> Scene:
    """Read a model.

    Raises:
        RefusedError: no reader can read it.
    """
    if extension in _TEXTS and not (data.startswith(_PACKED) or b"BINARY" in data[:40].upper()):
        require_text(data, extension.upper())
    if extension in POINT_CLOUD_EXTENSIONS:
        return las.read(data)
    if extension in INSPECT_CAD_EXTENSIONS:
        return cad.read(data, extension, files)
    if extension == "3mf":
        return three_mf.read(data, name, files)
    if extension == "ifczip":  # assimp would open the archive by its path
        data, name, extension = ifc_of(data), name[: -len("zip")], "ifc"
    if extension == "zgl":
        data, name, extension = xgl_of(data), f"{name[: -len('zgl')]}xgl", "xgl"
    if extension == "ogex":
        data = with_plain_numbers(utf8_lines(data))
    if extension == "off":
        data = off_rows(data)
    require_end(extension, data)
    require_elements(extension, data)
    if extension == "dxf" and not data.startswith(dxf.BINARY):
        return dxf.read(data)
    read = _own_or_assimp if extension in OWN_EXTENSIONS else assimp.read
    scene = read(data, name, extension, files)
    is_open = extension in OPEN_ENDED and ends_within_line(data)
    return replace(scene, ends_within_line=True) if is_open else scene


def _own_or_assimp(data: bytes, name: str, extension: str, files: Files) -> Scene:
    """Use our own readers first. Assimp reads what they do not support: glTF 1.0, curves of OBJ."""
    try:
        return _own(data, extension, files)
    except UnsupportedError as error:
        reason = str(error)
    try:
        return assimp.read(data, name, extension, files)
    except UnsupportedError:
        raise RefusedError(reason) from None


def _own(data: bytes, extension: str, files: Files) -> Scene:
    match extension:
        case "obj":
            return obj.read(data, files)
        case "ply":
            return ply.read(data, files)
        case "stl":
            return stl.read(data)
        case _:
            return gltf.read(data, files)
