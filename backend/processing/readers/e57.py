"""E57 point clouds of ASTM E2807, in memory.

The library of PyPI (`e57` 0.2) opens paths only, so its process needed Landlock; it stores 40 bytes
of each point, and crashes on a file without scans.
"""

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from backend.processing import limits
from backend.processing.files import Files
from backend.processing.readers.soundness import Bools, finite_rows
from backend.processing.scene import METRE, Bytes, Floats, Part, RefusedError, Scene, words_of

_HEADER = struct.Struct("<8sII4Q")
_SECTION = struct.Struct("<B7x3Q")
_PACKET = struct.Struct("<BBHH")
# A page ends with a checksum: CRC-32C, of the highest byte first.
_PAGE, _HELD = 1024, 1020
_POLYNOMIAL = 0x82F63B78
_CHECKED_PAGES = 4096
_XML_BYTES = 16 * limits.MIB
_DATA_PACKET = 1
_CHUNK = 1 << 20
_CARTESIAN = ("cartesianX", "cartesianY", "cartesianZ")
_SPHERICAL = ("sphericalRange", "sphericalAzimuth", "sphericalElevation")
_COLORS = ("colorRed", "colorGreen", "colorBlue")
_INVALID = ("cartesianInvalidState", "sphericalInvalidState")
_USED = {*_CARTESIAN, *_SPHERICAL, *_COLORS, *_INVALID, "intensity"}

_Element = ElementTree.Element
_T = TypeVar("_T", int, float)


@dataclass(frozen=True)
class _Field:
    """A column of the points: numbers of 32 or 64 bits, or whole numbers of fewer bits."""

    bits: int
    is_float: bool
    lowest: int
    highest: int
    scale: float
    offset: float

    def values(self, stream: bytes, start: int, count: int) -> Floats:
        """Return the values of points; `start` is a multiple of eight."""
        if self.is_float:
            kind = "<f4" if self.bits == 32 else "<f8"
            stored = np.frombuffer(stream, kind, count, start * self.bits // 8)
            return stored.astype(np.float64)
        at = np.arange(count) * self.bits
        first = start * self.bits // 8
        window = stream[first : first + (count * self.bits + 7) // 8] + bytes(8)
        # The 64 bits that begin at each byte.
        words = np.ndarray(len(window) - 7, "<u8", window, strides=(1,))[at >> 3]
        whole = (words >> (at & 7).astype(np.uint64)) & np.uint64((1 << self.bits) - 1)
        return (whole.astype(np.float64) + self.lowest) * self.scale + self.offset


@dataclass(frozen=True)
class _Scan:
    fields: Mapping[str, _Field]
    streams: Mapping[str, bytes]
    count: int
    turn: Floats
    move: Floats
    limits: Mapping[str, float]


def read(data: bytes, _name: str, _files: Files) -> Scene:
    """Read all scans, each moved by its pose.

    Raises:
        RefusedError: the file is damaged, or declares more than it has.
    """
    pages, root, left_out = _open(data)
    elements = root.findall("./data3D/vectorChild")
    counts = [_count(element.find("points")) for element in elements]
    total = sum(counts)
    if total > limits.POINTS:
        raise RefusedError(f"{total} points are too many")
    if not total:
        raise RefusedError("contains no points")
    cloud = _Cloud(max(1, -(-total // limits.SAMPLED_POINTS)))
    for element, count in zip(elements, counts, strict=True):
        if count:
            cloud.add(_scan(pages, element, count))
    if cloud.bounds is None:
        raise RefusedError(f"none of its {total} points is valid")
    wrong = total - cloud.total
    if wrong:
        left_out.append(f"{wrong} of {total} points are not valid")
    return Scene(
        "E57",
        cloud.parts,
        generator=_text(root, "e57LibraryVersion")[:200],
        up="z",
        unit=METRE,
        crs=_text(root, "coordinateMetadata")[:200],
        left_out=tuple(left_out),
        total_points=cloud.total,
        bounds=cloud.bounds,
        facts={"scans": len(elements), "images": len(root.findall("./images2D/vectorChild"))},
    )


def _open(data: bytes) -> tuple[Bytes, _Element, list[str]]:
    """Return the pages without their checksums, the description, and what is left out."""
    if not data.startswith(b"ASTM-E57"):
        raise RefusedError("not an E57 file: it does not begin with ASTM-E57")
    if len(data) < _HEADER.size:
        raise RefusedError("truncated: the E57 header does not end")
    header: tuple[bytes, int, int, int, int, int, int] = _HEADER.unpack_from(data)
    _, major, minor, size, start, length, page = header
    if (major, page) != (1, _PAGE):
        raise RefusedError(f"the E57 file has version {major}.{minor} and pages of {page} bytes")
    if size % _PAGE or not size:
        raise RefusedError(f"the E57 header declares {size} bytes, which are not whole pages")
    if size > len(data):
        raise RefusedError(f"truncated: {size} bytes declared, the file has {len(data)}")
    pages = np.frombuffer(data, np.uint8, size).reshape(-1, _PAGE)
    _require_checksums(pages)
    if length > _XML_BYTES:
        raise RefusedError(f"the description has {length} bytes, more than {_XML_BYTES}")
    text = _bytes(pages, _logical(start), length).strip(b"\0 \r\n\t")
    # Entities expand without bound; in UTF-16 they would not be seen.
    if b"<!DOCTYPE" in text or b"\0" in text:
        raise RefusedError("the description of the E57 file declares a document type, or has zeros")
    try:
        root = ElementTree.fromstring(text)  # noqa: S314 - no entities
    except (ElementTree.ParseError, ValueError) as error:
        raise RefusedError(
            f"the description of the E57 file is not valid: {words_of(error)}"
        ) from None
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    more = len(data) - size
    return pages, root, [f"{more} bytes after the last page"] if more else []


def _table() -> NDArray[np.uint32]:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, table >> 1 ^ _POLYNOMIAL, table >> 1).astype(np.uint32)
    return table


def _require_checksums(pages: Bytes) -> None:
    table = _table()
    for first in range(0, len(pages), _CHECKED_PAGES):
        some = pages[first : first + _CHECKED_PAGES]
        held = np.ascontiguousarray(some[:, :_HELD].T)
        checksum = np.full(len(some), 0xFFFFFFFF, np.uint32)
        for column in held:
            checksum = table[(checksum & 255) ^ column] ^ (checksum >> 8)
        stored = np.ascontiguousarray(some[:, _HELD:]).view(">u4")[:, 0]
        wrong = np.flatnonzero(~checksum != stored)
        if len(wrong):
            raise RefusedError(f"damaged: the checksum of page {first + wrong[0] + 1} is wrong")


def _logical(place: int) -> int:
    """Return an offset without checksums for one with them."""
    return place // _PAGE * _HELD + min(place % _PAGE, _HELD)


def _bytes(pages: Bytes, start: int, length: int) -> bytes:
    if start + length > len(pages) * _HELD:
        raise RefusedError("truncated: a section of the E57 file ends after the file")
    first, last = start // _HELD, (start + length) // _HELD + 1
    held = pages[first:last, :_HELD].tobytes()
    return held[start - first * _HELD :][:length]


def _text(element: _Element, path: str) -> str:
    child = element.find(path)
    return "" if child is None else (child.text or "").strip()


def _number(element: _Element, path: str, default: float = 0.0) -> float:
    """Return a number; one without text is zero."""
    child = element.find(path)
    if child is None:
        return default
    return _parse(child.text or "0", float)


def _parse(text: str, kind: type[_T]) -> _T:
    try:
        return kind(text)
    except ValueError:
        raise RefusedError(f"'{text[:40]}' in the E57 file is not a number") from None


def _count(points: _Element | None) -> int:
    return 0 if points is None else max(0, _parse(points.get("recordCount", "0")[:18], int))


def _field(element: _Element) -> _Field:
    kind, get = element.get("type"), element.get
    if kind == "Float":
        return _Field(32 if get("precision") == "single" else 64, True, 0, 0, 1, 0)
    if kind not in {"Integer", "ScaledInteger"}:
        raise RefusedError(f"the points have a field of the type {kind}")
    lowest = _parse(get("minimum", str(-(1 << 63))), int)
    highest = _parse(get("maximum", str((1 << 63) - 1)), int)
    bits = max(0, highest - lowest).bit_length()
    if bits > 64 or 57 < bits < 64:
        raise RefusedError(f"the points have a field of {bits} bits")
    is_scaled = kind == "ScaledInteger"
    scale = _parse(get("scale", "1"), float) if is_scaled else 1.0
    offset = _parse(get("offset", "0"), float) if is_scaled else 0.0
    return _Field(bits, False, lowest, highest, scale, offset)


def _scan(pages: Bytes, element: _Element, count: int) -> _Scan:
    points = element.find("points")
    prototype = None if points is None else points.find("prototype")
    if points is None or prototype is None:
        raise RefusedError("a scan of the E57 file has no fields")
    fields = {child.tag: _field(child) for child in prototype}
    if not any(set(names) <= fields.keys() for names in (_CARTESIAN, _SPHERICAL)):
        raise RefusedError("the points of the E57 file have no coordinates")
    place = _logical(max(0, _parse(points.get("fileOffset", "0")[:18], int)))
    streams = dict(zip(fields, _streams(pages, place, len(fields)), strict=True))
    for name in _USED & fields.keys():
        held = len(streams[name]) * 8 // (fields[name].bits or 1)
        if fields[name].bits and held < count:
            raise RefusedError(f"truncated: {count} points declared, {held} in the file")
    w, x, y, z = (
        _number(element, f"pose/rotation/{axis}", default)
        for axis, default in (("w", 1.0), ("x", 0.0), ("y", 0.0), ("z", 0.0))
    )
    length = np.sqrt(w * w + x * x + y * y + z * z)
    if not 0 < length < np.inf:
        raise RefusedError("the rotation of a scan has no length")
    w, x, y, z = w / length, x / length, y / length, z / length
    turn = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    move = np.array([_number(element, f"pose/translation/{axis}") for axis in "xyz"])
    extremes = [
        *(
            child
            for path in ("colorLimits", "intensityLimits")
            for child in element.iterfind(f"{path}/*")
        ),
    ]
    return _Scan(
        fields,
        streams,
        count,
        turn,
        move,
        {child.tag: _parse(child.text or "0", float) for child in extremes},
    )


def _streams(pages: Bytes, place: int, count: int) -> list[bytes]:
    """Return the bytes of each column, which are distributed over packets."""
    section: tuple[int, int, int, int] = _SECTION.unpack(_bytes(pages, place, _SECTION.size))
    number, length, start, _ = section
    if number != 1:
        raise RefusedError("the points of the E57 file are not where it says")
    at, end = _logical(start), place + length
    parts = [list[bytes]() for _ in range(count)]
    while at < end:
        head: tuple[int, int, int, int] = _PACKET.unpack(_bytes(pages, at, _PACKET.size))
        kind, _, rest, columns = head
        if kind == _DATA_PACKET:
            _split(_bytes(pages, at, rest + 1), columns, parts)
        at += rest + 1
    return [b"".join(part) for part in parts]


def _split(packet: bytes, columns: int, parts: Sequence[list[bytes]]) -> None:
    at = _PACKET.size + 2 * columns
    if columns != len(parts) or at > len(packet):
        raise RefusedError(f"a packet has {columns} columns of points, which have {len(parts)}")
    lengths: tuple[int, ...] = struct.unpack_from(f"<{columns}H", packet, _PACKET.size)
    if at + sum(lengths) > len(packet):
        raise RefusedError("truncated: a packet of points ends before its columns")
    for part, length in zip(parts, lengths, strict=True):
        part.append(packet[at : at + length])
        at += length


class _Cloud:
    """Every nth point of all scans, and the box around all of them."""

    def __init__(self, every: int) -> None:
        self._every = every
        self._offset = 0
        self.total = 0
        self.parts: list[Part] = []
        self.bounds: tuple[Floats, Floats] | None = None

    def add(self, scan: _Scan) -> None:
        """Add the points of a scan that are valid."""
        for start in range(0, scan.count, _CHUNK):
            count = min(_CHUNK, scan.count - start)
            places, valid = _places(scan, start, count)
            inside = places[valid]
            self.total += len(inside)
            chosen = np.flatnonzero(valid[-self._offset % self._every :: self._every])
            chosen = chosen * self._every + -self._offset % self._every
            self._offset += count
            if len(inside):
                lowest, highest = inside.min(0), inside.max(0)
                if self.bounds is not None:
                    lowest = np.minimum(lowest, self.bounds[0])
                    highest = np.maximum(highest, self.bounds[1])
                self.bounds = (lowest, highest)
            if len(chosen):
                colors = _colors(scan, start, count, chosen)
                self.parts.append(
                    Part(places[chosen], points=np.arange(len(chosen)), colors=colors)
                )


def _places(scan: _Scan, start: int, count: int) -> tuple[Floats, Bools]:
    """Return the points of a chunk where their pose places them, and which are valid."""
    is_cartesian = set(_CARTESIAN) <= scan.fields.keys()
    names = _CARTESIAN if is_cartesian else _SPHERICAL
    first, second, third = _columns(scan, names, start, count)
    with np.errstate(all="ignore"):
        if not is_cartesian:
            flat = first * np.cos(third)
            first, second, third = (
                flat * np.cos(second),
                flat * np.sin(second),
                first * np.sin(third),
            )
        places = np.stack([first, second, third], 1) @ scan.turn.T + scan.move
    valid = finite_rows(places)
    state = _INVALID[0 if is_cartesian else 1]
    if state in scan.fields:
        (states,) = _columns(scan, (state,), start, count)
        valid &= states == 0
    return places, valid


def _columns(scan: _Scan, names: Sequence[str], start: int, count: int) -> Iterator[Floats]:
    return (scan.fields[name].values(scan.streams[name], start, count) for name in names)


def _colors(scan: _Scan, start: int, count: int, chosen: NDArray[np.int64]) -> Floats | None:
    """Return the colours of the chosen points of a chunk, grey by their intensity if need be."""
    names = _COLORS if set(_COLORS) <= scan.fields.keys() else ("intensity",)
    if not set(names) <= scan.fields.keys():
        return None
    colors = np.ones((len(chosen), 4))
    for channel, name in enumerate(names):
        field = scan.fields[name]
        low = scan.limits.get(f"{name}Minimum", field.lowest)
        high = scan.limits.get(f"{name}Maximum", field.highest)
        (column,) = _columns(scan, (name,), start, count)
        with np.errstate(all="ignore"):
            shares = (column[chosen] - low) / ((high - low) or 1)
        last = 3 if name == "intensity" else channel + 1
        colors[:, channel:last] = np.clip(np.nan_to_num(shares), 0, 1)[:, None]
    return colors
