"""Point clouds: LAS and LAZ by laspy."""

import io
from typing import Any

import numpy as np

from backend.processing import limits
from backend.processing.scene import Floats, Part, RefusedError, Scene

_CHUNK = 1_000_000
_WKT_RECORDS, _KEY_RECORD = (2111, 2112), 34737


def read(data: bytes) -> Scene:
    """Read the header of a point cloud, and every nth of its points."""
    import laspy  # noqa: PLC0415 - only point clouds need it
    import lazrs  # noqa: PLC0415

    library: Any = laspy
    codec: Any = lazrs
    try:
        # One thread: a confined process starts no others.
        with library.open(io.BytesIO(data), laz_backend=library.LazBackend.Lazrs) as file:
            return _scene(file)
    except (library.errors.LaspyException, codec.LazrsError, ValueError, IndexError) as error:
        raise RefusedError(f"not a readable point cloud: {error}") from None


def _scene(file: Any) -> Scene:
    header = file.header
    count = int(header.point_count)
    if count > limits.POINTS:
        raise RefusedError(f"{count} points are too many")
    every = max(1, -(-count // limits.SAMPLED_POINTS))
    positions, colors = _points(file, every)
    lowest, highest = (np.array(each, np.float64) for each in (header.mins, header.maxs))
    return Scene(
        format="LAZ" if header.are_points_compressed else "LAS",
        parts=[Part(positions, points=np.arange(len(positions)), colors=colors)],
        generator=str(header.generating_software).strip("\0 ")[:200],
        up="z",
        crs=_crs(header),
        total_points=count,
        bounds=(lowest, highest) if count else None,
    )


def _points(file: Any, every: int) -> tuple[Floats, Floats | None]:
    positions, colors, offset = list[Floats](), list[Floats](), 0
    colored = "red" in file.header.point_format.dimension_names
    for chunk in file.chunk_iterator(_CHUNK):
        # The first point of a chunk that belongs to the sample.
        chosen = slice(-offset % every, None, every)
        offset += len(chunk)
        positions.append(
            np.stack([np.asarray(each)[chosen] for each in (chunk.x, chunk.y, chunk.z)], 1)
        )
        if colored:
            channels = (chunk.red, chunk.green, chunk.blue)
            colors.append(np.stack([np.asarray(each)[chosen] for each in channels], 1))
    if not positions:
        return np.zeros((0, 3)), None
    raw = np.concatenate(colors) if colors else np.zeros((0, 3))
    if not raw.any():
        return np.concatenate(positions), None
    # Colours have 16 bits; some programs write only 8 of them.
    full = 65535 if raw.max() > 255 else 255
    return np.concatenate(positions), np.hstack([raw / full, np.ones((len(raw), 1))])


def _crs(header: Any) -> str:
    """Return the coordinate reference system that the record names."""
    records: list[Any] = [*header.vlrs, *(header.evlrs or [])]
    for record in records:
        if record.record_id in _WKT_RECORDS and hasattr(record, "string"):
            text = str(record.string).strip("\0 ")
            return text.partition('"')[2].partition('"')[0][:200] or text[:200]
    for record in records:
        if record.record_id == _KEY_RECORD and hasattr(record, "strings"):
            return "|".join(str(each).strip("\0| ") for each in record.strings)[:200]
    return ""
