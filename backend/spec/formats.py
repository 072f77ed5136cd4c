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

# Read by assimp. Left out, because in asset libraries these extensions nearly always belong to
# other programs: `mot`, `prj`, `scn`, `step` and `stp` (which assimp
# does not triangulate; `InspectCad` does), and `pk3` (a whole game archive).
ASSIMP_EXTENSIONS = frozenset(
    {"3d", "3ds", "3mf", "a3d", "ac", "ac3d", "acc", "amf", "ase", "ask", "assbin", "b3d", "blend"}
    | {"bsp", "bvh", "cob", "csm", "dae", "dxf", "enff", "fbx", "hmp", "ifc", "ifczip", "iqm"}
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
"""What the function `Inspect` reads."""

INSPECT_CAD_EXTENSIONS = frozenset({"iges", "igs", "step", "stp"})
"""What the function `InspectCad` reads: solids without triangles, which need OpenCASCADE."""
