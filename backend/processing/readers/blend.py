"""The picture that Blender stores in its files, at most 256 pixels wide."""

import re
import struct
import zlib

import numpy as np
from PIL import Image

from backend.processing import limits
from backend.processing.scene import RefusedError

# Version and widths of pointers and blocks: since Blender 5 the header has its own length.
_HEADER = re.compile(rb"BLENDER(?:([-_])([vV])(\d{3})|17-01(v)(\d{4}))")
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_START = limits.MIB  # the picture is one of the first blocks
_EDGE = 1024


def picture_of(data: bytes) -> tuple[str, Image.Image] | None:
    """Return the version of Blender and the picture, None if the file has none.

    Raises:
        RefusedError: the file is compressed in a way that is not read.
    """
    if data.startswith(_ZSTD):
        raise RefusedError("compressed by Zstandard: save it without compression")
    if data.startswith(_GZIP):
        try:
            data = zlib.decompressobj(wbits=31).decompress(data, _START)
        except zlib.error:
            return None
    header = _HEADER.match(data)
    if header is None:
        return None
    order = "<" if (header[2] or header[4]) == b"v" else ">"
    if header[4]:
        block, size_at = struct.Struct("<4siQqq"), 3
    else:
        block, size_at = struct.Struct(f"{order}4si{'Q' if header[1] == b'-' else 'I'}ii"), 1
    number = int(header[3] or header[5])
    at = header.end()
    while at + block.size + 8 <= min(len(data), _START):
        fields = block.unpack_from(data, at)
        code, size = bytes(fields[0]), int(fields[size_at])
        if code in {b"ENDB", b"GLOB"} or size < 0:
            return None
        at += block.size
        if code == b"TEST":
            return _picture(data[at : at + size], order, number)
        at += size
    return None


def _picture(content: bytes, order: str, number: int) -> tuple[str, Image.Image] | None:
    width, height = struct.unpack_from(f"{order}ii", content.ljust(8, b"\0"))
    if not (0 < width <= _EDGE and 0 < height <= _EDGE and len(content) >= 8 + 4 * width * height):
        return None
    rows = np.frombuffer(content, np.uint8, 4 * width * height, 8).reshape(height, width, 4)
    return f"Blender {number // 100}.{number % 100}", Image.fromarray(rows[::-1].copy())
