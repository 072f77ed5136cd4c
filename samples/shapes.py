"""Meshes as numpy arrays: boxes, turned and swept bodies, extruded outlines, and placing them.

Lengths are in metres, y points up. Not for arbitrary outlines: `extrude` expects simple polygons.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from samples.outlines import Outline, area, triangulated

Floats = NDArray[np.float64]
Vector = tuple[float, float, float]
_CREASE = math.cos(math.radians(35))


class Mesh(NamedTuple):
    """Triangles over points, each with a normal and a place in a texture."""

    points: Floats
    normals: Floats
    uv: Floats
    faces: NDArray[np.int64]


def merged(meshes: Sequence[Mesh]) -> Mesh:
    """Return all meshes as one."""
    starts = np.cumsum([0, *(len(mesh.points) for mesh in meshes)])
    return Mesh(
        np.concatenate([mesh.points for mesh in meshes]),
        np.concatenate([mesh.normals for mesh in meshes]),
        np.concatenate([mesh.uv for mesh in meshes]),
        np.concatenate([mesh.faces + at for mesh, at in zip(meshes, starts, strict=False)]),
    )


def turn(axis: str, degrees: float) -> Floats:
    """Return the rotation about an axis."""
    sine, cosine = math.sin(math.radians(degrees)), math.cos(math.radians(degrees))
    if axis == "x":
        return np.array([[1, 0, 0], [0, cosine, -sine], [0, sine, cosine]])
    if axis == "y":
        return np.array([[cosine, 0, sine], [0, 1, 0], [-sine, 0, cosine]])
    return np.array([[cosine, -sine, 0], [sine, cosine, 0], [0, 0, 1]])


def placed(
    mesh: Mesh,
    at: Sequence[float] | Floats = (0, 0, 0),
    *,
    turned: Floats | None = None,
    scale: float | Sequence[float] = 1.0,
) -> Mesh:
    """Return the mesh scaled, then turned, then moved."""
    rotation = np.eye(3) if turned is None else turned
    factors = np.ones(3) * np.asarray(scale, float)
    normals = mesh.normals / factors
    normals = normals / np.maximum(np.linalg.norm(normals, axis=1), 1e-12)[:, None]
    points = _times(mesh.points * factors, rotation) + np.asarray(at, float)
    return Mesh(points, _times(normals, rotation), mesh.uv, mesh.faces)


def _times(points: Floats, rotation: Floats) -> Floats:
    """Return the points turned; no BLAS, whose sums differ between processors."""
    columns = [
        points[:, 0] * row[0] + points[:, 1] * row[1] + points[:, 2] * row[2] for row in rotation
    ]
    return np.stack(columns, axis=1)


def flat(polygons: Sequence[Sequence[Vector]], *, tile: float = 1.0) -> Mesh:
    """Return convex polygons, each with its own points; textures repeat after `tile` metres."""
    points, normals, uv, faces = list[Vector](), list[Floats](), list[Vector](), list[Vector]()
    for polygon in polygons:
        corners = np.array(polygon, float)
        normal = sum(
            np.cross(corners[i] - corners[0], corners[i + 1] - corners[0])
            for i in range(1, len(corners) - 1)
        )
        normal = np.asarray(normal) / max(float(np.linalg.norm(normal)), 1e-12)
        first, axis = len(points), int(np.argmax(np.abs(normal)))
        right, down = [(2, 1), (0, 2), (0, 1)][axis]
        for corner in corners:
            points.append(tuple(corner))
            normals.append(normal)
            uv.append((corner[right] / tile, -corner[down] / tile, 0))
        faces += [(first, first + i, first + i + 1) for i in range(1, len(corners) - 1)]
    return Mesh(np.array(points), np.array(normals), np.array(uv)[:, :2], np.array(faces, np.int64))


def box(
    size: Sequence[float], at: Sequence[float] = (0, 0, 0), *, bevel: float = 0.0, tile: float = 1.0
) -> Mesh:
    """Return a box around a point, with chamfered edges."""
    half = [length / 2 for length in size]
    bevel = min(bevel, *(0.49 * length for length in size))

    def corner(signs: Sequence[int], face: int) -> Vector:
        return tuple(
            sign * (half[axis] - (0 if axis == face else bevel)) for axis, sign in enumerate(signs)
        )  # type: ignore[return-value]

    polygons = list[list[Vector]]()
    for axis in range(3):
        first_axis, other = (axis + 1) % 3, (axis + 2) % 3
        for sign in (-1, 1):
            around = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
            polygons.append(
                [corner(_signs({axis: sign, first_axis: a, other: b}), axis) for a, b in around]
            )
            for second in (-1, 1) if bevel else ():
                ends = [(-1, axis), (-1, first_axis), (1, first_axis), (1, axis)]
                polygons.append(
                    [
                        corner(_signs({axis: sign, first_axis: second, other: end}), face)
                        for end, face in ends
                    ]
                )
    if bevel:
        eight = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
        polygons += [[corner(signs, face) for face in (0, 1, 2)] for signs in eight]
    return placed(flat([_outwards(polygon) for polygon in polygons], tile=tile), at)


def _outwards(polygon: list[Vector]) -> list[Vector]:
    """Return a face of a convex body around the origin, counter-clockwise seen from outside."""
    a, b, c = (np.array(corner) for corner in polygon[:3])
    return polygon if float((np.cross(b - a, c - a) * a).sum()) > 0 else polygon[::-1]


def _signs(by_axis: dict[int, int]) -> tuple[int, int, int]:
    return by_axis[0], by_axis[1], by_axis[2]


def _corner_normals(directions: Floats, closed: bool) -> tuple[Floats, Floats]:
    """Return the normals at both ends of each segment; those of smooth corners agree."""
    normals = np.stack([directions[:, 1], -directions[:, 0]], 1)
    normals = normals / np.maximum(np.linalg.norm(normals, axis=1), 1e-12)[:, None]
    starts, ends = normals.copy(), normals.copy()
    for index in range(len(normals) if closed else len(normals) - 1):
        following = (index + 1) % len(normals)
        if float((normals[index] * normals[following]).sum()) > _CREASE:
            mean = normals[index] + normals[following]
            ends[index] = starts[following] = mean / np.linalg.norm(mean)
    return starts, ends


def lathe(
    profile: Sequence[tuple[float, float]], segments: int = 32, *, closed: bool = False
) -> Mesh:
    """Return a body of rotation about y. The profile (radius, height) runs upwards outside."""
    outline = np.array([*profile, profile[0]] if closed else profile, float)
    starts, ends = _corner_normals(np.diff(outline, axis=0), closed)
    angles = 2 * np.pi * np.arange(segments + 1) / segments
    sine, cosine = np.sin(angles), np.cos(angles)
    sine[-1], cosine[-1] = sine[0], cosine[0]
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(outline, axis=0), axis=1))])
    strips = list[Mesh]()
    for index in range(len(outline) - 1):
        rings = [(outline[index], starts[index], along[index])]
        rings.append((outline[index + 1], ends[index], along[index + 1]))
        points = [
            np.stack([r * cosine, np.full_like(sine, h), r * sine], 1) for (r, h), _, _ in rings
        ]
        normals = [
            np.stack([n[0] * cosine, np.full_like(sine, n[1]), n[0] * sine], 1) for _, n, _ in rings
        ]
        uv = [np.stack([angles / (2 * np.pi), np.full_like(sine, s)], 1) for _, _, s in rings]
        strips.append(_strip(points, normals, uv))
    return cleaned(merged(strips))


def _strip(points: Sequence[Floats], normals: Sequence[Floats], uv: Sequence[Floats]) -> Mesh:
    """Return the quads between rows of points, seen from where the normals point to."""
    rows, columns = len(points), len(points[0])
    at = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = at[:-1, :-1].ravel(), at[:-1, 1:].ravel(), at[1:, :-1].ravel(), at[1:, 1:].ravel()
    faces = np.concatenate([np.stack([a, c, b], 1), np.stack([b, c, d], 1)])
    return Mesh(np.concatenate(points), np.concatenate(normals), np.concatenate(uv), faces)


def cleaned(mesh: Mesh) -> Mesh:
    """Return the mesh without triangles that have no area, all turned as their normals are."""
    corners = mesh.points[mesh.faces]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    wide = np.linalg.norm(across, axis=1) > 1e-12
    against = (across * mesh.normals[mesh.faces].sum(1)).sum(1) < 0
    faces = np.where(against[:, None], mesh.faces[:, ::-1], mesh.faces)[wide]
    used, numbers = np.unique(faces, return_inverse=True)
    return Mesh(mesh.points[used], mesh.normals[used], mesh.uv[used], numbers.reshape(-1, 3))


def cylinder(
    radius: float,
    height: float,
    segments: int = 24,
    *,
    bevel: float = 0.0,
    top: float | None = None,
) -> Mesh:
    """Return a cylinder that stands on the origin, or a cone with the radius `top` above."""
    upper = radius if top is None else top
    edge = [
        (radius - bevel, 0.0),
        (radius, bevel),
        (upper, height - bevel),
        (upper - bevel, height),
    ]
    if not bevel:
        edge = [(radius, 0.0), (upper, height)]
    return lathe([(0, 0), *edge, (0, height)], segments)


def sphere(radius: float, segments: int = 24) -> Mesh:
    """Return a sphere around the origin."""
    angles = np.pi * (np.arange(segments // 2 + 1) / (segments // 2) - 0.5)
    return lathe([(radius * math.cos(a), radius * math.sin(a)) for a in angles], segments)


def tube(
    path: Sequence[Sequence[float]] | Sequence[Floats],
    radius: float | Callable[[float], float],
    sides: int = 12,
    *,
    closed: bool = False,
) -> Mesh:
    """Return a round bar along a path; the radius may depend on the place (0 to 1)."""
    places = np.array([*path, path[0]] if closed else path, float)
    steps = np.diff(places, axis=0)
    steps = steps / np.maximum(np.linalg.norm(steps, axis=1), 1e-12)[:, None]
    if closed:
        tangents = np.concatenate(
            [steps[-1:] + steps[:1], steps[:-1] + steps[1:], steps[-1:] + steps[:1]]
        )
    else:
        tangents = np.concatenate([steps[:1], steps[:-1] + steps[1:], steps[-1:]])
    tangents = tangents / np.maximum(np.linalg.norm(tangents, axis=1), 1e-12)[:, None]
    side = np.cross(tangents[0], [0.0, 1, 0] if abs(tangents[0][1]) < 0.9 else [1.0, 0, 0])
    angles = 2 * np.pi * np.arange(sides + 1) / sides
    sine, cosine = np.sin(angles), np.cos(angles)
    sine[-1], cosine[-1] = sine[0], cosine[0]
    rings, normals, uv = list[Floats](), list[Floats](), list[Floats]()
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(places, axis=0), axis=1))])
    for place, tangent, far in zip(places, tangents, length, strict=True):
        side = side - tangent * float((side * tangent).sum())
        side = side / np.linalg.norm(side)
        other = np.cross(tangent, side)
        around = cosine[:, None] * side + sine[:, None] * other
        reach = radius(far / length[-1]) if callable(radius) else radius
        rings.append(place + reach * around)
        normals.append(around)
        uv.append(np.stack([angles / (2 * np.pi), np.full_like(angles, far)], 1))
    body = [_strip(rings, normals, uv)]
    if not closed:
        for ring, tangent, end in ((rings[0], -tangents[0], 0), (rings[-1], tangents[-1], -1)):
            body.append(_fan(ring, places[end], tangent))
    return cleaned(merged(body))


def _fan(ring: Floats, middle: Floats, normal: Floats) -> Mesh:
    points = np.concatenate([ring, middle[None]])
    last = len(ring)
    faces = np.stack([np.arange(last - 1), np.arange(1, last), np.full(last - 1, last)], 1)
    return Mesh(points, np.repeat(normal[None], len(points), 0), np.zeros((len(points), 2)), faces)


def extrude(
    outline: Outline, height: float, holes: Sequence[Outline] = (), *, tile: float = 1.0
) -> Mesh:
    """Return a plate between z = 0 and the height, with the outline and holes in x and y."""
    loops = [np.array(outline if area(outline) > 0 else outline[::-1], float)]
    loops += [np.array(hole if area(hole) < 0 else hole[::-1], float) for hole in holes]
    corners, faces = triangulated([list(map(tuple, loop)) for loop in loops])
    plane = np.array(corners)
    caps = list[Mesh]()
    for z, sign in ((0.0, -1.0), (height, 1.0)):
        points = np.concatenate([plane, np.full((len(plane), 1), z)], 1)
        normals = np.repeat([[0.0, 0, sign]], len(plane), 0)
        caps.append(Mesh(points, normals, plane / tile, np.array(faces, np.int64)))
    walls = [_wall(loop, height) for loop in loops]
    return cleaned(merged([*caps, *walls]))


def _wall(loop: Floats, height: float) -> Mesh:
    ends = np.concatenate([loop[1:], loop[:1]])
    first, last = _corner_normals(ends - loop, closed=True)
    quads = list[Mesh]()
    zero = np.zeros((len(loop), 1))
    for low, high in zip((zero,), (zero + height,), strict=True):
        points = [
            np.concatenate([where, level], 1) for where in (loop, ends) for level in (low, high)
        ]
        normals = [np.concatenate([column, zero], 1) for column in (first, first, last, last)]
        count = len(loop)
        a, b, c, d = (np.arange(count) + part * count for part in range(4))
        faces = np.concatenate([np.stack([a, c, b], 1), np.stack([b, c, d], 1)])
        all_points = np.concatenate(points)
        quads.append(Mesh(all_points, np.concatenate(normals), all_points[:, 1:], faces))
    return merged(quads)


def skinned(rows: Sequence[Floats], *, ends: bool = True) -> Mesh:
    """Return a surface over closed rows of points (the last is the first), with flat ends."""
    grid = np.stack([np.asarray(row, float) for row in rows])
    polygons = list[Mesh]()
    columns = grid.shape[1] - 1
    across = np.cross(grid[1:, :-1] - grid[:-1, :-1], grid[:-1, 1:] - grid[:-1, :-1])
    across = across / np.maximum(np.linalg.norm(across, axis=2), 1e-12)[..., None]
    middle = grid[:, :-1].mean((0, 1))
    if float((across * (grid[:-1, :-1] - middle)).sum()) < 0:
        across = -across
    for row in range(len(grid) - 1):
        for column in range(columns):
            corners = [(row, column), (row, column + 1), (row + 1, column + 1), (row + 1, column)]
            points = np.array([grid[corner] for corner in corners])
            normals = np.array([_near(across, corner, (row, column)) for corner in corners])
            uv = points[:, [0, 2]]
            polygons.append(Mesh(points, normals, uv, np.array([(0, 1, 2), (0, 2, 3)])))
    for end in (0, -1) if ends else ():
        ring = grid[end]
        direction = ring[:-1].mean(0) - grid[1 if end == 0 else -2][:-1].mean(0)
        normal = direction / np.linalg.norm(direction)
        polygons.append(_fan(ring, ring[:-1].mean(0), normal))
    return cleaned(merged(polygons))


def _near(across: Floats, corner: tuple[int, int], face: tuple[int, int]) -> Floats:
    """Return the normal of a corner of a face: the mean of the faces around without a crease."""
    rows, columns = across.shape[:2]
    own = across[face]
    total = np.zeros(3)
    for row in (corner[0] - 1, corner[0]):
        for column in (corner[1] - 1, corner[1]):
            if 0 <= row < rows:
                other = across[row, column % columns]
                if float((other * own).sum()) > _CREASE:
                    total = total + other
    return total / max(float(np.linalg.norm(total)), 1e-12)
