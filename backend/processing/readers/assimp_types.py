"""The structures of assimp's C API (5.4), as ctypes lays them out."""

import ctypes as c
from typing import Any

U32, F32, F64, ADDRESS = c.c_uint32, c.c_float, c.c_double, c.c_void_p


class String(c.Structure):
    _fields_ = [("length", U32), ("data", c.c_char * 1024)]

    def text(self) -> str:
        # `data` ends at the first zero byte; the length says how much of it is text.
        content: bytes = self.data
        return content[: min(self.length, 1023)].decode("utf-8", "replace")


class MetadataEntry(c.Structure):
    _fields_ = [("type", U32), ("data", ADDRESS)]


class Metadata(c.Structure):
    _fields_ = [
        ("count", U32),
        ("keys", c.POINTER(String)),
        ("values", c.POINTER(MetadataEntry)),
    ]


class Node(c.Structure):
    pass


Node._fields_ = [
    ("name", String),
    ("transformation", F32 * 16),
    ("parent", c.POINTER(Node)),
    ("child_count", U32),
    ("children", c.POINTER(c.POINTER(Node))),
    ("mesh_count", U32),
    ("meshes", c.POINTER(U32)),
    ("metadata", c.POINTER(Metadata)),
]


class Mesh(c.Structure):
    _fields_ = [
        ("primitive_types", U32),
        ("vertex_count", U32),
        ("face_count", U32),
        ("vertices", ADDRESS),
        ("normals", ADDRESS),
        ("tangents", ADDRESS),
        ("bitangents", ADDRESS),
        ("colors", ADDRESS * 8),
        ("uv", ADDRESS * 8),
        ("uv_components", U32 * 8),
        ("faces", ADDRESS),
        ("bone_count", U32),
        ("bones", ADDRESS),
        ("material", U32),
        ("name", String),
        ("anim_mesh_count", U32),
        ("anim_meshes", ADDRESS),
        ("method", U32),
        ("bounds", F32 * 6),
        ("uv_names", ADDRESS),
    ]


class Bone(c.Structure):
    _fields_ = [
        ("name", String),
        ("weight_count", U32),
        ("armature", ADDRESS),
        ("node", ADDRESS),
        ("weights", ADDRESS),
        ("offset", F32 * 16),
    ]


class Property(c.Structure):
    _fields_ = [
        ("key", String),
        ("semantic", U32),
        ("index", U32),
        ("length", U32),
        ("type", U32),
        ("data", ADDRESS),
    ]


class Material(c.Structure):
    _fields_ = [
        ("properties", c.POINTER(c.POINTER(Property))),
        ("count", U32),
        ("allocated", U32),
    ]


class Texture(c.Structure):
    """`height` is 0 for an encoded image of `width` bytes."""

    _fields_ = [
        ("width", U32),
        ("height", U32),
        ("hint", c.c_char * 9),
        ("data", ADDRESS),
        ("filename", String),
    ]


class Scene(c.Structure):
    _fields_ = [
        ("flags", U32),
        ("root", c.POINTER(Node)),
        ("mesh_count", U32),
        ("meshes", c.POINTER(c.POINTER(Mesh))),
        ("material_count", U32),
        ("materials", c.POINTER(c.POINTER(Material))),
        ("animation_count", U32),
        ("animations", ADDRESS),
        ("texture_count", U32),
        ("textures", c.POINTER(c.POINTER(Texture))),
        ("light_count", U32),
        ("lights", ADDRESS),
        ("camera_count", U32),
        ("cameras", ADDRESS),
        ("metadata", c.POINTER(Metadata)),
        ("name", String),
    ]


class File(c.Structure):
    pass


class FileIO(c.Structure):
    pass


_file, _io = c.POINTER(File), c.POINTER(FileIO)
Read = c.CFUNCTYPE(c.c_size_t, _file, ADDRESS, c.c_size_t, c.c_size_t)
Write = c.CFUNCTYPE(c.c_size_t, _file, ADDRESS, c.c_size_t, c.c_size_t)
Size = c.CFUNCTYPE(c.c_size_t, _file)
Seek = c.CFUNCTYPE(c.c_int, _file, c.c_size_t, c.c_int)
Flush = c.CFUNCTYPE(None, _file)
Open = c.CFUNCTYPE(ADDRESS, _io, c.c_char_p, c.c_char_p)
Close = c.CFUNCTYPE(None, _io, _file)

File._fields_ = [
    ("read", Read),
    ("write", Write),
    ("tell", Size),
    ("size", Size),
    ("seek", Seek),
    ("flush", Flush),
    ("user", ADDRESS),
]
FileIO._fields_ = [("open", Open), ("close", Close), ("user", ADDRESS)]


def declare(library: Any) -> None:
    """Declare the functions of the library that are called."""
    library.aiImportFileExWithProperties.restype = c.POINTER(Scene)
    library.aiImportFileExWithProperties.argtypes = [c.c_char_p, U32, _io, ADDRESS]
    library.aiApplyPostProcessing.restype = c.POINTER(Scene)
    library.aiApplyPostProcessing.argtypes = [c.POINTER(Scene), U32]
    library.aiReleaseImport.argtypes = [c.POINTER(Scene)]
    library.aiGetErrorString.restype = c.c_char_p
    library.aiCreatePropertyStore.restype = ADDRESS
    library.aiReleasePropertyStore.argtypes = [ADDRESS]
    library.aiSetImportPropertyInteger.argtypes = [ADDRESS, c.c_char_p, c.c_int]
