"""Gaussian splats in KSPLAT files (mkkellogg/GaussianSplats3D) and SOG packages (PlayCanvas)."""

import io
import json
import struct
import zipfile
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from backend.processing import limits
from backend.processing.files import Files
from backend.processing.readers.archives import BROKEN_ZIP
from backend.processing.readers.splats import colors_of_harmonics, require_count, splat_scene
from backend.processing.scene import RefusedError, Scene

_HEADER_BYTES, _SECTION_BYTES = 4096, 1024
_SECTION = struct.Struct("<4IfH2x4IH")
_HARMONICS = (0, 9, 24, 45)
_META_BYTES = 1 << 20
_PIXELS = 2 * limits.VERTICES


def read_ksplat(data: bytes, _name: str, _files: Files) -> Scene:
    """Read a KSPLAT file: sections of splats, whose places are parts of the blocks of a grid.

    Raises:
        RefusedError: it has another version, or less than it declares.
    """
    if len(data) < _HEADER_BYTES:
        raise RefusedError("truncated: no KSPLAT header")
    sections, _, _, count = struct.unpack_from("<4I", data, 4)
    level = int.from_bytes(data[20:22], "little")
    if data[0] != 0 or data[1] < 1:
        raise RefusedError(f"the KSPLAT file has version {data[0]}.{data[1]}; version 0.1 is read")
    if level > 2:
        raise RefusedError(f"the KSPLAT header has compression {level}, more than 2")
    require_count(count)
    start = _HEADER_BYTES + sections * _SECTION_BYTES
    if start > len(data):
        raise RefusedError(f"truncated: {sections} sections declared")
    places, colors = [np.zeros((0, 3), np.float32)], [np.zeros((0, 4), np.uint8)]
    for number in range(sections):
        section = _Section(data, number, level)
        if section.declared == 0 and section.count == 0:
            continue
        require_count(sum(map(len, places)) + section.count)
        rows, start = section.rows(start)
        places.append(section.places(rows["place"]))
        colors.append(rows["color"])
    painted = np.concatenate(colors).astype(np.float32) / 255
    return splat_scene("KSPLAT", np.concatenate(places), painted[:, :3], painted[:, 3])


class _Section:
    """A section of a KSPLAT file. Of compressed ones, each splat belongs to a block of the grid."""

    def __init__(self, data: bytes, number: int, level: int) -> None:
        self._data, self._level, self._number = data, level, number
        fields: tuple[int, int, int, int, float, int, int, int, int, int, int]
        fields = _SECTION.unpack_from(data, _HEADER_BYTES + number * _SECTION_BYTES)
        self.count, self.declared, self._size, self._blocks, self._edge = fields[:5]
        self._block_bytes, self._range, _, self._full, self._partial, degree = fields[5:]
        if degree >= len(_HARMONICS):
            raise RefusedError(f"section {number} has harmonics of degree {degree}, more than 3")
        if self.count > self.declared:
            raise RefusedError(f"section {number} has {self.count} splats of {self.declared}")
        harmonics = _HARMONICS[degree] * (4, 2, 1)[level]
        place, rest = ("<f4", "V28") if level == 0 else ("<u2", "V14")
        columns = [("place", place, 3), ("rest", rest), ("color", "u1", 4)]
        self._row = np.dtype([*columns, ("harmonics", f"V{harmonics}")] if harmonics else columns)
        self._start = 0

    def rows(self, start: int) -> tuple[NDArray[Any], int]:
        """Return the splats of the section that starts there, and where it ends."""
        self._start = start
        first = start + 4 * self._partial + self._block_bytes * self._blocks
        end = first + self.declared * self._row.itemsize
        if end > len(self._data):
            raise RefusedError(
                f"truncated: section {self._number} declares {self.declared} splats in "
                f"{self._blocks} blocks, the file has {len(self._data)} bytes"
            )
        return np.frombuffer(self._data, self._row, self.count, first), end

    def places(self, steps: NDArray[Any]) -> NDArray[np.float32]:
        if self._level == 0:
            return steps
        order = np.arange(self.count)
        lengths = np.frombuffer(self._data, "<u4", self._partial, self._start)
        ends = self._full * self._size + np.cumsum(lengths.astype(np.float64))
        block = np.minimum(order // max(self._size, 1), self._full)
        late = order >= self._full * self._size
        block[late] += np.searchsorted(ends, order[late], side="right")
        stored = self._block_bytes * self._blocks
        if self._block_bytes != 12 or (self.count and int(block.max()) >= self._blocks):
            raise RefusedError(f"splats of section {self._number} belong to none of its blocks")
        centers = np.frombuffer(self._data, "<f4", stored // 4, self._start + 4 * self._partial)
        most = self._range or 32767
        with np.errstate(all="ignore"):
            moved = (steps.astype(np.float32) - most) * np.float32(self._edge / 2 / most)
            return moved + centers.reshape(-1, 3)[block]


def read_sog(data: bytes, _name: str, _files: Files) -> Scene:
    """Read a SOG package: pictures whose pixels are parts of the extents of all splats.

    Raises:
        RefusedError: it is broken, has another version, or pictures with fewer pixels.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _Package(archive).scene()
    except BROKEN_ZIP:
        raise RefusedError("not a ZIP archive that can be read") from None


class _Package:
    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        names = archive.namelist()
        name = next((name for name in names if name.rsplit("/", 1)[-1] == "meta.json"), None)
        if name is None:
            raise RefusedError("the package has no meta.json")
        self._folder = name.removesuffix("meta.json")
        try:
            self._meta: Any = json.loads(self._bytes("meta.json", _META_BYTES))
        except (ValueError, RecursionError):
            raise RefusedError("its meta.json is not valid JSON") from None
        if not isinstance(self._meta, dict):
            raise RefusedError("its meta.json is not an object")
        version = self._value("version") if "version" in self._meta else 1
        if version not in (1, 2):
            raise RefusedError(f"the SOG package has version {version!r:.20}; 1 and 2 are read")
        self._is_first = version == 1
        count = self._value("means", "shape", 0) if self._is_first else self._value("count")
        if not isinstance(count, int) or count < 0:
            raise RefusedError("the number of splats in meta.json is not a number")
        require_count(count)
        self._count = count

    def scene(self) -> Scene:
        least, most = (self._numbers(3, "means", name) for name in ("mins", "maxs"))
        span = np.where(most == least, 1, most - least)
        places = np.empty((self._count, 3), np.float32)
        low, high = self._pixels("means", 0), self._pixels("means", 1)
        with np.errstate(all="ignore"):
            for axis in range(3):
                steps = low[:, axis] | high[:, axis].astype(np.uint16) << 8
                shares = least[axis] + span[axis] * (steps.astype(np.float32) / 65535)
                places[:, axis] = np.sign(shares) * np.expm1(np.abs(shares))
        del low, high
        painted = self._pixels("sh0", 0)
        if self._is_first:
            least, most = (self._numbers(4, "sh0", name) for name in ("mins", "maxs"))
            shares = least + (most - least) * (painted.astype(np.float32) / 255)
            colors = colors_of_harmonics(shares[:, :3])
            with np.errstate(over="ignore"):
                opacity = 1 / (1 + np.exp(-shares[:, 3]))
        else:
            book = colors_of_harmonics(self._numbers(256, "sh0", "codebook"))
            colors, opacity = book[painted[:, :3]], painted[:, 3] / np.float32(255)
        return splat_scene("SOG", places, colors, opacity)

    def _value(self, *path: str | int) -> Any:
        value: Any = self._meta
        try:
            for name in path:
                value = value[name]
        except (KeyError, IndexError, TypeError):
            raise RefusedError(f"its meta.json has no {'.'.join(map(str, path))}") from None
        return value

    def _numbers(self, count: int, *path: str) -> NDArray[np.float32]:
        value = self._value(*path)
        try:
            numbers = np.array(value, np.float32)
        except (ValueError, TypeError, OverflowError):
            numbers = np.zeros(0, np.float32)
        if numbers.shape != (count,) or not np.isfinite(numbers).all():
            raise RefusedError(f"{'.'.join(path)} of its meta.json are not {count} numbers")
        return numbers

    def _pixels(self, kind: str, number: int) -> NDArray[np.uint8]:
        name = str(self._value(kind, "files", number))
        content = self._bytes(name, limits.INPUT_BYTES)
        try:
            with Image.open(io.BytesIO(content), formats=("WEBP", "PNG")) as image:
                if not self._count <= image.width * image.height <= _PIXELS:
                    size = f"{image.width} x {image.height} pixels for {self._count} splats"
                    raise RefusedError(f"{name[:100]} has {size}")
                pixels = np.asarray(image.convert("RGBA"))
        except (OSError, SyntaxError, ValueError):
            raise RefusedError(f"{name[:100]} is not a picture that can be read") from None
        return pixels.reshape(-1, 4)[: self._count]

    def _bytes(self, name: str, most: int) -> bytes:
        """Return a file of the package; nothing else is opened."""
        try:
            member = self._archive.getinfo(self._folder + name)
        except KeyError:
            raise RefusedError(f"the package has no {name[:100]}") from None
        if member.file_size > most:
            raise RefusedError(f"{name[:100]} in the package is too large")
        return self._archive.read(member)
