"""Small files that tests read: a cube in several formats, and an asset of files in memory."""

import io
import json
import struct
import zipfile
from typing import Any

import numpy as np
from PIL import Image

from backend.processing.files import Files, State
from backend.processing.measurements import Facts, facts_of
from backend.processing.readers.models import read_model
from backend.processing.scene import RefusedError
from backend.spec.formats import extension_of

CORNERS = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], np.float32)
SIDES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
TRIANGLES = np.array(
    [side[:3] for side in SIDES] + [(side[0], *side[2:]) for side in SIDES], np.uint32
)


MODEL = "http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel"
RELATIONS = (
    f'<Relationships><Relationship Target="/3D/m.model" Id="a" Type="{MODEL}"/></Relationships>'
).encode()


class Asset:
    """The files of an asset by name; every name is relative to the model."""

    def __init__(self, **files: bytes) -> None:
        self._files = {name.replace("__", "."): content for name, content in files.items()}

    def open(self, name: str) -> tuple[str, State, bytes | None]:
        content = self._files.get(name)
        return name, "missing" if content is None else "found", content


def archive(*files: tuple[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as written:
        for name, content in files:
            written.writestr(name, content)
    return out.getvalue()


def facts_without_pictures(name: str, data: bytes, **files: bytes) -> Facts:
    """The facts of a model, or `refused`; without the pictures, which take most of the time."""
    opened = Files(Asset(**files))
    try:
        scene = read_model(data, name, extension_of(name), opened)
        return facts_of(scene, scene.parts, opened.references)
    except RefusedError as error:
        return {"refused": str(error)}


def png(size: tuple[int, int] = (8, 8), color: str = "red") -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, color).save(out, "PNG")
    return out.getvalue()


def cube_obj(head: str = "") -> bytes:
    vertices = "".join(f"v {x:g} {y:g} {z:g}\n" for x, y, z in CORNERS)
    faces = "".join("f " + " ".join(str(c + 1) for c in side) + "\n" for side in SIDES)
    return f"# a cube\n{head}{vertices}{faces}".encode()


def cube_gltf(buffer: str = "cube.bin", **changes: Any) -> dict[str, Any]:
    positions = {"bufferView": 0, "componentType": 5126, "count": 8, "type": "VEC3"}
    indices = {"bufferView": 1, "componentType": 5125, "count": 36, "type": "SCALAR"}
    document: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": "tests"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [positions, indices],
        "bufferViews": [
            {"buffer": 0, "byteLength": 96},
            {"buffer": 0, "byteOffset": 96, "byteLength": 144},
        ],
        "buffers": [{"byteLength": 240, "uri": buffer}],
    }
    return document | changes


def cube_binary() -> bytes:
    return CORNERS.tobytes() + TRIANGLES.tobytes()


def encoded(document: dict[str, Any]) -> bytes:
    return json.dumps(document).encode()


def glb(document: dict[str, Any], binary: bytes) -> bytes:
    """A GLB; its first buffer is the binary chunk."""
    document["buffers"][0].pop("uri", None)
    text = encoded(document)
    text += b" " * (-len(text) % 4)
    binary += b"\0" * (-len(binary) % 4)
    total = 12 + 8 + len(text) + 8 + len(binary)
    return b"".join(
        (
            struct.pack("<4sII", b"glTF", 2, total),
            struct.pack("<I4s", len(text), b"JSON"),
            text,
            struct.pack("<I4s", len(binary), b"BIN\0"),
            binary,
        )
    )


def cube_stl() -> bytes:
    facets = np.zeros(12, np.dtype([("n", "<f4", 3), ("c", "<f4", (3, 3)), ("rest", "<u2")]))
    facets["c"] = CORNERS[TRIANGLES]
    return b"tests".ljust(80, b"\0") + struct.pack("<I", 12) + facets.tobytes()


def cube_ply(*, binary: bool) -> bytes:
    form = "binary_big_endian" if binary else "ascii"
    header = (
        f"ply\nformat {form} 1.0\ncomment tests\nelement vertex 8\nproperty float x\n"
        "property float y\nproperty float z\nproperty uchar red\nproperty uchar green\n"
        "property uchar blue\nelement face 6\nproperty list uchar int vertex_indices\nend_header\n"
    )
    if not binary:
        vertices = "".join(f"{x:g} {y:g} {z:g} 255 0 0\n" for x, y, z in CORNERS)
        faces = "".join("4 " + " ".join(map(str, side)) + "\n" for side in SIDES)
        return (header + vertices + faces).encode()
    body = b"".join(struct.pack(">3f3B", *corner, 255, 0, 0) for corner in CORNERS)
    return header.encode() + body + b"".join(struct.pack(">B4i", 4, *side) for side in SIDES)
