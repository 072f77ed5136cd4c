"""Writes meshes in older formats: OBJ with materials, STL as text and binary, and PLY as text."""

import struct
from collections.abc import Mapping, Sequence

import numpy as np

from samples.gltf import Material
from samples.shapes import Floats, Mesh, merged

Triangles = Sequence[Sequence[int]]


def welded(mesh: Mesh, scale: float) -> tuple[Floats, list[list[int]]]:
    """Return the points, each once, and the triangles between different points."""
    rounded = np.round(mesh.points * scale, 4) + 0.0
    points, numbers = np.unique(rounded, axis=0, return_inverse=True)
    faces = numbers.reshape(-1)[mesh.faces]
    a, b, c = faces[:, 0], faces[:, 1], faces[:, 2]
    return points, faces[(a != b) & (b != c) & (c != a)].tolist()


def obj(parts: Sequence[tuple[Mesh, str]], *, name: str, library: str) -> bytes:
    """Return OBJ with normals and texture coordinates, a group of faces for each material."""
    by_material = dict[str, list[Mesh]]()
    for mesh, material in parts:
        by_material.setdefault(material, []).append(mesh)
    whole = merged([mesh for meshes in by_material.values() for mesh in meshes])
    places, place_of = np.unique(np.round(whole.points, 3) + 0.0, axis=0, return_inverse=True)
    ways, way_of = np.unique(np.round(whole.normals, 3) + 0.0, axis=0, return_inverse=True)
    spots, spot_of = np.unique(np.round(whole.uv, 3) + 0.0, axis=0, return_inverse=True)
    lines = [f"mtllib {library}", f"o {name}"]
    lines += ["v {:g} {:g} {:g}".format(*row) for row in places.tolist()]
    lines += [f"vt {row[0]:g} {1 - row[1]:g}" for row in spots.tolist()]
    lines += ["vn {:g} {:g} {:g}".format(*row) for row in ways.tolist()]
    numbers = np.stack(
        [indexes.reshape(-1) + 1 for indexes in (place_of, spot_of, way_of)], 1
    ).tolist()
    first = 0
    for material, meshes in by_material.items():
        lines.append(f"usemtl {material.replace(' ', '_')}")
        for mesh in meshes:
            for face in (mesh.faces + first).tolist():
                lines.append("f " + " ".join("/".join(map(str, numbers[at])) for at in face))
            first += len(mesh.points)
    return ("\n".join(lines) + "\n").encode()


def mtl(materials: Mapping[str, Material], textures: Mapping[str, str]) -> bytes:
    """Return a library of materials; `textures` are paths by material."""
    blocks = list[str]()
    for name, material in materials.items():
        lines = [f"newmtl {name.replace(' ', '_')}", "Kd {:g} {:g} {:g}".format(*material.color)]
        lines += ["Ks 0.2 0.2 0.2", f"Ns {round(200 * (1 - material.roughness)) + 2}", "illum 2"]
        lines += [f"map_Kd {textures[name]}"] if name in textures else []
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks).encode()


def stl(mesh: Mesh, *, name: str) -> bytes:
    """Return binary STL in millimetres with z upwards."""
    points, faces = welded(mesh, 1000)
    corners = _standing(points)[np.array(faces)]
    rows = np.zeros(len(faces), [("normal", "<f4", 3), ("corners", "<f4", 9), ("rest", "<u2")])
    rows["normal"] = np.round(_facing(corners), 4) + 0.0
    rows["corners"] = corners.reshape(-1, 9)
    return name.encode().ljust(80, b" ") + struct.pack("<I", len(faces)) + rows.tobytes()


def stl_text(mesh: Mesh, *, name: str) -> bytes:
    """Return STL as text in millimetres with z upwards."""
    points, faces = welded(mesh, 1000)
    corners = _standing(points)[np.array(faces)]
    normals = (np.round(_facing(corners), 4) + 0.0).tolist()
    lines = [f"solid {name}"]
    for normal, face in zip(normals, corners.tolist(), strict=True):
        lines += ["facet normal {:g} {:g} {:g}".format(*normal), " outer loop"]
        lines += ["  vertex {:g} {:g} {:g}".format(*corner) for corner in face]
        lines += [" endloop", "endfacet"]
    return ("\n".join([*lines, f"endsolid {name}"]) + "\n").encode()


def ply(mesh: Mesh, *, comment: str) -> bytes:
    """Return PLY as text, in metres."""
    points, faces = welded(mesh, 1)
    header = [
        "ply",
        "format ascii 1.0",
        f"comment {comment}",
        f"element vertex {len(points)}",
        *(f"property float {axis}" for axis in "xyz"),
        f"element face {len(faces)}",
        "property list uchar int vertex_indices",
        "end_header",
    ]
    rows = ["{:g} {:g} {:g}".format(*point) for point in points.tolist()]
    rows += ["3 {} {} {}".format(*face) for face in faces]
    return ("\n".join([*header, *rows]) + "\n").encode()


def _standing(points: Floats) -> Floats:
    """Return points with y upwards as points with z upwards."""
    return np.stack([points[:, 0], -points[:, 2] + 0.0, points[:, 1]], 1)


def _facing(corners: Floats) -> Floats:
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return across / np.maximum(np.linalg.norm(across, axis=1), 1e-12)[:, None]
