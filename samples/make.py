"""Makes the sample folders: small, valid files of the formats that the product is for.

Everything is computed, so the files are the same on every machine: `python samples/make.py`
writes them below `samples/library`, or below another folder that is named.
"""

import json
import math
import struct
import sys
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
Point = tuple[float, float, float]


class Mesh(NamedTuple):
    """Triangles over points."""

    points: Sequence[Point]
    faces: Sequence[tuple[int, int, int]]


def box(width: float, height: float, depth: float) -> Mesh:
    """A box around the origin."""
    points = [
        (x * width / 2, y * height / 2, z * depth / 2)
        for x in (-1, 1)
        for y in (-1, 1)
        for z in (-1, 1)
    ]
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [face for a, b, c, d in quads for face in ((a, b, c), (a, c, d))]
    return Mesh(points, faces)


def surface(rows: int, columns: int, at: Callable[[float, float], Point]) -> Mesh:
    """A grid of points that a function of two turns (0 to 1) places, closed in both ways."""
    points = [at(row / rows, column / columns) for row in range(rows) for column in range(columns)]
    faces: list[tuple[int, int, int]] = []
    for row in range(rows):
        for column in range(columns):
            a = row * columns + column
            b = row * columns + (column + 1) % columns
            c = (row + 1) % rows * columns + column
            d = (row + 1) % rows * columns + (column + 1) % columns
            faces += [(a, c, b), (b, c, d)]
    return Mesh(points, faces)


def torus(radius: float, thickness: float, *, teeth: int = 0) -> Mesh:
    """A ring; with teeth something like a gear."""

    def at(u: float, v: float) -> Point:
        tooth = thickness * 0.4 * (math.cos(2 * math.pi * u * teeth) > 0) if teeth else 0.0
        reach = radius + (thickness + tooth) * math.cos(2 * math.pi * v)
        angle = 2 * math.pi * u
        return (
            _place(reach * math.cos(angle)),
            _place(reach * math.sin(angle)),
            _place(thickness * math.sin(2 * math.pi * v)),
        )

    return surface(max(24, teeth * 4), 10, at)


def _place(value: float) -> float:
    """Rounded beyond what math libraries differ in, and without a negative zero."""
    return round(value, 5) + 0.0


def glb(mesh: Mesh, *, name: str, color: Sequence[float]) -> bytes:
    """A binary glTF 2.0 of one mesh."""
    binary, views = _gltf_buffer(mesh)
    document = _gltf(mesh, name=name, color=color, views=views, buffer={"byteLength": len(binary)})
    text = json.dumps(document, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    length = 12 + 8 + len(text) + 8 + len(binary)
    return (
        struct.pack("<4sII", b"glTF", 2, length)
        + struct.pack("<I4s", len(text), b"JSON")
        + text
        + struct.pack("<I4s", len(binary), b"BIN\0")
        + binary
    )


def gltf(mesh: Mesh, *, name: str, color: Sequence[float], uri: str) -> tuple[bytes, bytes]:
    """A glTF 2.0 document and the buffer that it refers to."""
    binary, views = _gltf_buffer(mesh)
    buffer = {"byteLength": len(binary), "uri": uri}
    document = _gltf(mesh, name=name, color=color, views=views, buffer=buffer)
    return (json.dumps(document, indent=2) + "\n").encode(), binary


def _gltf_buffer(mesh: Mesh) -> tuple[bytes, list[dict[str, int]]]:
    indices = b"".join(struct.pack("<3H", *face) for face in mesh.faces)
    padding = b"\0" * (-len(indices) % 4)
    points = b"".join(struct.pack("<3f", *point) for point in mesh.points)
    views = [
        {"buffer": 0, "byteOffset": 0, "byteLength": len(indices), "target": 34963},
        {
            "buffer": 0,
            "byteOffset": len(indices) + len(padding),
            "byteLength": len(points),
            "target": 34962,
        },
    ]
    return indices + padding + points, views


def _gltf(
    mesh: Mesh,
    *,
    name: str,
    color: Sequence[float],
    views: list[dict[str, int]],
    buffer: Mapping[str, int | str],
) -> dict[str, object]:
    columns = list(zip(*(_single(point) for point in mesh.points), strict=True))
    positions = {
        "bufferView": 1,
        "componentType": 5126,
        "count": len(mesh.points),
        "type": "VEC3",
        "min": [min(column) for column in columns],
        "max": [max(column) for column in columns],
    }
    indices = {
        "bufferView": 0,
        "componentType": 5123,
        "count": 3 * len(mesh.faces),
        "type": "SCALAR",
    }
    primitive = {"attributes": {"POSITION": 0}, "indices": 1, "material": 0}
    pbr = {"baseColorFactor": [*color, 1.0], "metallicFactor": 0.2, "roughnessFactor": 0.6}
    return {
        "asset": {"version": "2.0", "generator": "vitrine samples"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "name": name}],
        "meshes": [{"name": name, "primitives": [primitive]}],
        "materials": [{"name": f"{name} paint", "pbrMetallicRoughness": pbr}],
        "accessors": [positions, indices],
        "bufferViews": views,
        "buffers": [buffer],
    }


def _single(point: Point) -> tuple[float, ...]:
    """As the buffer holds it: the limits in the document must be those of 32-bit floats."""
    return struct.unpack("<3f", struct.pack("<3f", *point))


def obj(mesh: Mesh, *, name: str, library: str, material: str) -> bytes:
    lines = [f"mtllib {library}", f"o {name}"]
    lines += [f"v {x:.5f} {y:.5f} {z:.5f}" for x, y, z in mesh.points]
    lines.append(f"usemtl {material}")
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in mesh.faces]
    return ("\n".join(lines) + "\n").encode()


def mtl(materials: Mapping[str, Sequence[float]]) -> bytes:
    blocks = [
        f"newmtl {name}\nKa 0.1 0.1 0.1\nKd {r} {g} {b}\nKs 0.3 0.3 0.3\nNs 50\nillum 2\n"
        for name, (r, g, b) in materials.items()
    ]
    return "\n".join(blocks).encode()


def stl(mesh: Mesh, *, name: str) -> bytes:
    """Binary STL; readers compute the normals, so they are zero here."""
    facets = b"".join(
        struct.pack("<12fH", 0, 0, 0, *(part for index in face for part in mesh.points[index]), 0)
        for face in mesh.faces
    )
    return name.encode().ljust(80, b" ") + struct.pack("<I", len(mesh.faces)) + facets


def stl_text(mesh: Mesh, *, name: str) -> bytes:
    lines = [f"solid {name}"]
    for face in mesh.faces:
        lines += ["facet normal 0 0 0", " outer loop"]
        lines += ["  vertex {:.5f} {:.5f} {:.5f}".format(*mesh.points[index]) for index in face]
        lines += [" endloop", "endfacet"]
    return ("\n".join([*lines, f"endsolid {name}"]) + "\n").encode()


def ply(mesh: Mesh, *, comment: str) -> bytes:
    header = [
        "ply",
        "format ascii 1.0",
        f"comment {comment}",
        f"element vertex {len(mesh.points)}",
        *(f"property float {axis}" for axis in "xyz"),
        f"element face {len(mesh.faces)}",
        "property list uchar int vertex_indices",
        "end_header",
    ]
    rows = [f"{x:.5f} {y:.5f} {z:.5f}" for x, y, z in mesh.points]
    rows += [f"3 {a} {b} {c}" for a, b, c in mesh.faces]
    return ("\n".join([*header, *rows]) + "\n").encode()


def ply_points(points: Sequence[Point]) -> bytes:
    """A binary point cloud coloured by height."""
    header = [
        "ply",
        "format binary_little_endian 1.0",
        f"element vertex {len(points)}",
        *(f"property float {axis}" for axis in "xyz"),
        *(f"property uchar {channel}" for channel in ("red", "green", "blue")),
        "end_header",
    ]
    rows = (
        struct.pack("<3f3B", x, y, z, min(255, int(60 + 12 * z)), 160, 90) for x, y, z in points
    )
    return ("\n".join(header) + "\n").encode() + b"".join(rows)


def terrain(side: int) -> list[Point]:
    """Hills over a square of that many points a side, half a metre apart."""
    return [
        (
            column * 0.5,
            row * 0.5,
            round(4 + 2 * math.sin(column / 7) + 1.5 * math.cos(row / 5), 3),
        )
        for row in range(side)
        for column in range(side)
    ]


def las(points: Sequence[Point]) -> bytes:
    """LAS 1.2, point format 0, millimetres."""
    scale, head = 0.001, 227
    axes = list(zip(*points, strict=True))
    limits = [value for axis in axes for value in (max(axis), min(axis))]
    header = struct.pack(
        "<4sHHIHH8sBB32s32sHHHIIBHI5I3d3d6d",
        *(b"LASF", 0, 0, 0, 0, 0, b"", 1, 2, b"vitrine samples", b"samples/make.py"),
        *(1, 2024, head, head, 0, 0, 20, len(points), len(points), 0, 0, 0, 0),
        *(scale, scale, scale, 0.0, 0.0, 0.0, *limits),
    )
    records = (
        struct.pack(
            "<3iHBBbBH",
            *(round(part / scale) for part in point),
            200 + index % 50,
            0x09,
            2,
            0,
            0,
            1,
        )
        for index, point in enumerate(points)
    )
    return header + b"".join(records)


def png(side: int, color: Callable[[int, int], tuple[int, int, int]]) -> bytes:
    """A square RGB picture."""
    rows = b"".join(
        b"\0" + bytes(part for column in range(side) for part in color(row, column))
        for row in range(side)
    )
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", _stored(rows)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


def _stored(data: bytes) -> bytes:
    """A zlib stream of stored blocks: what a library would compress differs by its version."""
    cuts = range(0, len(data), 0xFFFF)
    blocks = b"".join(
        struct.pack("<BHH", at == cuts[-1], len(block), len(block) ^ 0xFFFF) + block
        for at in cuts
        for block in [data[at : at + 0xFFFF]]
    )
    return b"\x78\x01" + blocks + struct.pack(">I", zlib.adler32(data))


def _wood(row: int, column: int) -> tuple[int, int, int]:
    grain = int(20 * math.sin(column / 3 + math.sin(row / 9)))
    return (150 + grain, 100 + grain, 60 + grain // 2)


def _checker(row: int, column: int) -> tuple[int, int, int]:
    return (230, 230, 230) if (row // 8 + column // 8) % 2 else (40, 60, 90)


def _steel(row: int, column: int) -> tuple[int, int, int]:
    shade = 140 + (row * 7 + column * 3) % 24
    return (shade, shade, shade + 8)


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=2) + "\n").encode()


def library() -> dict[str, bytes]:
    """Every sample: its path and its bytes."""
    chair, table, gear = box(0.5, 0.9, 0.5), box(1.6, 0.75, 0.8), torus(1.0, 0.25, teeth=12)
    ring, bolt, house = torus(1.0, 0.08), box(0.02, 0.12, 0.02), box(8, 6, 10)
    lamp_document, lamp_buffer = gltf(
        torus(0.3, 0.1), name="lamp", color=(0.9, 0.8, 0.4), uri="lamp.bin"
    )
    cloud = terrain(40)
    parts = [("gear", 12.5, "steel"), ("ring", 1.75, "brass"), ("bolt", 0.2, "steel")]
    rows = "".join(f"{name},{weight},{material}\n" for name, weight, material in parts)
    return {
        "furniture/chair.glb": glb(chair, name="chair", color=(0.6, 0.4, 0.2)),
        "furniture/table.obj": obj(table, name="table", library="table.mtl", material="oak"),
        "furniture/table.mtl": mtl({"oak": (0.55, 0.38, 0.22)}),
        "furniture/textures/wood.png": png(64, _wood),
        "lamp/lamp.gltf": lamp_document,
        "lamp/lamp.bin": lamp_buffer,
        "lamp/catalogue.json": _json({"name": "lamp", "watts": 7, "room": "hall"}),
        "machine-parts/gear.stl": stl(gear, name="gear"),
        "machine-parts/ring.ply": ply(ring, comment="a thin ring"),
        "machine-parts/bolt.stl": stl_text(bolt, name="bolt"),
        "machine-parts/gear.glb": glb(gear, name="gear", color=(0.7, 0.7, 0.75)),
        "machine-parts/parts.csv": ("part,weight_kg,material\n" + rows).encode(),
        "machine-parts/textures/steel.png": png(48, _steel),
        "survey/hills.las": las(cloud),
        "survey/hills.ply": ply_points(cloud[::4]),
        "survey/flight.json": _json({"date": "2024-05-17", "points": len(cloud), "unit": "m"}),
        "town/house.obj": obj(house, name="house", library="house.mtl", material="wall"),
        "town/house.mtl": mtl({"wall": (0.8, 0.75, 0.7), "roof": (0.5, 0.2, 0.15)}),
        "town/house.glb": glb(house, name="house", color=(0.8, 0.75, 0.7)),
        "town/plan.png": png(64, _checker),
        "about.csv": b"folder,what\nfurniture,chair and table\nsurvey,hills as points\n",
    }


def write(folder: Path) -> int:
    """Writes all samples below the folder; answers how many."""
    files = library()
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return len(files)


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "library"
    sys.stdout.write(f"{write(target)} files below {target}\n")
