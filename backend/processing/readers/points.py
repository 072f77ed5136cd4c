"""Point clouds as text (XYZ, PTS), and PCD of the Point Cloud Library."""

import re
import struct
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from backend.processing import limits
from backend.processing.files import Files
from backend.processing.readers.soundness import finite_rows, line_at, no_number, number
from backend.processing.readers.text import numbers, utf8_lines
from backend.processing.scene import Floats, Part, RefusedError, Scene

# Where the colour is in rows of so many numbers: a place, and an intensity, a colour or both.
_COLOR_AT = {6: 3, 7: 4}
_COMMENT = re.compile(rb"(?m)^[ \t]*(?:#|//)[^\n]*")
_SEPARATORS = bytes.maketrans(b",;", b"  ")
_HEADER_BYTES = 4096
_DATA = re.compile(rb"(?m)^DATA[ \t]+(\w+)[ \t]*\r?\n")


def read_text(data: bytes, name: str, _files: Files) -> Scene:
    """Read a point of each line: coordinates, and what follows them.

    Raises:
        RefusedError: a line has another number of numbers, or a word.
    """
    text = _COMMENT.sub(b"", utf8_lines(data)).translate(_SEPARATORS).rstrip()
    start = len(text) - len(text.lstrip())
    first = text[start:].split(b"\n", 1)[0].split()
    # PTS begins with the number of points, and other programs write the names of the columns.
    declared = int(first[0][:12]) if len(first) == 1 and first[0].isdigit() else 0
    if len(first) == 1 or (first and number(first[0]) is None):
        start = text.find(b"\n", start) % (len(text) + 1)
        first = text[start:].strip().split(b"\n", 1)[0].split()
    values, width = numbers(text[start:]), len(first)
    _require_room(declared, len(values) // max(width, 1))
    if not width:
        raise RefusedError("contains no points")
    lines = text.count(b"\n", start + 1) + 1
    if width < 3 or len(values) != width * lines or np.isnan(values).any():
        _require_rows(text, start, width)
    rows = values.reshape(-1, width)
    at = _COLOR_AT.get(width)
    extension = name.rpartition(".")[2].upper()
    return _scene(extension, rows[:, :3], None if at is None else rows[:, at : at + 3])


def _require_rows(text: bytes, start: int, width: int) -> None:
    """Refuse the first line that is not `width` numbers; blank lines are none."""
    at = start
    for line in text[start:].split(b"\n"):
        tokens = line.split()
        for token in tokens:
            if number(token) is None:
                raise no_number(line_at(text, at), token)
        if tokens and (len(tokens) != width or width < 3):
            place = line_at(text, at)
            raise RefusedError(f"{place}: a point has {len(tokens)} numbers, not {max(width, 3)}")
        at += len(line) + 1


def _scene(format_: str, positions: Floats, colors: Floats | None, generator: str = "") -> Scene:
    finite = finite_rows(positions)
    wrong = int((~finite).sum())
    left_out = (f"{wrong} of {len(finite)} points are not finite",) if wrong else ()
    positions, total = positions[finite], int(finite.sum())
    if not total:
        raise RefusedError("contains no points")
    every = max(1, -(-total // limits.SAMPLED_POINTS))
    shown = positions[::every]
    if colors is not None and colors.min(initial=0) >= 0:  # else normals
        most = colors.max(initial=0)
        scale = 65535 if most > 255 else 255 if most > 1 else 1
        colors = np.hstack([colors[finite][::every] / scale, np.ones((len(shown), 1))])
    else:
        colors = None
    return Scene(
        format_,
        [Part(shown, points=np.arange(len(shown)), colors=colors)],
        generator=generator,
        up="z",
        left_out=left_out,
        total_points=total,
        bounds=(positions.min(0), positions.max(0)),
    )


def read_pcd(data: bytes, _name: str, _files: Files) -> Scene:
    """Read a PCD file as text, binary or compressed.

    Raises:
        RefusedError: the header is not valid, or declares more than the file has.
    """
    start = _DATA.search(data, 0, _HEADER_BYTES)
    if start is None:
        raise RefusedError("not a PCD file: its header has no line DATA")
    header = {
        words[0]: words[1:]
        for line in data[: start.end()].decode("utf-8", "replace").splitlines()
        if (words := line.split()) and not words[0].startswith("#")
    }
    kind, count = _kind(header), _whole(header, "POINTS", 0)
    count = count or _whole(header, "WIDTH", 0) * _whole(header, "HEIGHT", 1)
    content, form = data[start.end() :], start[1].decode("utf-8", "replace").lower()
    if count > limits.VERTICES:
        raise RefusedError(f"{count} points are more than {limits.VERTICES}")
    if form == "ascii":
        width = sum(int(np.prod(kind[name].shape or (1,))) for name in kind.names or ())
        values = numbers(content)
        _require_room(count, len(values) // max(width, 1))
        rows = np.zeros(count, kind)
        flat, at = values[: count * width].reshape(count, width), 0
        for name in kind.names or ():
            size = int(np.prod(kind[name].shape or (1,)))
            rows[name] = flat[:, at : at + size].reshape(rows[name].shape)
            at += size
    elif form == "binary":
        _require_room(count, len(content) // kind.itemsize)
        rows = np.frombuffer(content, kind, count)
    elif form == "binary_compressed":
        rows = _decompressed_rows(content, kind, count)
    else:
        raise RefusedError(f"the PCD header has an unknown form of data: {form:.40}")
    if not {"x", "y", "z"} <= set(kind.names or ()):
        raise RefusedError("the points of the PCD file have no x, y and z")
    places = np.stack([rows[axis].reshape(count, -1)[:, 0] for axis in "xyz"], 1)
    return _scene("PCD", places.astype(np.float64), _colors_of(rows))


def _require_room(declared: int, held: int) -> None:
    if declared > held:
        raise RefusedError(f"truncated: {declared} points declared, {held} in the file")


def _whole(header: Mapping[str, list[str]], name: str, default: int) -> int:
    words = header.get(name, [str(default)])
    if len(words) != 1 or not words[0].isdecimal():
        raise RefusedError(f"{name} of the PCD header is not a whole number")
    return int(words[0][:12])


def _kind(header: Mapping[str, list[str]]) -> np.dtype[np.void]:
    """Return the layout of a point. Fields named `_` are padding, and names may be given twice."""
    names, sizes, kinds = (header.get(name, []) for name in ("FIELDS", "SIZE", "TYPE"))
    counts = header.get("COUNT", ["1"] * len(names))
    fields = list[tuple[str, str, tuple[int, ...]]]()
    if not names or not len(names) == len(sizes) == len(kinds) == len(counts):
        raise RefusedError("FIELDS, SIZE, TYPE and COUNT of the PCD header differ in length")
    for nth, field in enumerate(zip(names, sizes, kinds, counts, strict=True)):
        name, size, kind, number_of = field
        name = name.lower()
        code = f"<{kind.lower()}{size}"
        if code not in {*(f"<{a}{b}" for a in "iu" for b in (1, 2, 4, 8)), "<f4", "<f8"}:
            raise RefusedError(f"the PCD header has an unknown type: {kind:.10} {size:.10}")
        if not number_of.isdecimal() or not 0 < int(number_of[:6]) < 10_000:
            raise RefusedError(f"the PCD header has an unknown count: {number_of:.10}")
        is_new = name not in {other for other, _, _ in fields} and name != "_"
        shape = () if number_of == "1" else (int(number_of),)
        fields.append((name if is_new else f"_{nth}", code, shape))
    return np.dtype(fields)


def _colors_of(rows: NDArray[np.void]) -> Floats | None:
    name = next((name for name in ("rgb", "rgba") if name in (rows.dtype.names or ())), None)
    if name is None or rows.dtype[name].itemsize != 4 or rows.dtype[name].shape:
        return None
    packed = np.ascontiguousarray(rows[name])
    if packed.dtype.kind == "f":  # the bits of three bytes, as a number of 32 bits
        packed = packed.astype("<f4").view("<u4")
    channels = [(packed.astype(np.int64) >> shift) & 255 for shift in (16, 8, 0)]
    return np.stack(channels, 1) / 255


def _decompressed_rows(content: bytes, kind: np.dtype[np.void], count: int) -> NDArray[np.void]:
    """Return the points, whose fields are stored one after another."""
    if len(content) < 8:
        raise RefusedError("truncated: the compressed points have no size")
    packed, size = struct.unpack_from("<II", content)
    _require_room(count, size // kind.itemsize)
    if packed > len(content) - 8 or size > limits.INPUT_BYTES:
        raise RefusedError("truncated: the compressed points are longer than the file")
    # LZF writes at most 264 bytes for three.
    _require_room(size, 88 * packed)
    plain = _lzf(content[8 : 8 + packed], size)
    rows, at = np.zeros(count, kind), 0
    for name in kind.names or ():
        field = kind[name]
        rows[name] = np.frombuffer(plain, field, count, at).reshape(rows[name].shape)
        at += field.itemsize * count
    return rows


def _lzf(data: bytes, size: int) -> bytes:
    """Decompress LZF (Marc Lehmann's): runs of bytes, and references to earlier ones."""
    out, at = bytearray(), 0
    try:
        while at < len(data) and len(out) <= size:
            control = data[at]
            at += 1
            if control < 32:
                out += data[at : at + control + 1]
                at += control + 1
                continue
            length = control >> 5
            if length == 7:
                length += data[at]
                at += 1
            begin = len(out) - ((control & 31) << 8) - data[at] - 1
            at += 1
            if begin < 0:
                raise RefusedError("the compressed points refer to bytes before their start")
            chunk = out[begin : begin + length + 2]
            out += (chunk * (-(-(length + 2) // max(len(chunk), 1))))[: length + 2]
    except IndexError:
        raise RefusedError("truncated: the compressed points end early") from None
    if len(out) != size:
        raise RefusedError(f"the compressed points have {len(out)} bytes, not {size}")
    return bytes(out)
