"""Point clouds: LAS and LAZ by laspy."""

import io
import struct
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from backend.processing import limits
from backend.processing.readers.las_counts import require_plausible_counts, with_points
from backend.processing.scene import Floats, Part, RefusedError, Scene, words_of

# Points that are decompressed at once; all 400 million would need 10 GB.
_CHUNK = 1_000_000
# Record ids of the LAS specification, keys and the user-defined code of GeoTIFF.
_WKT_RECORDS, _KEY_RECORD, _NAME_RECORD = (2111, 2112), 34735, 34737
_GEOGRAPHIC, _PROJECTED, _VERTICAL, _USER_DEFINED = 2048, 3072, 4096, 32767


def read(data: bytes) -> Scene:
    """Read the header of a point cloud, and every nth of its points."""
    import laspy  # noqa: PLC0415 - only point clouds need it
    import lazrs  # noqa: PLC0415

    if not data.startswith(b"LASF"):
        raise RefusedError("not a LAS file: it does not begin with LASF")
    require_plausible_counts(data)
    data, left_out = with_points(data)
    library: Any = laspy
    codec: Any = lazrs
    try:
        # One thread: a confined process starts no others.
        with library.open(io.BytesIO(data), laz_backend=library.LazBackend.Lazrs) as file:
            return replace(_scene(file), left_out=(left_out,) if left_out else ())
    except (
        *(library.errors.LaspyException, codec.LazrsError),
        *(ValueError, IndexError, struct.error),
    ) as error:
        raise RefusedError(f"not a readable point cloud: {words_of(error)}") from None


def _scene(file: Any) -> Scene:
    header = file.header
    count = int(header.point_count)
    if count > limits.POINTS:
        raise RefusedError(f"{count} points are too many")
    if not np.isfinite([*header.scales, *header.offsets]).all():
        raise RefusedError("the header has a scale or an offset that is not finite")
    if not np.all(header.scales):
        raise RefusedError("the header has a scale of zero: all points would be in one plane")
    every = max(1, -(-count // limits.SAMPLED_POINTS))
    # The box of the header is often that of other points, or zero.
    box = _Box()
    positions, colors = _points(file, every, box)
    return Scene(
        format="LAZ" if header.are_points_compressed else "LAS",
        parts=[Part(positions, points=np.arange(len(positions)), colors=colors)],
        generator=str(header.generating_software).strip("\0 ")[:200],
        up="z",
        defines_up=True,
        crs=_crs(header),
        total_points=count,
        bounds=box.bounds,
    )


class _Box:
    """The smallest box around all points, also those that are not part of the sample."""

    def __init__(self) -> None:
        self.bounds: tuple[Floats, Floats] | None = None

    def add(self, axes: Sequence[Floats]) -> None:
        if not len(axes[0]):
            return
        lowest = np.array([axis.min() for axis in axes])
        highest = np.array([axis.max() for axis in axes])
        if self.bounds is not None:
            lowest = np.minimum(lowest, self.bounds[0])
            highest = np.maximum(highest, self.bounds[1])
        self.bounds = (lowest, highest)


def _points(file: Any, every: int, box: _Box) -> tuple[Floats, Floats | None]:
    positions, colors, offset = list[Floats](), list[Floats](), 0
    colored = "red" in file.header.point_format.dimension_names
    for chunk in file.chunk_iterator(_CHUNK):
        # The first point of a chunk that belongs to the sample.
        chosen = slice(-offset % every, None, every)
        offset += len(chunk)
        axes = [np.asarray(axis, np.float64) for axis in (chunk.x, chunk.y, chunk.z)]
        box.add(axes)
        positions.append(np.stack([axis[chosen] for axis in axes], 1))
        if colored:
            channels = (chunk.red, chunk.green, chunk.blue)
            colors.append(np.stack([np.asarray(channel)[chosen] for channel in channels], 1))
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
        if record.record_id == _NAME_RECORD and hasattr(record, "strings"):
            names = "|".join(str(string).strip("\0| ") for string in record.strings)[:200]
            if names.strip("| "):
                return names
    return _code(records)


def _code(records: Sequence[Any]) -> str:
    """Return the codes of the GeoTIFF keys as `EPSG:32632` or, with heights, `EPSG:32632+5773`."""
    for record in records:
        if record.record_id == _KEY_RECORD and hasattr(record, "geo_keys"):
            # Location 0: the value is in the key itself.
            values = {
                int(key.id): int(key.value_offset)
                for key in record.geo_keys
                if key.tiff_tag_location == 0
            }
            codes = [values.get(_PROJECTED) or values.get(_GEOGRAPHIC), values.get(_VERTICAL)]
            known = [str(code) for code in codes if code and code != _USER_DEFINED]
            if known and known[0] == str(codes[0]):
                return "EPSG:" + "+".join(known)
    return ""
