"""Assimp's meshes as numpy arrays, in the coordinates of the whole scene."""

import ctypes as c
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy import ctypeslib  # loads a module: a confined child has it loaded before
from numpy.typing import NDArray

from backend.processing import limits
from backend.processing.readers import assimp_types as ai
from backend.processing.readers.polygons import triangle_order
from backend.processing.readers.soundness import finite_rows, left_out_text, unusable
from backend.processing.readers.transforms import transform
from backend.processing.scene import Floats, Indices, Part, RefusedError

# A face of assimp is a 32-bit count, four bytes of padding, and the address of its corners: two
# words of 64 bits, the first of which has the count in its lower half.
_COUNT = np.uint64(0xFFFFFFFF)


def parts_of(scene: Any, bones_move: Literal["", "meshes", "placed meshes"] = "") -> list[Part]:
    """Return the meshes of all nodes, each moved to its place, or by its bones.

    Bones of Collada move a mesh as it is stored, those of FBX one that its node has placed.
    """
    nodes = _nodes(scene) if bones_move else ()
    worlds = {node.name.text(): world for world, node in nodes}
    read: dict[int, Part | None] = {}
    parts: list[Part] = []
    vertices = 0
    for world, index in _places(scene):
        if index not in read:
            read[index] = _part(scene.meshes[index].contents)
        part = read[index]
        if part is None:
            continue
        vertices += len(part.positions)
        if vertices > limits.VERTICES:
            raise RefusedError(f"more than {limits.VERTICES} vertices")
        bones = _bones(scene.meshes[index].contents) if bones_move else []
        if not bones or bones_move == "placed meshes":
            part = transform(part, world)
        unbound = world if bones_move == "meshes" else np.eye(4)
        parts.append(_moved_by(bones, part, unbound, worlds) if bones else part)
    return parts


def leave_out(scene: Any) -> tuple[list[str], bool]:
    """Remove the corners of invalid faces; return the texts about them and their vertices.

    Also return whether vertices can be joined. Joining reads the vertices of all faces, and treats
    a vertex that is not finite as equal to any other one, unless no face has it.
    """
    said, wrong_places, places, may_join = list[str](), 0, 0, True
    for index in range(scene.mesh_count):
        mesh = scene.meshes[index].contents
        positions = _array(mesh.vertices, mesh.vertex_count, 3)
        if positions is None:
            continue
        counts, pointers = _table(mesh)
        corners = _gather(pointers, counts) if len(counts) else counts
        finite = finite_rows(positions)
        wrong_places, places = wrong_places + int((~finite).sum()), places + len(finite)
        wrong, what = unusable(corners, counts, finite, 1), f"faces of mesh {index + 1}"
        all_finite = bool(finite.all())
        said += left_out_text(wrong, what, lambda nth: f"face {nth + 1}", finite=all_finite)
        if wrong.any():
            table = _words(mesh)
            table[np.flatnonzero(table[:, 0] & _COUNT)[wrong], 0] &= ~_COUNT
            may_join = may_join and not wrong.all()
    if wrong_places:
        said.insert(0, f"{wrong_places} of {places} vertices are not finite")
    return said, may_join


def mesh_count(scene: Any) -> int:
    """Return the number of meshes; one with points, lines and surfaces counts for each of them."""
    kinds = [scene.meshes[index].contents.primitive_types for index in range(scene.mesh_count)]
    return sum(max(1, sum(bool(kind & bits) for bits in (1, 2, 12))) for kind in kinds)


def bone_names(scene: Any) -> set[str]:
    """Return the names of all bones. A bone begins with its name."""
    meshes = (scene.meshes[index].contents for index in range(scene.mesh_count))
    return {bone.name.text() for mesh in meshes for bone in _bones(mesh)}


def _bones(mesh: Any) -> list[Any]:
    if not mesh.bones or not mesh.bone_count:
        return []
    addresses = (c.c_void_p * mesh.bone_count).from_address(mesh.bones)
    return [ai.Bone.from_address(address) for address in addresses if address]


def _moved_by(bones: list[Any], part: Part, world: Floats, worlds: Mapping[str, Floats]) -> Part:
    """Return a part with each vertex moved by its bones; by its node where it has none."""
    total = np.zeros(len(part.positions))
    blended = np.zeros((len(part.positions), 4, 4))
    for bone in bones:
        node = worlds.get(bone.name.text())
        if node is None or not bone.weights or not bone.weight_count:
            continue
        words = (c.c_uint32 * (2 * bone.weight_count)).from_address(bone.weights)
        pairs = ctypeslib.as_array(words).reshape(-1, 2)
        vertices, weights = pairs[:, 0].astype(np.int64), pairs[:, 1].copy().view(np.float32)
        known = (vertices < len(total)) & np.isfinite(weights) & (weights > 0)
        vertices, weights = vertices[known], weights[known].astype(np.float64)
        matrix = node @ np.array(bone.offset, np.float64).reshape(4, 4)
        np.add.at(total, vertices, weights)
        np.add.at(blended, vertices, weights[:, None, None] * matrix)
    free = total <= 0
    blended[free], total[free] = world, 1
    blended /= total[:, None, None]
    turn, normals = blended[:, :3, :3], part.normals
    with np.errstate(all="ignore"):
        positions = np.einsum("nij,nj->ni", turn, part.positions) + blended[:, :3, 3]
        if normals is not None:
            normals = np.einsum("nij,nj->ni", turn, normals)
    return replace(part, positions=positions, normals=normals)


def _places(scene: Any) -> Iterator[tuple[Floats, int]]:
    for world, node in _nodes(scene):
        for place in range(node.mesh_count):
            if node.meshes[place] < scene.mesh_count:
                yield world, node.meshes[place]


def _nodes(scene: Any) -> Iterator[tuple[Floats, Any]]:
    waiting: list[tuple[Any, Floats]] = [(scene.root.contents, np.eye(4))] if scene.root else []
    while waiting:
        node, parent = waiting.pop()
        local = np.array(node.transformation, np.float64).reshape(4, 4)
        with np.errstate(all="ignore"):
            world: Floats = parent @ local
        yield world, node
        if node.children:
            children = [node.children[place] for place in range(node.child_count)]
            waiting += [(child.contents, world) for child in children if child]


def _part(mesh: Any) -> Part | None:
    count = mesh.vertex_count
    positions = _array(mesh.vertices, count, 3)
    if positions is None:
        return None
    faces = _faces(mesh, positions)
    uv = _array(mesh.uv[0], count, 3)
    points: Indices | None = faces[1][:, 0] if 1 in faces else None
    return Part(
        positions,
        triangles=faces.get(3),
        lines=faces.get(2),
        points=points if mesh.face_count else np.arange(count, dtype=np.int64),
        normals=_array(mesh.normals, count, 3),
        uv=None if uv is None else uv[:, :2] * [1, -1] + [0, 1],
        colors=_array(mesh.colors[0], count, 4),
        material=mesh.material,
    )


def _array(address: int | None, count: int, columns: int) -> Floats | None:
    if not address or not count:
        return None
    values = ctypeslib.as_array((c.c_float * (count * columns)).from_address(address))
    return values.reshape(count, columns).astype(np.float64)


def _faces(mesh: Any, positions: Floats) -> dict[int, Indices]:
    """Return the corners of points, lines and triangles by their number; polygons are cut.

    A face is a count and a pointer. All pointers of one kind are followed by one gather from the
    smallest address on, which reads only where a pointer leads.
    """
    counts, pointers = _table(mesh)
    if not len(counts):
        return {}
    read = {
        corners: _gather(pointers[chosen], counts[chosen]).reshape(-1, corners)
        for corners in (1, 2, 3)
        if (chosen := counts == corners).any()
    }
    larger = counts > 3
    if larger.any():
        corners = _gather(pointers[larger], counts[larger])
        cut = corners[triangle_order(corners, counts[larger], positions)]
        read[3] = np.concatenate([read[3], cut]) if 3 in read else cut
    return read


def _table(mesh: Any) -> tuple[Indices, NDArray[np.uint64]]:
    """Return the number of corners of each face, and the address where they are."""
    table = _words(mesh)
    table = table[(table[:, 0] & _COUNT) > 0]
    return (table[:, 0] & _COUNT).astype(np.int64), table[:, 1]


def _words(mesh: Any) -> NDArray[np.uint64]:
    """Return the memory of the faces: the lower half of the first word is the count."""
    if not mesh.face_count or not mesh.faces:
        return np.zeros((0, 2), np.uint64)
    words = (c.c_uint64 * (mesh.face_count * 2)).from_address(mesh.faces)
    return ctypeslib.as_array(words).reshape(-1, 2)


def _gather(pointers: NDArray[np.uint64], counts: Indices) -> Indices:
    """Return the corners of faces in a row."""
    base = int(pointers.min())
    offsets = ((pointers - np.uint64(base)) // 4).astype(np.int64)
    indices = ctypeslib.as_array((c.c_uint32 * int((offsets + counts).max())).from_address(base))
    nth = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    return indices[np.repeat(offsets, counts) + nth].astype(np.int64)
