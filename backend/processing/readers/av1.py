"""AV1, which FFmpeg of OpenCV does not decode: Pillow reads its key frames as pictures (AVIF)."""

import io
import struct

from PIL import Image

from backend.processing.scene import RefusedError

_SEQUENCE_HEADER = 1
# Units before the frame in a packet: those that tell where it is in time, its header and texts.
_UNITS = 8


def is_key(packet: bytes) -> bool:
    """Return whether a packet has the header with which decoding begins."""
    at = 0
    for _ in range(_UNITS):
        if at >= len(packet):
            break
        kind, extended, sized = packet[at] >> 3 & 15, packet[at] >> 2 & 1, packet[at] >> 1 & 1
        if kind == _SEQUENCE_HEADER:
            return True
        at += 1 + extended
        size = shift = 0
        while sized and at < len(packet) and shift < 56:
            byte = packet[at]
            size |= (byte & 127) << shift
            at, shift, sized = at + 1, shift + 7, byte >> 7
        at += size
    return False


def decode_key(packet: bytes, configuration: bytes, width: int, height: int) -> Image.Image:
    """Return the picture of a packet with a key frame.

    Raises:
        RefusedError: it cannot be decoded.
    """
    try:
        with Image.open(io.BytesIO(avif_of(packet, configuration, width, height))) as picture:
            return picture.convert("RGB")
    except (OSError, RuntimeError, ValueError):
        raise RefusedError("a frame of AV1 cannot be decoded") from None


def _box(kind: bytes, *parts: bytes) -> bytes:
    return struct.pack(">I4s", 8 + sum(map(len, parts)), kind) + b"".join(parts)


def avif_of(packet: bytes, configuration: bytes, width: int, height: int) -> bytes:
    """Return a file with one picture, of three channels of 8 bits when it is shown."""
    start = _box(b"ftyp", b"avif", bytes(4), b"avifmif1miaf")
    properties = (
        _box(b"ispe", struct.pack(">III", 0, width, height)),
        _box(b"av1C", configuration),
        _box(b"pixi", bytes(4), b"\3\x08\x08\x08"),
    )
    item = _box(b"infe", struct.pack(">IHH4sx", 2 << 24, 1, 0, b"av01"))

    def with_frame_at(at: int) -> bytes:
        place = struct.pack(">IBBHHHHII", 0, 0x44, 0, 1, 1, 0, 1, at, len(packet))
        return start + _box(
            b"meta",
            bytes(4),
            _box(b"hdlr", bytes(8), b"pict", bytes(13)),
            _box(b"pitm", struct.pack(">IH", 0, 1)),
            _box(b"iloc", place),
            _box(b"iinf", struct.pack(">IH", 0, 1), item),
            _box(
                b"iprp",
                _box(b"ipco", *properties),
                _box(b"ipma", struct.pack(">IIHBBBB", 0, 1, 1, 3, 1, 0x82, 3)),
            ),
        )

    return with_frame_at(len(with_frame_at(0)) + 8) + _box(b"mdat", packet)
