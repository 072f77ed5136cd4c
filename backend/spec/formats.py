"""The file formats that the product knows, a row for each: `docs/guides/adding-a-format.md`.

An extension is lower case and has no leading dot. A file whose extension no reader reads starts no
inspection.
"""

from typing import Literal

from backend.values import frozen

Tier = Literal["Promised", "Read", "Stored"]
Kind = Literal["glTF", "model", "image", "document", "other"]
Viewer = Literal[
    "model",
    "splats",
    "image",
    "video",
    "audio",
    "pdf",
    "table",
    "markdown",
    "code",
    "text",
    "other",
]


@frozen
class Format:
    """A format. `backend.processing.readers.models` resolves the names of functions.

    Attributes:
        extensions: separated by spaces, as all lists here.
        start: a pattern of the first bytes. The first row that matches names a content, to explain
            why a file with another extension cannot be read.
        media_type: from IANA's registry, or with `x-` the one in common use.
        read_under: other extensions under which this content is read.
        marks: first bytes of models, for extensions that other programs also use.
        check: the function that refuses a broken file before the reader reads it.
        libraries: loaded before the process that reads a file is confined.
        units: the rule for the unit of length and the axis that points up.
        is_rotated: whether assimp rotates these files, whose z axis points up, to y up.
        viewer: the viewer of the page. That of models also shows pictures of other files.
        convert_to: a format that is read, for files that no reader reads.
    """

    name: str
    extensions: str
    tier: Tier
    kind: Kind = "model"
    reader: str = "assimp"
    media_type: str = ""
    start: bytes = b""
    read_under: str = ""
    marks: tuple[bytes, ...] = ()
    check: str = ""
    libraries: str = "mapbox_earcut"
    units: str = ""
    is_text: bool = False
    is_xml: bool = False
    is_rotated: bool = False
    viewer: Viewer = "model"
    convert_to: str = ""


def _image(
    name: str, extensions: str, media_type: str, start: bytes = b"", viewer: Viewer = "model"
) -> Format:
    """Return a format of images, whose reader reads any image under the name of any other one."""
    fields = (name, extensions, "Promised", "image", "image", media_type, start)
    return Format(*fields, libraries="OpenEXR pi_heif", viewer=viewer)


def _stored(
    name: str,
    extensions: str,
    convert_to: str = "",
    media_type: str = "",
    start: bytes = b"",
    viewer: Viewer = "model",
) -> Format:
    fields = (name, extensions, "Stored", "other", "", media_type, start)
    return Format(*fields, libraries="", viewer=viewer, convert_to=convert_to)


def _media(
    name: str, extensions: str, media_type: str, start: bytes = b"", viewer: Viewer = "video"
) -> Format:
    """Return a format of films or sound, whose reader reads each under the name of any other."""
    fields = (name, extensions, "Promised", "document", "media", media_type, start)
    return Format(*fields, read_under=_MEDIA, libraries="cv2 pymediainfo soundfile", viewer=viewer)


def _usd(name: str, extensions: str, media_type: str, start: bytes = b"") -> Format:
    """Return a form of USD, whose reader reads each form under the name of any other one."""
    fields = (name, extensions, "Promised", "model", "usd", media_type, start)
    return Format(*fields, read_under="usd usda usdc usdz", libraries="")


_SPACE = rb"(?:\xef\xbb\xbf)?\s*"
# Comments and declarations before the first element of XML.
_XML = _SPACE + rb"(?:<[?!][^>]*>\s*)*"
_GLTF = "DracoPy mapbox_earcut"
_MEDIA = "aif aiff avi flac m4a m4v mkv mov mp3 mp4 mpeg mpg oga ogg ogv opus wav webm wma wmv"
_RASTER = "JPEG, PNG or AVIF"
_POINTS = "LAS, LAZ or PLY"

# More than one `start` may match a content: the first one counts. Formats without a mark, such as
# OBJ and TGA, have none.
FORMATS = (
    Format(
        *("GLB", "glb", "Promised", "glTF", "gltf", "model/gltf-binary", rb"glTF", "gltf vrm"),
        libraries=_GLTF,
        units="gltf",
    ),
    Format(
        *("glTF", "gltf", "Promised", "glTF", "gltf", "model/gltf+json"),
        start=_SPACE + rb'\{.*"asset"',
        read_under="glb vrm",
        libraries=_GLTF,
        units="gltf",
        is_text=True,
    ),
    Format("VRM", "vrm", "Promised", reader="gltf", libraries=_GLTF, units="gltf"),
    _image("PNG", "png", "image/png", rb"\x89PNG\r\n\x1a\n", "image"),
    _image("JPEG", "jpeg jpg", "image/jpeg", rb"\xff\xd8\xff", "image"),
    _image("GIF", "gif", "image/gif", rb"GIF8[79]a", "image"),
    _image("WebP", "webp", "image/webp", rb"RIFF....WEBP", "image"),
    _image("TIFF", "tif tiff", "image/tiff", rb"II[*+]\0|MM\0[*+]"),
    _image(
        *("BMP", "bmp", "image/bmp"),
        rb"BM.{4}\0{4}.{4}[\x0c\x28\x34\x38\x40\x6c\x7c]\0{3}",
        "image",
    ),
    _image("PSD", "psd", "image/vnd.adobe.photoshop", rb"8BPS\0\x01"),
    _image("DDS", "dds", "image/vnd-ms.dds", rb"DDS \x7c\0{3}"),
    _image("JPEG 2000", "jp2", "image/jp2", rb"\0{3}\x0cjP {2}\r\n\x87\n"),
    _image("AVIF", "avif", "image/avif", rb"....ftypavi[fs]", "image"),
    _image("OpenEXR", "exr", "image/x-exr", rb"v/1\x01"),
    _image("Radiance", "hdr", "image/vnd.radiance", rb"#\?(?:RADIANCE|RGBE)\s"),
    _image("DNG", "dng", "image/x-adobe-dng"),
    _image("ICO", "ico", "image/vnd.microsoft.icon"),
    _image("TGA", "tga", "image/x-tga"),
    # The brand says which pictures the container has; some writers name it only after the first.
    _image(
        *("HEIF", "heic heif hif", "image/heic"),
        rb"....ftyp(?:hei[cxms]|hev[cxms]|m[is]f1(?:.{4}){1,15}(?:hei[cxms]|hev[cxms]))",
    ),
    _media("MP4", "m4v mp4", "video/mp4", rb"....ftyp(?:3gp|avc1|dash|iso|mp4|M4V|MSNV)"),
    _media("MPEG-4 sound", "m4a", "audio/mp4", rb"....ftypM4[AB]", "audio"),
    _media("QuickTime", "mov", "video/quicktime", rb"....(?:ftypqt|moov|mdat|wide)"),
    _media("Matroska", "mkv", "video/x-matroska", rb"\x1aE\xdf\xa3", "model"),
    _media("WebM", "webm", "video/webm"),
    _media("AVI", "avi", "video/x-msvideo", rb"RIFF....AVI ", "model"),
    _media("MPEG", "mpeg mpg", "video/mpeg", rb"\0\0\x01[\xb3\xba]", "model"),
    _media("Windows Media", "wmv", "video/x-ms-wmv", rb"0&\xb2u\x8ef\xcf\x11", "model"),
    # Neither browsers nor libsndfile decode it.
    _media("Windows Media sound", "wma", "audio/x-ms-wma", viewer="audio"),
    _media("Ogg", "oga ogg opus", "audio/ogg", rb"OggS", "audio"),
    _media("Ogg films", "ogv", "video/ogg", viewer="model"),  # browsers gave up Theora in 2024
    _media("MP3", "mp3", "audio/mpeg", rb"ID3", "audio"),
    _media("WAVE", "wav", "audio/wav", rb"RIFF....WAVE", "audio"),
    _media("FLAC", "flac", "audio/flac", rb"fLaC", "audio"),
    _media("AIFF", "aif aiff", "audio/aiff", rb"FORM....AIF[CF]", "model"),
    Format(
        *("PDF", "pdf", "Promised", "document", "pdf", "application/pdf", rb"%PDF-"),
        libraries="pypdfium2",
        viewer="pdf",
    ),
    Format("PLY", "ply", "Promised", "model", "ply", "application/x-ply", rb"ply[ \t]*[\r\n]"),
    Format(
        *("STL", "stl", "Promised", "model", "stl", "model/stl"),
        start=_SPACE + rb"solid\b.*\bfacet\s+normal\b",
    ),
    Format(
        *("LAS", "las", "Promised", "model", "las", "application/vnd.las", rb"LASF", "laz"),
        libraries="laspy lazrs",
    ),
    Format(
        *("LAZ", "laz", "Promised", "model", "las", "application/vnd.laszip"),
        libraries="laspy lazrs",
    ),
    Format(
        *("PCD", "pcd", "Promised", "model", "pcd", "application/x-pcd"),
        start=rb"(?:#[^\n]*\n)?VERSION[ \t][^\n]*\nFIELDS\b",
        libraries="",
    ),
    Format("SPLAT", "splat", "Promised", reader="splat", libraries="", viewer="splats"),
    Format(
        *("SPZ", "spz", "Promised", "model", "spz"),
        start=rb"NGSP",
        libraries="backports.zstd",
        viewer="splats",
    ),
    Format("KSPLAT", "ksplat", "Promised", reader="ksplat", libraries="", viewer="splats"),
    Format("SOG", "sog", "Promised", reader="sog", libraries="", viewer="splats"),
    Format("XYZ and PTS", "pts xyz", "Promised", reader="points", libraries="", is_text=True),
    Format(
        *("OBJ", "obj", "Promised", "model", "obj", "model/obj"),
        check="obj",
        is_text=True,
    ),
    Format(
        *("E57", "e57", "Promised", "model", "e57", "model/e57", rb"ASTM-E57"),
        libraries="xml.etree.ElementTree",
    ),
    Format(
        *("FBX", "fbx", "Promised", "model", "assimp", "application/vnd.autodesk.fbx"),
        start=rb"Kaydara FBX Binary|; FBX ",
        check="fbx",
        units="fbx",
    ),
    Format(
        *("Rhino", "3dm", "Promised", "model", "rhino", "model/vnd.3dm"),
        start=rb"3D Geometry File Format ",
        libraries="rhino3dm uuid",
    ),
    Format("Blender", "blend", "Read", media_type="application/x-blender", start=rb"BLENDER"),
    Format(
        *("IFC", "ifc", "Promised", "model", "ifc", "application/x-step"),
        start=_SPACE + rb"ISO-10303-21;.*\bFILE_SCHEMA\s*\(\s*\(\s*'IFC",
        libraries="",
        is_text=True,
    ),
    Format("ifcZIP", "ifczip", "Promised", reader="ifczip", libraries=""),
    # IfcOpenShell 0.9 writes it, but cannot read it.
    _stored("ifcXML", "ifcxml", "IFC"),
    Format(
        *("STEP", "step stp", "Promised", "model", "cad", "model/step"),
        start=_SPACE + rb"ISO-10303-21;",
        read_under="ifc",
        check="step",
        libraries="cascadio",
        is_text=True,
    ),
    Format(
        *("IGES", "iges igs", "Promised", "model", "cad", "model/iges", rb"[^\r\n]{72}S[ 0]{6}1"),
        check="iges",
        libraries="cascadio",
        is_text=True,
    ),
    Format(
        *("DXF", "dxf", "Promised", "model", "dxf", "image/vnd.dxf"),
        start=rb"AutoCAD Binary DXF|\s*0\s+SECTION\b",
        check="dxf",
        units="dxf",
        is_text=True,
    ),
    _stored("DWG", "dwg", "DXF", "image/vnd.dwg", rb"AC10\d\d\0"),
    _usd("USD", "usd", "model/vnd.usd", rb"PXR-USDC|#usda |#sdf "),
    _usd("USD text", "usda", "model/vnd.usda"),
    _usd("USD binaries", "usdc", "model/vnd.usdc"),
    # The name of the first file follows 26 bytes of its header.
    _usd("USD packages", "usdz", "model/vnd.usdz+zip", rb"PK\x03\x04.{26}[^\0]{1,200}?\.usd[ac]?"),
    Format(
        *("Collada", "dae", "Promised", "model", "assimp", "model/vnd.collada+xml"),
        start=_XML + rb"<(?:\w+:)?COLLADA\b",
        read_under="xml",
        check="collada",
        units="collada",
        is_text=True,
        is_xml=True,
    ),
    Format("Collada packages", "zae", "Promised", units="collada"),
    Format(
        *("URDF", "urdf", "Promised", "model", "urdf", "application/xml"),
        start=_XML + rb"<robot\b",
        libraries=_GLTF,
        is_text=True,
        is_xml=True,
    ),
    Format(
        *("SDF", "sdf", "Promised", "model", "sdf", "application/xml"),
        start=_XML + rb"<sdf\b",
        marks=(b"<sdf",),
        libraries=_GLTF,
        is_text=True,
        is_xml=True,
    ),
    Format(
        *("MJCF", "mjcf", "Promised", "model", "mjcf", "application/xml"),
        start=_XML + rb"<mujoco\b",
        read_under="xml",
        libraries=_GLTF,
        is_text=True,
        is_xml=True,
    ),
    Format(
        *("X3D", "x3d", "Read", "model", "assimp", "model/x3d+xml"),
        start=_XML + rb"<(?:\w+:)?X3D\b",
        read_under="xml",
        units="x3d",
        is_text=True,
        is_xml=True,
    ),
    Format("X3D binaries", "x3db", "Read", units="x3db"),
    Format(
        *("AMF", "amf", "Read"),
        start=_XML + rb"<amf\b",
        read_under="xml",
        units="amf",
        is_text=True,
        is_xml=True,
    ),
    _stored(
        *("HTML", "htm html", "", "text/html"),
        _SPACE + rb"(?i:<!doctype\s+html|<html)\b",
        "code",
    ),
    Format(
        *("SVG", "svg", "Promised", "document", "svg", "image/svg+xml"),
        start=_XML + rb"<(?:\w+:)?svg\b",
        libraries="resvg_py fontpkg_noto_sans",
        viewer="image",
    ),
    Format(
        *("3MF", "3mf", "Promised", "model", "3mf", "model/3mf"),
        start=rb"PK\x03\x04.*3D/3dmodel\.model",
        units="3mf",
    ),
    Format(
        *("ZIP", "zip", "Stored", "other", "", "application/zip", rb"PK\x03\x04"),
        read_under="3mf amf ifczip sog usdz zae",
        viewer="other",
    ),
    Format(
        *("gzip", "gz", "Stored", "other", "", "application/gzip", rb"\x1f\x8b\x08"),
        read_under="blend spz x3d x3db xgl",
        viewer="other",
    ),
    # Left out: `ask`, `mot`, `prj` and `scn`, which in asset libraries nearly always belong to
    # other programs and have no mark; `pk3`, a whole game archive, and `bsp`, which it contains.
    Format("3D GameStudio", "hmp", "Read"),
    Format("3ds Max ASE", "ase", "Read", is_text=True, is_rotated=True),
    Format("3D Studio", "3ds", "Read", media_type="application/x-3ds", is_rotated=True),
    Format("AC3D", "ac ac3d acc", "Read", is_text=True),
    Format("Assimp binary", "assbin", "Read"),
    Format("BioVision motion", "bvh", "Read", is_text=True),
    Format("Blitz3D", "b3d", "Read"),
    Format("CharacterStudio motion", "csm", "Read", is_text=True),
    Format("DirectX", "x", "Read", marks=(b"xof ",)),
    Format("Doom 3", "md5anim md5camera md5mesh", "Read", is_text=True),
    Format("Inter-Quake", "iqm", "Read"),
    Format("Irrlicht", "irr irrmesh", "Read", is_text=True, is_xml=True),
    Format("LightWave", "lwo lxo", "Read"),
    Format("LightWave scenes", "lws", "Read", is_text=True),
    Format("MilkShape 3D", "ms3d", "Read"),
    Format("MikuMikuDance", "pmx", "Read"),
    Format("Nendo", "ndo", "Read"),
    Format("Neutral File Format", "enff nff", "Read", is_text=True),
    Format("OFF", "off", "Read", reader="off", is_text=True),
    Format("Ogre", "mesh", "Read", marks=(b"[MeshSerializer",)),
    Format("Open Game Engine Exchange", "ogex", "Read", is_text=True),
    Format("Quake", "md2 md3 mdc", "Read"),
    Format(
        *("Quake and Half-Life", "mdl", "Read"),
        marks=(b"IDPO", b"IDST", b"IDSQ", b"MDL2", b"MDL3", b"MDL4", b"MDL5", b"MDL7"),
    ),
    Format("Quick3D", "q3o q3s", "Read"),
    Format("Raw triangles", "raw", "Read", is_text=True),
    Format("Silo", "sib", "Read"),
    Format("Terragen", "ter", "Read", marks=(b"TERRAGEN",)),
    Format("trueSpace", "cob", "Read"),
    Format("Unreal", "3d a3d", "Read"),
    Format("Unreal scripts", "uc", "Read", marks=(b"#exec",)),
    Format("Valve models", "smd vta", "Read", is_text=True),
    Format("XGL", "xgl", "Read", is_text=True, is_xml=True),
    Format("ZGL", "zgl", "Read", reader="zgl"),
    Format(
        *("Models in XML", "xml", "Read", "model", "xml", "application/xml"),
        marks=(b"<COLLADA", b"<mesh", b"<irr_scene", b"<WORLD", b"<X3D", b"<amf", b"<mujoco"),
        libraries=_GLTF,
        check="collada",
        units="xml",
        is_text=True,
        is_xml=True,
        viewer="code",
    ),
    _stored("macros of robots", "xacro", "URDF"),
    _stored("PTX point clouds", "ptx", _POINTS),
    _stored("ReCap point clouds", "rcp rcs", _POINTS),
    _stored("CATIA models", "catpart catproduct", "STEP"),
    _stored("Fusion models", "f3d", "STEP"),
    _stored("Inventor models", "iam ipt", "STEP"),
    _stored("JT models", "jt", "STEP", "model/jt"),
    _stored("NX and Creo models", "prt", "STEP"),
    _stored("Parasolid models", "x_b x_t", "STEP"),
    _stored("SolidWorks models", "sldasm sldprt", "STEP"),
    _stored("Revit models", "rfa rvt", "IFC"),
    _stored("3ds Max models", "max", "GLB or FBX"),
    _stored("Cinema 4D models", "c4d", "GLB or FBX"),
    _stored("Maya models", "ma mb", "GLB or FBX"),
    _stored("SketchUp models", "skp", "GLB or FBX"),
    _stored("U3D models", "u3d", "GLB or FBX", "model/u3d"),
    _stored("raw photographs", "arw cr2 cr3 nef", "JPEG or TIFF"),
    _stored("KTX textures", "ktx", _RASTER, "image/ktx"),
    # No package that decodes Basis Universal has a wheel for arm64 (pyktx 4.4, alktx2 0.1).
    _stored("KTX 2 textures", "ktx2", _RASTER, "image/ktx2"),
    _stored("Text", "log txt", "", "text/plain", viewer="text"),
    _stored("Settings", "ini toml yaml yml", "", "text/plain", viewer="code"),
    _stored("Programs", "c cpp css glsl h hlsl js lua py sh sql ts", "", "text/plain", b"", "code"),
    _stored("CSV", "csv", "", "text/csv", viewer="table"),
    _stored("JSON", "json", "", "application/json", viewer="code"),
    _stored("Markdown", "md", "", "text/markdown", viewer="markdown"),
    _stored("Materials of OBJ", "mtl", "", "model/mtl", viewer="text"),
    _stored("Other archives and documents", "7z bin doc docx tar", viewer="other"),
)

FORMAT_OF = {extension: row for row in FORMATS for extension in row.extensions.split()}
"""The format of each extension."""


def _extensions(*formats: Format) -> frozenset[str]:
    return frozenset(extension for row in formats for extension in row.extensions.split())


_INSPECTED = [row for row in FORMATS if row.tier != "Stored"]
IMAGE_EXTENSIONS = _extensions(*(row for row in FORMATS if row.kind == "image"))
# Functions for readers whose library does not fit beside the others into Lambda's limit.
_FUNCTION_OF_READER = {
    "cad": "InspectCad",
    "ifc": "InspectIfc",
    "ifczip": "InspectIfc",
    "media": "InspectMedia",
    "usd": "InspectUsd",
}
EXTENSIONS_OF = {
    function: _extensions(
        *(row for row in _INSPECTED if _FUNCTION_OF_READER.get(row.reader, "Inspect") == function)
    )
    for function in ("Inspect", *dict.fromkeys(_FUNCTION_OF_READER.values()))
}
"""The extensions that each function reads, by its name."""
FOLDER_EXTENSIONS = _extensions(*(row for row in _INSPECTED if row.reader in {"cad", "svg", "usd"}))
"""Extensions whose library opens files by their path, in a folder of the confined process."""
KINDS_IN_ORDER = tuple(
    _extensions(*(row for row in _INSPECTED if row.kind == kind))
    for kind in ("glTF", "model", "image", "document")
)
"""Kinds of files in the order in which one of an asset is shown: images and documents are often
the textures and drawings of its models."""

# One read of an object's beginning, for the few extensions that other programs use, too. A model
# without a mark in it is inspected only by hand (decision 88).
START_BYTES = 4096
AMBIGUOUS_EXTENSIONS = _extensions(*(row for row in FORMATS if row.marks)) | {"raw"}


def reason_not_inspected(extension: str) -> str | None:
    """Return why files with an extension start no inspection, None for those that start one."""
    format_ = FORMAT_OF.get(extension)
    if format_ is not None and format_.tier != "Stored":
        return None
    if format_ is not None and format_.convert_to:
        return (
            f"Files with the extension .{extension} are not inspected: "
            f"no reader supports {format_.name}. Convert the file to {format_.convert_to}"
        )
    named = f"with the extension .{extension}" if extension else "without an extension"
    return f"Files {named} are not inspected"


def may_be_model(extension: str, start: bytes) -> bool:
    """Return whether a file that begins with `start` may be a model of its extension's format."""
    # An empty file is inspected: its reader refuses it with the reason.
    if not start or extension not in AMBIGUOUS_EXTENSIONS:
        return True
    if extension == "raw":  # triangles as text, not the sensor data of a camera
        return b"\0" not in start and start.isascii()
    text = start.replace(b"\0", b"")  # XML may be UTF-16
    return any(mark in text for mark in FORMAT_OF[extension].marks)


def extension_of(path: str) -> str:
    """Return the extension of a path in lower case, without its dot."""
    name = path.rsplit("/", 1)[-1]
    return name.rpartition(".")[2].lower() if "." in name else ""
