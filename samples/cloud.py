"""A valley with a lake, woods and snow: as coloured point cloud (LAS, LAZ) and as coloured mesh."""

import io
import struct
from datetime import date
from typing import Any, NamedTuple

import laspy
import numpy as np
from numpy.typing import NDArray

from samples.pictures import Floats, fractal, mixed, noise

_WATER = 21.0
_SIZE = 400.0
"""Metres of a side."""
_EAST, _NORTH = 432_000.0, 5_263_000.0
"""A place in UTM zone 32."""
_KEYS = (1, 1, 0, 3, 1024, 0, 1, 1, 3072, 0, 1, 25832, 3076, 0, 1, 9001)
"""GeoTIFF keys: projected coordinates, EPSG:25832, metres."""


class Terrain(NamedTuple):
    """Places in metres, with z upwards, and their colours from 0 to 1."""

    points: Floats
    colors: Floats


def heights(x: Floats, y: Floats) -> Floats:
    """Return the height of the ground in metres; x and y are from 0 to 1."""
    ridges = 1 - np.abs(2 * fractal(x * 2.3 + 5, y * 2.3 + 11, 4) - 1)
    hills = fractal(x * 2.0 + 31, y * 2.0 + 17, 4)
    valley = np.clip(np.hypot((x - 0.55) * 1.1, (y - 0.36) * 1.45) * 1.55, 0, 1)
    valley = valley * valley * (3 - 2 * valley)
    return 8 + 20 * hills + valley * (16 + 95 * ridges**2 * hills)


def terrain(side: int, *, scattered: bool) -> Terrain:
    """Return the ground in a grid of points; scattered a little, as a scanner measures it."""
    line = (np.arange(side) + 0.5) / side
    x, y = np.meshgrid(line, line)
    if scattered:
        at = np.arange(side, dtype=float)
        u, v = np.meshgrid(at, at)
        x = x + (noise(u * 1.37, v * 1.91) - 0.5) * 0.9 / side
        y = y + (noise(u * 2.11 + 50, v * 1.53) - 0.5) * 0.9 / side
    ground = heights(x, y)
    step = 0.004
    slope_x = (heights(x + step, y) - heights(x - step, y)) / (2 * step * _SIZE)
    slope_y = (heights(x, y + step) - heights(x, y - step)) / (2 * step * _SIZE)
    steep = np.hypot(slope_x, slope_y)
    light = (0.62 - slope_x * 0.55 + slope_y * 0.45) / np.sqrt(1 + steep * steep)
    patches = fractal(x * 9 + 3, y * 9 + 8, 4)
    woods = (patches > 0.47) & (ground > _WATER + 3) & (ground < 66) & (steep < 0.8)
    colors = _ground(ground, steep, patches)
    crowns = noise(x * 110, y * 110)
    colors = np.where(
        woods[..., None], mixed((0.10, 0.25, 0.13), (0.27, 0.46, 0.19), crowns), colors
    )
    colors = colors * np.clip(0.42 + 0.85 * light, 0.35, 1.25)[..., None]
    water = ground < _WATER
    depth = np.clip((_WATER - ground) / 12, 0, 1)
    colors = np.where(
        water[..., None], mixed((0.38, 0.68, 0.72), (0.09, 0.33, 0.52), depth**0.6), colors
    )
    ground = np.where(water, _WATER, ground + np.where(woods, 2 * crowns, 0))
    points = np.stack([x * _SIZE, y * _SIZE, ground], -1).reshape(-1, 3)
    return Terrain(points, np.clip(colors, 0, 1).reshape(-1, 3))


def _ground(ground: Floats, steep: Floats, patches: Floats) -> Floats:
    """Return the colours of sand, meadows, rock and snow."""
    colors = mixed((0.42, 0.58, 0.26), (0.66, 0.70, 0.36), patches * 1.6 - 0.3)
    colors = np.where((ground < _WATER + 2)[..., None], (0.82, 0.76, 0.56), colors)
    rock = mixed((0.42, 0.39, 0.37), (0.62, 0.58, 0.54), patches)
    part = np.clip((steep - 0.65) * 4 + (ground - 56) / 18, 0, 1)[..., None]
    colors = colors * (1 - part) + rock * part
    snow = np.clip((ground - 68 + 20 * (patches - 0.5)) / 8, 0, 1) * np.clip(
        2.3 - 1.2 * steep, 0, 1
    )
    return colors * (1 - snow[..., None]) + np.array([0.96, 0.97, 1.0]) * snow[..., None]


def las(cloud: Terrain, *, compressed: bool) -> bytes:
    """Return the cloud as LAS 1.2 in centimetres, point format 2; compressed as LAZ."""
    library: Any = laspy
    header = library.LasHeader(point_format=2, version="1.2")
    header.scales, header.offsets = np.full(3, 0.01), np.array([_EAST, _NORTH, 0.0])
    header.creation_date = date(2024, 5, 17)
    header.generating_software, header.system_identifier = "samples/cloud.py", "vitrine samples"
    keys = struct.pack(f"<{len(_KEYS)}H", *_KEYS)
    header.vlrs.append(library.VLR("LASF_Projection", 34735, "GeoKeyDirectoryTag", keys))
    data = library.LasData(header)
    steps = np.round(cloud.points * 100).astype(np.int64)
    data.X, data.Y, data.Z = (steps[:, axis] for axis in range(3))
    shades: NDArray[np.int64] = np.round(cloud.colors * 63).astype(np.int64) * 1040
    data.red, data.green, data.blue = (shades[:, channel] for channel in range(3))
    wet = np.abs(cloud.points[:, 2] - _WATER) < 0.005
    data.classification = np.where(wet, 9, 2).astype(np.uint8)
    data.return_number[:], data.number_of_returns[:] = 1, 1
    out = io.BytesIO()
    data.write(out, do_compress=compressed, laz_backend=library.LazBackend.Lazrs)
    return out.getvalue()


def ply(ground: Terrain, side: int) -> bytes:
    """Return the ground as binary PLY: a mesh with a colour for each point."""
    at = np.arange(side * side).reshape(side, side)
    a, b, c, d = at[:-1, :-1].ravel(), at[:-1, 1:].ravel(), at[1:, :-1].ravel(), at[1:, 1:].ravel()
    faces = np.concatenate([np.stack([a, b, d], 1), np.stack([a, d, c], 1)])
    header = [
        "ply",
        "format binary_little_endian 1.0",
        "comment a valley, in metres",
        f"element vertex {side * side}",
        *(f"property float {axis}" for axis in "xyz"),
        *(f"property uchar {channel}" for channel in ("red", "green", "blue")),
        f"element face {len(faces)}",
        "property list uchar int vertex_indices",
        "end_header",
    ]
    vertices = np.zeros(side * side, [("place", "<f4", 3), ("color", "u1", 3)])
    x, y, z = (ground.points[:, axis] for axis in range(3))
    vertices["place"] = np.round(np.stack([x, z, -y], 1), 2) + 0.0  # y points up in PLY
    vertices["color"] = np.round(ground.colors * 255)
    rows = np.zeros(len(faces), [("count", "u1"), ("corners", "<i4", 3)])
    rows["count"], rows["corners"] = 3, faces
    return ("\n".join(header) + "\n").encode() + vertices.tobytes() + rows.tobytes()
