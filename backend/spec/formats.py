"""The file formats that the shipped pipelines inspect, by extension.

An extension is lower case and has no leading dot. A file whose extension is in neither list starts
no inspection.
"""

# Read by numpy readers of the product's own: the most common formats, and the safest code.
OWN_EXTENSIONS = frozenset({"glb", "gltf", "obj", "ply", "stl", "vrm"})

POINT_CLOUD_EXTENSIONS = frozenset({"las", "laz"})
"""Read by laspy."""

DOCUMENT_EXTENSIONS = frozenset({"pdf"})
"""Read by PDFium."""

IMAGE_EXTENSIONS = frozenset(
    {"avif", "bmp", "dds", "gif", "ico", "jp2", "jpeg", "jpg", "png", "psd", "tga", "tif"}
    | {"tiff", "webp"}
)
"""Read by Pillow, whose other formats are rare or have no safe decoder."""

# Read by assimp. Left out: `ask`, `mot`, `prj` and `scn`, which in asset libraries nearly always
# belong to other programs and have no marker to recognise them by; `step` and `stp`, which assimp
# does not
# triangulate (`InspectCad` does); `pk3`, a whole game archive, and `bsp`, which it reads from one.
ASSIMP_EXTENSIONS = frozenset(
    {"3d", "3ds", "3mf", "a3d", "ac", "ac3d", "acc", "amf", "ase", "assbin", "b3d", "blend"}
    | {"bvh", "cob", "csm", "dae", "dxf", "enff", "fbx", "hmp", "ifc", "ifczip", "iqm"}
    | {"irr", "irrmesh", "lwo", "lws", "lxo", "md2", "md3", "md5anim", "md5camera"}
    | {"md5mesh", "mdc", "mdl", "mesh", "ms3d", "ndo", "nff", "off", "ogex", "pmx", "q3o"}
    | {"q3s", "raw", "sib", "smd", "ter", "uc", "vta", "x", "x3d", "x3db", "xgl", "xml"}
    | {"zae", "zgl"}
)

INSPECT_EXTENSIONS = (
    OWN_EXTENSIONS
    | POINT_CLOUD_EXTENSIONS
    | DOCUMENT_EXTENSIONS
    | IMAGE_EXTENSIONS
    | ASSIMP_EXTENSIONS
)
"""Extensions that the function `Inspect` reads."""

# Extensions that the function `InspectCad` reads. These formats store solids without triangles,
# which only OpenCASCADE converts.
INSPECT_CAD_EXTENSIONS = frozenset({"iges", "igs", "step", "stp"})

_GLTF = frozenset({"glb", "gltf"})
_FLAT = IMAGE_EXTENSIONS | DOCUMENT_EXTENSIONS
KINDS_IN_ORDER = (
    _GLTF,
    (INSPECT_EXTENSIONS | INSPECT_CAD_EXTENSIONS) - _FLAT - _GLTF,
    IMAGE_EXTENSIONS,
    DOCUMENT_EXTENSIONS,
)
"""Kinds of files in the order in which one of an asset is shown: images and documents are often
the textures and drawings of its models."""

# One read of an object's beginning, for the few extensions that other programs use, too. A model
# without a mark in it is inspected only by hand (decision 88).
START_BYTES = 4096
_MARKS = {
    "mdl": (b"IDPO", b"IDST", b"IDSQ", b"MDL2", b"MDL3", b"MDL4", b"MDL5", b"MDL7"),
    "mesh": (b"[MeshSerializer",),
    "ter": (b"TERRAGEN",),
    "uc": (b"#exec",),
    "x": (b"xof ",),
    "xml": (b"<COLLADA", b"<mesh", b"<irr_scene", b"<WORLD", b"<X3D", b"<amf"),
}
"""The first bytes of models, for extensions that other programs also use."""
AMBIGUOUS_EXTENSIONS = frozenset({*_MARKS, "raw"})


# Known formats without a reader, and the formats to convert them to.
_NO_READER = {
    **dict.fromkeys(("usd", "usda", "usdc", "usdz"), ("Universal Scene Description", "GLB")),
    "e57": ("E57 point clouds", "LAS or LAZ"),
    **dict.fromkeys(
        ("heic", "heif"), ("HEIF images, whose codec is patented", "JPEG, PNG or AVIF")
    ),
    **dict.fromkeys(("pcd", "pts", "ptx", "rcp", "rcs"), ("this point cloud", "LAS, LAZ or PLY")),
    "dwg": ("AutoCAD drawings", "DXF"),
    **dict.fromkeys(
        ("3dm", "catpart", "catproduct", "f3d", "ipt", "iam", "jt"), ("this CAD format", "STEP")
    ),
    **dict.fromkeys(("prt", "sldasm", "sldprt", "x_b", "x_t"), ("this CAD format", "STEP")),
    **dict.fromkeys(("rfa", "rvt"), ("Revit models", "IFC")),
    **dict.fromkeys(("c4d", "ma", "max", "mb", "skp"), ("this program's models", "GLB or FBX")),
    **dict.fromkeys(("arw", "cr2", "cr3", "dng", "nef"), ("raw photographs", "JPEG or TIFF")),
}


def reason_not_inspected(extension: str) -> str | None:
    """Return why files with an extension start no inspection, None for those that start one."""
    if extension in INSPECT_EXTENSIONS or extension in INSPECT_CAD_EXTENSIONS:
        return None
    if extension in _NO_READER:
        contents, target = _NO_READER[extension]
        return (
            f"Files with the extension .{extension} are not inspected: "
            f"no reader supports {contents}. Convert the file to {target}"
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
    return any(mark in text for mark in _MARKS[extension])


def extension_of(path: str) -> str:
    """Return the extension of a path in lower case, without its dot."""
    name = path.rsplit("/", 1)[-1]
    return name.rpartition(".")[2].lower() if "." in name else ""
