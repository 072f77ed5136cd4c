"""Compares the counts in the header of a point cloud with the size of the file.

Libraries loop over what the header declares: 2³² records take minutes in a file of 227 bytes.
"""

import struct
from typing import Any

from backend.processing.scene import RefusedError

# The public header block of LAS 1.0 to 1.2.
_HEADER_BYTES = 227
_LONG_HEADER_BYTES = 375  # of version 1.4
_RECORD_BYTES, _LONG_RECORD_BYTES = 54, 60  # of a record without content
_COMPRESSED = 0x80  # the flag of LAZ in the number of the point format
# What a compressed file without points has after its header.
_CHUNK_TABLE_BYTES = 64
# Equal points compress best: 50,000 of them take about 150 bytes.
_POINTS_PER_COMPRESSED_BYTE = 4096


def require_plausible_counts(data: bytes) -> None:
    """Require records and points that fit into the file.

    Raises:
        RefusedError: the header declares more than that.
    """
    if data[:4] != b"LASF" or len(data) < _HEADER_BYTES:
        return  # the library reports the error
    header_bytes, points_at, records = _unpack("<HII", data, 94)
    point_format, point_bytes, points = _unpack("<BHI", data, 104)
    _require(records, "variable records", min(points_at, len(data)) - header_bytes, _RECORD_BYTES)
    if data[25] >= 4 and len(data) >= _LONG_HEADER_BYTES:
        long_records_at, long_records, long_points = _unpack("<QIQ", data, 235)
        room = len(data) - long_records_at
        _require(long_records, "extended variable records", room, _LONG_RECORD_BYTES)
        points = long_points or points
    room = len(data) - points_at
    if point_format & _COMPRESSED:
        _require(points, "points", max(room, 0) * _POINTS_PER_COMPRESSED_BYTE, 1)
    else:
        _require(points, "points", room, point_bytes)


def with_points(data: bytes) -> tuple[bytes, str]:
    """Return the file with a count of its points, and the text about those beyond the count.

    Programs that ended early, or write version 1.4 as an older one, leave the count at 0.
    """
    if data[:4] != b"LASF" or len(data) < _HEADER_BYTES:
        return data, ""
    points_at, _, point_format, point_bytes, declared = _unpack("<IIBHI", data, 96)
    is_long = data[25] >= 4 and len(data) >= _LONG_HEADER_BYTES
    end = len(data)
    if data[25] >= 3 and len(data) >= _LONG_HEADER_BYTES - 140:  # waveforms, then long records
        end = min(at for at in (*_unpack("<Q", data, 227), end) if at)
    if is_long:
        long_records_at, _, long_declared = _unpack("<QIQ", data, 235)
        declared = long_declared or declared
        end = min(end, long_records_at or end)
    room = max(end - points_at, 0)
    if point_format & _COMPRESSED:
        is_lost = not declared and room > _CHUNK_TABLE_BYTES
        return data, "its points: the header declares 0 points" if is_lost else ""
    held = room // max(point_bytes, 1)
    left_out = f"the header declares {declared} points, the file has {held}"
    if declared:
        held = min(declared, held)
        left_out = left_out if held < room // max(point_bytes, 1) else ""
    counted = bytearray(data)
    if is_long:
        struct.pack_into("<Q", counted, 247, held)
    elif held < 1 << 32:
        struct.pack_into("<I", counted, 107, held)
    return bytes(counted), left_out if declared else ""


def _require(declared: int, of_what: str, room: int, size: int) -> None:
    held = max(room, 0) // max(size, 1)
    if declared > held:
        raise RefusedError(
            f"truncated: the header declares {declared} {of_what}, the file has room for {held}"
        )


def _unpack(layout: str, data: bytes, at: int) -> tuple[Any, ...]:
    return struct.unpack_from(layout, data, at)
