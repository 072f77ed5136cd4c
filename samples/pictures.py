"""Textures and noise, and pictures as PNG and JPEG."""

import io
import struct
import zlib

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Floats = NDArray[np.float64]


def random(seed: int) -> float:
    """Return a number from 0 to 1 that depends on the seed only."""
    return float(_hashed(np.array([seed], np.int64), np.array([77], np.int64))[0])


def randoms(count: int) -> Floats:
    """Return numbers from 0 to 1, always the same ones."""
    return _hashed(np.arange(count), np.full(count, 41))


def _hashed(x: NDArray[np.int64], y: NDArray[np.int64]) -> Floats:
    mixed = (x.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) ^ (
        y.astype(np.uint64) * np.uint64(0xC2B2AE3D27D4EB4F)
    )
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0x94D049BB133111EB)
    return ((mixed >> np.uint64(40)).astype(float)) / float(1 << 24)


def noise(x: Floats, y: Floats, *, period: int = 0) -> Floats:
    """Return smooth noise from 0 to 1 over the plane; with a period it repeats."""
    left, below = np.floor(x), np.floor(y)
    fx, fy = x - left, y - below
    fx, fy = fx * fx * fx * (fx * (fx * 6 - 15) + 10), fy * fy * fy * (fy * (fy * 6 - 15) + 10)
    ix, iy = left.astype(np.int64), below.astype(np.int64)

    def at(dx: int, dy: int) -> Floats:
        cx, cy = ix + dx, iy + dy
        return _hashed(cx % period, cy % period) if period else _hashed(cx, cy)

    low = at(0, 0) * (1 - fx) + at(1, 0) * fx
    high = at(0, 1) * (1 - fx) + at(1, 1) * fx
    return low * (1 - fy) + high * fy


def fractal(x: Floats, y: Floats, octaves: int, *, period: int = 0) -> Floats:
    """Return noise of several sizes, from 0 to 1."""
    total, weight, scale = np.zeros_like(x), 0.0, 1
    for octave in range(octaves):
        moved = period * scale if period else 0
        total += noise(x * scale + 13 * octave, y * scale + 7 * octave, period=moved) / scale
        weight += 1 / scale
        scale *= 2
    return total / weight


def mixed(a: object, b: object, part: Floats) -> Floats:
    """Return colours between two, by a part from 0 to 1 for each pixel."""
    part = np.clip(part, 0, 1)[..., None]
    return np.asarray(a, float) * (1 - part) + np.asarray(b, float) * part


def squares(side: int) -> tuple[Floats, Floats]:
    """Return the x and y of pixels of a square texture, from 0 to 1."""
    line = (np.arange(side) + 0.5) / side
    return np.meshgrid(line, line)


def jpeg(colors: Floats, *, quality: int = 85, exif: bytes | None = None) -> bytes:
    """Return colours from 0 to 1 as JPEG."""
    pixels = (np.clip(colors, 0, 1) * 255 + 0.5).astype(np.uint8)
    out = io.BytesIO()
    more = {} if exif is None else {"exif": exif}
    Image.fromarray(pixels).save(out, "JPEG", quality=quality, subsampling=0, **more)
    return out.getvalue()


def png(pixels: NDArray[np.uint8], palette: list[tuple[int, int, int]]) -> bytes:
    """Return numbers of at most 16 colours as PNG, four bits a pixel."""
    height, width = pixels.shape
    packed = (pixels[:, 0::2] << 4) | pixels[:, 1::2]
    rows = b"".join(b"\0" + row.tobytes() for row in packed)
    header = struct.pack(">IIBBBBB", width, height, 4, 3, 0, 0, 0)
    colors = b"".join(bytes(color) for color in palette)
    chunks = [(b"IHDR", header), (b"PLTE", colors), (b"IDAT", _stored(rows)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


def _stored(data: bytes) -> bytes:
    """A zlib stream of stored blocks: what a library would compress differs by its version."""
    cuts = range(0, len(data), 0xFFFF)
    blocks = b"".join(
        struct.pack("<BHH", at == cuts[-1], len(block), len(block) ^ 0xFFFF) + block
        for at in cuts
        for block in [data[at : at + 0xFFFF]]
    )
    return b"\x78\x01" + blocks + struct.pack(">I", zlib.adler32(data))


def wood(side: int) -> Floats:
    """Return boards of oak with the grain along y."""
    x, y = squares(side)
    board = np.floor(x * 4)
    own = x * 4 - board
    shade = _hashed(board.astype(np.int64), np.full_like(board, 5).astype(np.int64))
    bend = fractal(x * 4, y * 4, 3, period=4)
    rings = 0.5 + 0.5 * np.sin(2 * np.pi * (14 * (own + 0.35 * bend) + 5 * shade))
    fibres = fractal(x * 64, y * 4, 2, period=4)
    colors = mixed((0.55, 0.35, 0.19), (0.80, 0.59, 0.37), 0.25 + 0.5 * rings * bend + 0.35 * shade)
    colors = colors * (0.86 + 0.22 * fibres[..., None])
    gap = np.minimum(own, 1 - own) * side / 4
    return colors * np.clip(0.35 + gap / 2.5, 0.35, 1)[..., None]


def steel(side: int) -> Floats:
    """Return brushed steel."""
    x, y = squares(side)
    lines = fractal(x * 4, y * 128, 3, period=4)
    spots = fractal(x * 4, y * 4, 4, period=4)
    return mixed((0.52, 0.54, 0.57), (0.80, 0.82, 0.85), 0.7 * lines + 0.4 * (spots - 0.4))
