"""Recognises formats by the first bytes of a file, to explain why it cannot be read."""

import re
from typing import NamedTuple

from backend.spec.formats import IMAGE_EXTENSIONS, START_BYTES, extension_of


class _Format(NamedTuple):
    """A format, its first bytes, and the extensions under which readers read it."""

    name: str
    start: re.Pattern[bytes]
    extensions: frozenset[str] = frozenset()


def _format(name: str, start: bytes, extensions: str = "") -> _Format:
    return _Format(name, re.compile(start, re.DOTALL), frozenset(extensions.split()))


def _picture(name: str, start: bytes) -> _Format:
    """Return a format that is read under the extension of any picture: it is refused as it is."""
    return _Format(name, re.compile(start, re.DOTALL), IMAGE_EXTENSIONS)


_SPACE = rb"(?:\xef\xbb\xbf)?\s*"
# Comments and declarations before the first element of XML.
_XML = _SPACE + rb"(?:<[?!][^>]*>\s*)*"

# In this order: more than one may match. Formats without a mark, such as OBJ and TGA, are not
# recognised. Some are here that no reader reads, because their files are often renamed.
_FORMATS = (
    _format("GLB", rb"glTF", "glb gltf vrm"),
    _format("glTF", _SPACE + rb'\{.*"asset"', "gltf glb vrm"),
    _picture("PNG", rb"\x89PNG\r\n\x1a\n"),
    _picture("JPEG", rb"\xff\xd8\xff"),
    _picture("GIF", rb"GIF8[79]a"),
    _picture("WebP", rb"RIFF....WEBP"),
    _picture("TIFF", rb"II[*+]\0|MM\0[*+]"),
    _picture("BMP", rb"BM.{4}\0{4}.{4}[\x0c\x28\x34\x38\x40\x6c\x7c]\0{3}"),
    _picture("PSD", rb"8BPS\0\x01"),
    _picture("DDS", rb"DDS \x7c\0{3}"),
    _picture("JPEG 2000", rb"\0{3}\x0cjP {2}\r\n\x87\n"),
    _picture("AVIF", rb"....ftypavi[fs]"),
    _format("HEIF", rb"....ftyp(?:hei[cxms]|hev[cxms]|mif1|msf1)"),
    _format("PDF", rb"%PDF-", "pdf"),
    _format("PLY", rb"ply[ \t]*[\r\n]", "ply"),
    _format("STL", _SPACE + rb"solid\b.*\bfacet\s+normal\b", "stl"),
    _format("LAS", rb"LASF", "las laz"),
    _format("E57", rb"ASTM-E57"),
    _format("FBX", rb"Kaydara FBX Binary|; FBX ", "fbx"),
    _format("Blender", rb"BLENDER", "blend"),
    _format("IFC", _SPACE + rb"ISO-10303-21;.*\bFILE_SCHEMA\s*\(\s*\(\s*'IFC", "ifc"),
    _format("STEP", _SPACE + rb"ISO-10303-21;", "step stp ifc"),
    _format("IGES", rb"[^\r\n]{72}S[ 0]{6}1", "iges igs"),
    _format("DXF", rb"AutoCAD Binary DXF|\s*0\s+SECTION\b", "dxf"),
    _format("DWG", rb"AC10\d\d\0"),
    _format("USD", rb"PXR-USDC|#usda "),
    _format("Collada", _XML + rb"<(?:\w+:)?COLLADA\b", "dae xml"),
    _format("X3D", _XML + rb"<(?:\w+:)?X3D\b", "x3d xml"),
    _format("AMF", _XML + rb"<amf\b", "amf xml"),
    _format("HTML", _SPACE + rb"(?i:<!doctype\s+html|<html)\b"),
    _format("SVG", _XML + rb"<svg\b"),
    _format("3MF", rb"PK\x03\x04.*3D/3dmodel\.model", "3mf"),
    _format("ZIP", rb"PK\x03\x04", "3mf amf ifczip zae"),
    _format("gzip", rb"\x1f\x8b\x08", "blend x3d x3db xgl"),
)


def other_format(path: str, start: bytes) -> str | None:
    """Return the reason why a refused file cannot be read, if its name has a wrong extension.

    `start` is the beginning of the content. None if its format is not recognised, or has this
    extension.
    """
    extension, start = extension_of(path), start[:START_BYTES]
    found = next((one for one in _FORMATS if one.start.match(start)), None)
    if found is None or extension in found.extensions:
        return None
    return f"The content is {found.name}, but the name ends in .{extension}"
