"""Finds PNG and JPEG files that contain more than their picture.

The bytes are checked, because Pillow skips what it does not know: private chunks, the thumbnail of
JFIF, and what follows the end, such as the video of a phone's photograph.
"""

import re
import struct

from backend.spec.inspection_outputs import PNG_MAGIC

# The chunks that describe pixels. All others may hold texts, places and profiles of the author.
_PNG_CHUNKS = frozenset(
    {b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"sBIT", b"bKGD"}
    | {b"pHYs"}
)
# The next marker of JPEG. Within its data, a marker is escaped, or restarts the decoder.
_MARKER = re.compile(rb"\xff+([^\x00\xff\xd0-\xd7])")
_END, _APP0, _APP14, _COMMENT = 0xD9, 0xE0, 0xEE, 0xFE
_JFIF_BYTES, _ADOBE_BYTES = 14, 12  # without a thumbnail


def is_only_picture(data: bytes) -> bool:
    """Return whether a PNG or JPEG file that can be decoded contains only pixels."""
    return _is_plain_png(data) if data.startswith(PNG_MAGIC) else _is_plain_jpeg(data)


def _is_plain_png(data: bytes) -> bool:
    at = len(PNG_MAGIC)
    while at + 8 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        if kind not in _PNG_CHUNKS:
            return False
        at += 12 + length
        if kind == b"IEND":
            return length == 0 and at == len(data)
    return False


def _is_plain_jpeg(data: bytes) -> bool:
    at = 2
    while (marker := _MARKER.search(data, at)) is not None:
        kind, at = marker[1][0], marker.end()
        if kind == _END:
            return at == len(data)
        if at + 2 > len(data):
            return False
        end = at + int.from_bytes(data[at : at + 2])
        if _is_metadata(kind, data[at + 2 : end]):
            return False
        at = end
    return False


def _is_metadata(kind: int, content: bytes) -> bool:
    if kind == _APP0:
        return not (content.startswith(b"JFIF\0") and len(content) == _JFIF_BYTES)
    if kind == _APP14:
        return not (content.startswith(b"Adobe") and len(content) == _ADOBE_BYTES)
    return kind == _COMMENT or _APP0 <= kind <= _APP0 + 15
