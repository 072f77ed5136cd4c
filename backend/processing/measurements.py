"""The facts of a model: counts, bounds, area, volume."""

import json
from collections.abc import Mapping, Sequence

import numpy as np

from backend.numbers import is_finite
from backend.processing.files import Reference
from backend.processing.readers.soundness import finite_rows
from backend.processing.scene import Floats, Indices, Part, Scene
from backend.processing.texts import printable_line
from backend.spec.facts import FACTS

Facts = dict[str, str | int | float | bool]

# Distance, relative to the model's size, below which vertices are one for edges and watertightness.
# Many formats store coordinates as 32-bit numbers, of seven digits.
_TOLERANCE = 1e-6
# Corners, edges and their order take some 300 bytes a triangle, of `CHILD_MEMORY_BYTES`.
_SURFACE_TRIANGLES = 3_000_000
# A model with more of them, of which some are inside out, has no volume.
_PAIRS_OF_SHELLS = 1_000_000
_NAMES = frozenset(fact.name for fact in FACTS)


def facts_of(scene: Scene, parts: Sequence[Part], references: Sequence[Reference]) -> Facts:
    """Return the facts of a scene. `parts` are those of the scene, merged."""
    stored = _positions(parts)
    if not np.isfinite(stored).all():
        parts = [_finite(part) for part in parts]
    everything = _positions(parts)
    counts = {
        "triangles": sum(len(part.triangles) for part in parts if part.triangles is not None),
        "lines": sum(len(part.lines) for part in parts if part.lines is not None),
        "points": sum(len(part.points) for part in parts if part.points is not None),
    }
    if scene.total_points is not None:
        counts["points"] = scene.total_points
    facts: Facts = {
        **counts,
        "format": scene.format,
        "generator": scene.generator,
        "vertices": len(everything) if scene.total_points is None else scene.total_points,
        "meshes": scene.meshes,
        "materials": sum(material.declared for material in scene.materials),
        "animations": scene.animations,
        "bones": scene.bones,
        "upAxis": scene.up if scene.defines_up else "",
        "crs": scene.crs,
        **scene.facts,
    }
    if scene.unit is not None:
        facts |= {"unit": scene.unit.name, "metresPerUnit": scene.unit.metres}
    if scene.ends_within_line:
        facts["endsWithinLine"] = True
    left_out = _left_out(scene, stored, any(counts.values()))
    facts["leftOut"] = "; ".join(left_out)
    bounds = scene.bounds
    if bounds is None and len(everything):
        bounds = everything.min(0), everything.max(0)
    states = [reference.state for reference in references if reference.kind == "texture"]
    facts |= {
        "textures": len(states) + scene.embedded_textures,
        "texturesFound": states.count("found") + states.count("otherCase"),
        "texturesMissing": states.count("missing"),
        "texturesAbsolute": sum(map(states.count, ("absolute", "external", "outside"))),
        "texturesEmbedded": scene.embedded_textures,
    }
    if bounds is not None:
        facts |= _extent_facts(bounds)
        if 0 < counts["triangles"] <= _SURFACE_TRIANGLES:
            facts |= _surface_facts(parts, everything, bounds)
    return known_and_finite(facts)


def known_and_finite(facts: Mapping[str, str | int | float | bool]) -> Facts:
    """Return the facts with plain texts, without empty ones and numbers that are not finite."""
    cleaned = {
        name: printable_line(value) if isinstance(value, str) else value
        for name, value in facts.items()
    }
    return {
        name: value
        for name, value in cleaned.items()
        if name in _NAMES and value != "" and (isinstance(value, str | bool) or is_finite(value))
    }


def _left_out(scene: Scene, positions: Floats, has_elements: bool) -> list[str]:
    left_out = list(scene.left_out)
    if not any("are not finite" in text for text in left_out):
        wrong = int((~np.isfinite(positions)).any(1).sum())
        left_out += [f"{wrong} of {len(positions)} vertices are not finite"] if wrong else []
    if len(positions) and not has_elements:
        left_out.append(f"its {len(positions)} vertices belong to no valid face, line or point")
    return left_out


def _positions(parts: Sequence[Part]) -> Floats:
    return np.concatenate([np.zeros((0, 3)), *(part.positions for part in parts)])


def _finite(part: Part) -> Part:
    """Return the finite vertices, and the elements that have no others."""
    kept = finite_rows(part.positions)
    place = np.cumsum(kept) - 1

    def whole(elements: Indices | None) -> Indices | None:
        if elements is None:
            return None
        return place[elements[kept[elements].reshape(len(elements), -1).all(1)]]

    return Part(part.positions[kept], whole(part.triangles), whole(part.lines), whole(part.points))


def _extent_facts(bounds: tuple[Floats, Floats]) -> Facts:
    lowest, highest = bounds
    size = highest - lowest
    if not (np.isfinite(lowest).all() and np.isfinite(highest).all()):
        return {}
    return {
        "boundsMin": json.dumps([float(number) for number in lowest]),
        "boundsMax": json.dumps([float(number) for number in highest]),
        "sizeX": float(size[0]),
        "sizeY": float(size[1]),
        "sizeZ": float(size[2]),
    }


def _surface_facts(
    parts: Sequence[Part], positions: Floats, bounds: tuple[Floats, Floats]
) -> Facts:
    starts = np.cumsum([0, *(len(part.positions) for part in parts)])
    triangles = np.concatenate(
        [
            part.triangles + start
            for part, start in zip(parts, starts, strict=False)
            if part.triangles is not None
        ]
    )
    # Around the centre: large coordinates would cost the volume its precision.
    centred = positions - (bounds[0] + bounds[1]) / 2
    first, second, third = (centred[triangles[:, corner]] for corner in range(3))
    with np.errstate(all="ignore"):
        area = float(np.linalg.norm(np.cross(second - first, third - first), axis=1).sum() / 2)
        volumes = np.einsum("ij,ij->i", first, np.cross(second, third))
    # Whether every edge belongs to exactly two triangles. Vertices are compared by
    # position.
    used, places = np.unique(triangles, return_inverse=True)
    step = max(float((bounds[1] - bounds[0]).max()) * _TOLERANCE, 1e-300)
    grid = np.round((positions[used] - bounds[0]) / step).astype(np.int64)
    # Each coordinate is at most a million steps: three fit one number of 64 bits.
    key = (grid[:, 0] << 42) | (grid[:, 1] << 21) | grid[:, 2]
    _, cells, same = np.unique(key, return_index=True, return_inverse=True)
    grid = grid[cells]
    corners = same[places.reshape(-1, 3)]
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    whole = (a != b) & (b != c) & (a != c)
    corners = corners[whole]
    directed = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
    edges = np.sort(directed, 1)
    _, edge, counts = np.unique(
        (edges[:, 0] << 32) | edges[:, 1], return_inverse=True, return_counts=True
    )
    watertight = bool(len(counts)) and bool((counts == 2).all())
    facts: Facts = {"area": area, "watertight": watertight}
    # Neighbours that are turned alike pass their edge in opposite directions.
    directions = np.where(directed[:, 0] < directed[:, 1], 1, -1)
    if watertight and not np.bincount(edge, directions).any():
        shells = _shells(corners, len(grid))
        if _are_turned_alike(grid, shells[corners[:, 0]], volumes[whole], corners):
            facts["volume"] = float(abs(volumes.sum()) / 6)
    return facts


def _shells(corners: Indices, count: int) -> Indices:
    """Return for each vertex the lowest vertex that triangles connect it with."""
    shells = np.arange(count)
    while len(corners):
        lowest = corners.min(1)
        for corner in range(3):
            np.minimum.at(shells, corners[:, corner], lowest)
        while (shells != (shells := shells[shells])).any():
            pass
        corners = shells[corners]
        corners = corners[(corners != corners[:, :1]).any(1)]  # those between shells
    return shells


def _are_turned_alike(grid: Indices, shells: Indices, volumes: Floats, corners: Indices) -> bool:
    """Return whether each shell that is turned inside out is a hollow of another one."""
    _, nth = np.unique(shells, return_inverse=True)
    enclosed = np.bincount(nth, volumes)
    enclosed *= np.sign(enclosed[np.abs(enclosed).argmax()])
    solid, hollow = (np.flatnonzero(chosen) for chosen in (enclosed > 0, enclosed < 0))
    if not len(hollow):
        return True
    if len(solid) * len(hollow) > _PAIRS_OF_SHELLS:
        return False
    places = grid[corners]
    lowest, highest = (np.zeros((len(enclosed), 3), np.int64) for _ in range(2))
    lowest[:] = np.iinfo(np.int64).max
    for corner in range(3):
        np.minimum.at(lowest, nth, places[:, corner])
        np.maximum.at(highest, nth, places[:, corner])
    inside = (lowest[hollow, None] > lowest[solid]) & (highest[hollow, None] < highest[solid])
    return bool(inside.all(axis=-1).any(axis=-1).all())
