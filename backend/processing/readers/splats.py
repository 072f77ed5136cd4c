"""Gaussian splats, read as points: their centres and the colours that face all sides."""

import struct
import zlib
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.processing import limits
from backend.processing.files import Files
from backend.processing.readers.soundness import Bools
from backend.processing.scene import Part, RefusedError, Scene

_Values = NDArray[np.floating[Any]]
_Columns = Mapping[str, NDArray[Any]]
_HARMONIC = 0.28209479177387814  # the constant part of spherical harmonics
# Splats of less opacity are fog in a picture of points.
_FAINT = 0.1
# Share of the splats that are farthest from the middle, mostly single ones of the sky: a picture
# of them all would show a dot.
_FAR = 0.001

_SPLAT = np.dtype([("place", "<f4", 3), ("size", "<f4", 3), ("color", "u1", 4), ("turn", "u1", 4)])
_GZIP = b"\x1f\x8b"
_BLOCK = 1 << 20
_HEADER = struct.Struct("<4sIIBBBx")
_HEADER_4 = struct.Struct("<4sIIBBBBI12x")
_HAS_EXTENSIONS = 2
_ROTATION_BYTES = {1: 3, 2: 3, 3: 4}
_HARMONIC_BYTES = (0, 9, 24, 45, 72)
"""Bytes of a splat of SPZ, by the version and by the degree of the harmonics."""


def colors_of_harmonics(constants: _Values) -> _Values:
    """Return the colours of splats by the constant parts of their spherical harmonics."""
    return np.clip(np.nan_to_num(0.5 + _HARMONIC * constants), 0, 1)


def splat_scene(
    format_: str,
    positions: _Values,
    colors: _Values,
    opacity: _Values,
    *,
    valid: Bools | None = None,
    y_up: bool = False,
    generator: str = "",
) -> Scene:
    """Return the scene of all valid splats, whose parts are those that are drawn."""
    finite: Bools = np.all(np.isfinite(positions), axis=1)
    finite = finite if valid is None else finite & valid
    wrong, total = int((~finite).sum()), len(finite)
    if not total:
        raise RefusedError("contains no splats")
    if wrong == total:
        raise RefusedError(f"none of its {total} splats is valid")
    inside = positions[finite] if wrong else positions
    bounds = inside.min(0).astype(np.float64), inside.max(0).astype(np.float64)
    drawn = np.flatnonzero(finite & (opacity >= _FAINT))
    drawn = drawn if len(drawn) else np.flatnonzero(finite)
    # In place: copies of 12 million splats would exceed the memory.
    places = positions[drawn]
    places -= np.median(places, axis=0)
    distances = np.abs(places, out=places).max(1)
    del places, inside
    near = len(drawn) - int(_FAR * len(drawn))
    drawn = np.sort(drawn[np.argpartition(distances, near - 1)[:near]])
    drawn = drawn[:: max(1, -(-len(drawn) // limits.SAMPLED_POINTS))]
    shown = positions[drawn].astype(np.float64)
    if not y_up:  # as they are trained: y points down, z forward
        shown *= [1, -1, -1]
    painted = np.ones((len(drawn), 4))
    painted[:, :3] = colors[drawn]
    part = Part(shown, points=np.arange(len(drawn)), colors=painted)
    return Scene(
        format_,
        [part],
        generator=generator,
        defines_up=y_up,
        left_out=(f"{wrong} of {total} splats are not valid",) if wrong else (),
        total_points=total - wrong,
        facts={"splats": total - wrong},
        bounds=bounds,
    )


def unpack_ply(chunks: _Columns, vertices: _Columns) -> tuple[_Values, _Values, _Values]:
    """Return positions, colours and opacity of the PLY that SuperSplat compresses.

    Numbers are parts of the extents of a chunk, which has 256 splats.

    Raises:
        RefusedError: there are fewer chunks, or no colours.
    """
    packed, paint = vertices["packed_position"], vertices.get("packed_color")
    chunk = np.arange(len(packed)) // 256
    names = [f"{end}_{axis}" for end in ("min", "max") for axis in "xyz"]
    if paint is None or not all(len(chunks.get(name, ())) * 256 >= len(packed) for name in names):
        raise RefusedError("the packed splats have no colours, or too few chunks")
    shares = {
        "x": (packed >> 21 & 2047) / 2047,
        "y": (packed >> 11 & 1023) / 1023,
        "z": (packed & 2047) / 2047,
        **{
            channel: (paint >> shift & 255) / 255
            for channel, shift in zip("rgb", (24, 16, 8), strict=True)
        },
    }
    for name, share in shares.items():
        if f"min_{name}" in chunks:  # of colours, older files have none
            least, most = chunks[f"min_{name}"][chunk], chunks[f"max_{name}"][chunk]
            shares[name] = least + share * (most.astype(np.float64) - least)
    places, colors = (np.stack([shares[name] for name in axes], 1) for axes in ("xyz", "rgb"))
    return places, np.clip(np.nan_to_num(colors), 0, 1), (paint & 255) / 255


def read_splat(data: bytes, _name: str, _files: Files) -> Scene:
    """Read a SPLAT file: 32 bytes a splat, without a header.

    Raises:
        RefusedError: it has other bytes.
    """
    if len(data) % _SPLAT.itemsize:
        raise RefusedError(f"truncated: its {len(data)} bytes are not splats of 32 bytes each")
    rows = np.frombuffer(data, _SPLAT)
    require_count(len(rows))
    # The only redundancy: sizes are positive, and a rotation is a quaternion of length 1.
    lengths = np.square(rows["turn"].astype(np.float32) / 128 - 1).sum(1)
    with np.errstate(all="ignore"):
        sizes: Bools = np.all(np.isfinite(rows["size"]) & (rows["size"] >= 0), axis=1)
    valid = sizes & (np.abs(lengths - 1) < 0.2)
    colors = rows["color"] / np.float32(255)
    return splat_scene("SPLAT", rows["place"], colors[:, :3], colors[:, 3], valid=valid)


def read_spz(data: bytes, _name: str, _files: Files) -> Scene:
    """Read an SPZ file: each attribute of all splats, from version 4 on compressed by itself.

    Raises:
        RefusedError: it has another version, or less than it declares.
    """
    if data.startswith(b"NGSP"):
        return read_spz_4(data)
    if not data.startswith(_GZIP):
        raise RefusedError("not an SPZ file: it is not compressed by gzip")
    content = _Content(data)
    head = content.read(_HEADER.size)
    header: tuple[bytes, int, int, int, int, int] = _HEADER.unpack(head.ljust(_HEADER.size, b"\0"))
    mark, version, count, degree, bits, flags = header
    if mark != b"NGSP":
        is_short = len(head) < _HEADER.size
        raise RefusedError("truncated: no SPZ header" if is_short else "not an SPZ file: no NGSP")
    if version not in _ROTATION_BYTES:
        raise RefusedError(f"the SPZ file has version {version}; versions 1 to 4 are read")
    _check_header(count, degree, bits)
    place = 6 if version == 1 else 9  # numbers of 16 or of 24 bits
    width = place + 7 + _ROTATION_BYTES[version] + _HARMONIC_BYTES[degree]
    places = content.places(count, 2 if version == 1 else 3, 1 << bits)
    opacity, stored = content.read(count), content.read(3 * count)
    content.skip((width - place - 4) * count)
    if content.count < _HEADER.size + count * width:
        held = content.count - _HEADER.size
        raise RefusedError(f"truncated: {count} splats declared, the file has {held} bytes")
    more = content.read(1)
    if not content.ends and not more:
        raise RefusedError("truncated: the compressed splats do not end")
    return _spz_scene(places, stored, opacity, more=bool(more and not flags & _HAS_EXTENSIONS))


def read_spz_4(data: bytes) -> Scene:
    """Read an SPZ file of version 4: a table of the streams, which are compressed by Zstandard."""
    if len(data) < _HEADER_4.size:
        raise RefusedError("truncated: no SPZ header")
    header: tuple[bytes, int, int, int, int, int, int, int] = _HEADER_4.unpack_from(data)
    _, version, count, degree, bits, _, streams, table = header
    if version != 4:
        raise RefusedError(f"the SPZ file has version {version} and no compression: 4 is read")
    _check_header(count, degree, bits)
    sizes = [9 * count, count, 3 * count, 3 * count, 4 * count, _HARMONIC_BYTES[degree] * count]
    sizes = sizes[: 6 if degree else 5]
    start = table + 16 * streams
    if streams != len(sizes) or table < _HEADER_4.size:
        raise RefusedError(f"the SPZ header has {streams} streams of {len(sizes)}, from {table}")
    if start > len(data):
        raise RefusedError("truncated: no table of the SPZ streams")
    contents: list[_Content] = []
    for number, expected in enumerate(sizes):
        packed, size = struct.unpack_from("<2Q", data, table + 16 * number)
        if size != expected:
            raise RefusedError(f"{count} splats declared, their stream {number} has {size} bytes")
        if start + packed > len(data):
            raise RefusedError(f"truncated: {count} splats declared, stream {number} is cut")
        contents.append(_ZstdContent(data[start : start + packed]))
        start += packed
    places = contents[0].places(count, 3, 1 << bits)
    opacity, stored = contents[1].read(count), contents[2].read(3 * count)
    for number, content in enumerate(contents[3:], 3):
        content.skip(sizes[number])
    held = sum(content.count for content in contents)
    if held < sum(sizes):
        raise RefusedError(f"truncated: {count} splats declared, the streams have {held} bytes")
    return _spz_scene(places, stored, opacity, more=start < len(data))


def _check_header(count: int, degree: int, bits: int) -> None:
    if degree >= len(_HARMONIC_BYTES):
        raise RefusedError(f"the SPZ header has harmonics of degree {degree}, more than 4")
    if bits > 23:
        raise RefusedError(f"the SPZ header has {bits} fractional bits of 24")
    require_count(count)


def _spz_scene(places: _Values, stored: bytes, opacity: bytes, *, more: bool) -> Scene:
    shades = np.arange(256, dtype=np.float32) / 255
    colors = colors_of_harmonics((shades - 0.5) / 0.15)[np.frombuffer(stored, np.uint8)]
    painted = shades[np.frombuffer(opacity, np.uint8)]
    scene = splat_scene("SPZ", places, colors.reshape(-1, 3), painted, y_up=True)
    if not more:
        return scene
    return replace(scene, left_out=(*scene.left_out, "bytes after the last splat"))


def require_count(count: int) -> None:
    if count > limits.VERTICES:
        raise RefusedError(f"{count} splats are more than {limits.VERTICES}")


class _Content:
    """The decompressed bytes of a file, read in order: all would exceed the memory."""

    def __init__(self, data: bytes) -> None:
        self._data, self._place = data, 0
        self._reader: Any = zlib.decompressobj(wbits=31)
        self._error: type[Exception] = zlib.error
        self.count = 0

    @property
    def ends(self) -> bool:
        return self._reader.eof

    def pending(self) -> bytes | None:
        """Return compressed bytes that remain of the last block, None if it is done."""
        return self._reader.unconsumed_tail or None

    def read(self, size: int) -> bytes:
        """Return as many bytes; fewer at the end."""
        out = bytearray()
        while len(out) < size and not self.ends:
            block = self.pending()
            if block is None:
                block = self._data[self._place : self._place + _BLOCK]
                self._place += len(block)
            try:
                part = self._reader.decompress(block, size - len(out))
            except self._error as error:
                reason = f"the compressed splats are not valid: {error}"
                raise RefusedError(reason) from None
            out += part
            if not block and not part:
                break
        self.count += len(out)
        return bytes(out)

    def skip(self, size: int) -> None:
        for start in range(0, size, _BLOCK):
            self.read(min(_BLOCK, size - start))

    def places(self, count: int, size: int, parts: int) -> NDArray[np.float32]:
        """Return places of numbers of 2 bytes, or of 3 bytes that count `parts` of a unit."""
        places = np.zeros((count, 3), np.float32)
        for start in range(0, count, _BLOCK):
            block = places[start : start + _BLOCK]
            body = self.read(3 * size * len(block))
            if len(body) < 3 * size * len(block):
                break
            if size == 2:
                block[:] = np.frombuffer(body, "<f2").reshape(-1, 3)
                continue
            steps = np.frombuffer(body, np.uint8).reshape(-1, 3, 3).astype(np.int32)
            whole = steps[..., 0] | steps[..., 1] << 8 | steps[..., 2] << 16
            block[:] = ((whole ^ 0x800000) - 0x800000).astype(np.float32) / parts
        return places


class _ZstdContent(_Content):
    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        zstd = import_module("backports.zstd")
        self._reader, self._error = zstd.ZstdDecompressor(), zstd.ZstdError

    def pending(self) -> bytes | None:
        return None if self._reader.needs_input else b""  # the library holds them
