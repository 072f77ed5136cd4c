"""Reads a file by the reader of its format."""

from collections.abc import Callable, Mapping
from importlib import import_module

from backend.processing.files import Files
from backend.processing.readers import (
    assimp,
    cad,
    draco,
    dxf,
    e57,
    gltf,
    ifc,
    las,
    mjcf,
    obj,
    packed_splats,
    ply,
    points,
    rhino,
    sdf,
    splats,
    stl,
    three_mf,
    urdf,
    usd,
)
from backend.processing.readers.archives import ifc_of, xgl_of
from backend.processing.readers.assimp_texts import off_rows
from backend.processing.readers.checks import CHECKS
from backend.processing.readers.documents import Document, read_image, read_pdf
from backend.processing.readers.heif import is_heif
from backend.processing.readers.light import is_exr
from backend.processing.readers.media import Film, read_media
from backend.processing.readers.svg import read_svg
from backend.processing.readers.text import require_text
from backend.processing.readers.xml_start import xml_start
from backend.processing.scene import RefusedError, Scene, UnsupportedError
from backend.spec.formats import FORMAT_OF

Reader = Callable[[bytes, str, Files], Scene]

# Whether a content needs a library that most files with its extension do not need.
_NEEDED: Mapping[str, Callable[[bytes], bool]] = {
    # Or whether a robot may consist of such meshes.
    "DracoPy": lambda data: draco.EXTENSION.encode() in data or b'.glb"' in data,
    "OpenEXR": is_exr,
    "backports.zstd": lambda data: data.startswith(b"NGSP"),
    "pi_heif": is_heif,
}
_PACKED = (b"PK", b"\x1f\x8b", b"glTF")


def preload(extension: str, data: bytes) -> None:
    """Load the libraries by which a file is read. Readers load them too, but may be confined."""
    for name in FORMAT_OF[extension].libraries.split() if extension in FORMAT_OF else ():
        if name not in _NEEDED or _NEEDED[name](data):
            import_module(name)


def read_model(data: bytes, name: str, extension: str, files: Files) -> Scene:
    """Read a model.

    Raises:
        RefusedError: no reader can read it.
    """
    format_ = FORMAT_OF[extension]
    is_binary = data.startswith(_PACKED) or b"BINARY" in data[:40].upper()
    if format_.is_text and not is_binary:
        require_text(data, extension.upper())
    if format_.check:
        CHECKS[format_.check](data)
    return READERS[format_.reader](data, name, files)


def _or_assimp(read: Callable[[bytes, Files], Scene]) -> Reader:
    """Use a reader first. Assimp reads what it does not support: glTF 1.0, curves of OBJ."""

    def read_either(data: bytes, name: str, files: Files) -> Scene:
        try:
            return read(data, files)
        except UnsupportedError as error:
            reason = str(error)
        try:
            return assimp.read(data, name, files)
        except UnsupportedError:
            raise RefusedError(reason) from None

    return read_either


# Assimp would open archives by their path; the names are those of their contents.
READERS: Mapping[str, Reader] = {
    "3mf": three_mf.read,
    "assimp": assimp.read,
    "cad": cad.read,
    "dxf": lambda data, name, files: (
        assimp.read(data, name, files) if data.startswith(dxf.BINARY) else dxf.read(data)
    ),
    "e57": e57.read,
    "gltf": _or_assimp(gltf.read),
    "ifc": ifc.read,
    "ifczip": lambda data, name, files: ifc.read(ifc_of(data), name, files),
    "las": lambda data, _name, _files: las.read(data),
    "mjcf": lambda data, _name, files: mjcf.read(data, files, read_model),
    "obj": _or_assimp(obj.read),
    "off": lambda data, name, files: assimp.read(off_rows(data), name, files),
    "ply": _or_assimp(ply.read),
    "ksplat": packed_splats.read_ksplat,
    "sog": packed_splats.read_sog,
    "sdf": lambda data, _name, files: sdf.read(data, files, read_model),
    "splat": splats.read_splat,
    "spz": splats.read_spz,
    "stl": _or_assimp(lambda data, _files: stl.read(data)),
    "pcd": points.read_pcd,
    "rhino": rhino.read,
    "points": points.read_text,
    "urdf": lambda data, _name, files: urdf.read(data, files, read_model),
    "usd": usd.read,
    "xml": lambda data, name, files: (
        mjcf.read(data, files, read_model)
        if xml_start(data).root.startswith("mujoco")
        else assimp.read(data, name, files)
    ),
    "zgl": lambda data, name, files: assimp.read(xgl_of(data), f"{name[: -len('zgl')]}xgl", files),
}

DOCUMENT_READERS: Mapping[str, Callable[[bytes], Document | Film]] = {
    "image": read_image,
    "media": read_media,
    "pdf": read_pdf,
    "svg": read_svg,
}
