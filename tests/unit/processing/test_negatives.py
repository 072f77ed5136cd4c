"""Digital negatives: the largest preview is shown, the size is that of the negative."""

import io
import struct

import pytest
from PIL import Image

from backend.processing.inspection import inspect
from tests.unit.processing.samples import Asset


def _jpeg(color: str, size: tuple[int, int]) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, color).save(out, "JPEG")
    return out.getvalue()


class _Tiff:
    """Directories of a TIFF, each with its own strip."""

    def __init__(self) -> None:
        self.data = bytearray(struct.pack("<2sHI", b"II", 42, 0))

    def add(
        self, strip: bytes, size: tuple[int, int], **tags: int | bytes | tuple[int, ...]
    ) -> int:
        """Append a directory with these tags, named `t` and their number; return its place."""
        start = len(self.data)
        self.data += strip + bytes(len(strip) % 2)
        entries: dict[int, int | bytes | tuple[int, ...]] = {
            256: size[0],
            257: size[1],
            273: start,
            279: len(strip),
            **{int(name[1:]): value for name, value in tags.items()},
        }
        rows = b""
        for tag, value in sorted(entries.items()):
            kind = {bytes: 1, int: 4, tuple: 4}[type(value)]
            if tag == 271:
                kind = 2
            packed = value if isinstance(value, bytes) else b""
            numbers = (value,) if isinstance(value, int) else value
            if not isinstance(numbers, bytes):
                packed = struct.pack(f"<{len(numbers)}I", *numbers)
            count = len(packed) // (1 if kind < 3 else 4)
            if len(packed) > 4:
                place, packed = len(self.data), struct.pack("<I", len(self.data)) + packed
                self.data += packed[4:] + bytes(len(packed) % 2)
                packed = struct.pack("<I", place)
            rows += struct.pack("<HHI4s", tag, kind, count, packed)
        place = len(self.data)
        self.data += struct.pack("<H", len(entries)) + rows + bytes(4)
        return place


def dng(*, orientation: int = 1, previews: tuple[tuple[str, tuple[int, int]], ...] = ()) -> bytes:
    """A negative of 600 x 400 pixels with a green thumbnail, and previews of a colour and size."""
    tiff = _Tiff()
    places = [tiff.add(bytes(64), (608, 408), t254=0, t262=32803, t259=7, t50720=(600, 400))]
    for color, size in previews:
        places.append(tiff.add(_jpeg(color, size), size, t254=1, t262=6, t259=7))
    sides = (30, 20)
    first = tiff.add(
        *(bytes((0, 255, 0)) * 600, sides),
        t254=1,
        t258=8,
        t259=1,
        t262=2,
        t277=3,
        t278=20,
        t271=b"Kamera\0",
        t274=orientation,
        t330=tuple(places),
        t50706=b"\1\4\0\0",
    )
    struct.pack_into("<I", tiff.data, 4, first)
    return bytes(tiff.data)


_PREVIEWS = (("blue", (120, 80)), ("red", (300, 200)))
FILES = {
    "a.dng": dng(previews=_PREVIEWS),
    "turned.dng": dng(orientation=6, previews=_PREVIEWS),
    "plain.dng": dng(),
}


@pytest.mark.parametrize("name", FILES)
def test_a_negative_is_shown_by_its_largest_preview(name: str) -> None:
    inspection = inspect(name, FILES[name], Asset())
    assert inspection.refused is None
    facts, turned = inspection.facts, name == "turned.dng"
    assert (facts["width"], facts["height"]) == ((400, 600) if turned else (600, 400))
    assert (facts["format"], facts["camera"]) == ("DNG", "Kamera")
    assert inspection.thumbnail
    picture = Image.open(io.BytesIO(inspection.thumbnail)).convert("RGB")
    size = (30, 20) if name == "plain.dng" else (200, 300) if turned else (300, 200)
    assert picture.size == size
    color = picture.getpixel((5, 5))
    assert isinstance(color, tuple)
    expected = (0, 255, 0) if name == "plain.dng" else (255, 0, 0)
    assert max(abs(a - b) for a, b in zip(color, expected, strict=True)) < 8


@pytest.mark.filterwarnings("ignore::UserWarning")  # Pillow's, about broken EXIF
def test_a_broken_negative_has_facts_or_a_reason() -> None:
    data = FILES["a.dng"]
    broken = [data[: len(data) * part // 20] for part in range(20)]
    broken += [data + data, bytes(8) + data[8:]]
    broken += [data[:at] + b"\xff" * 8 + data[at + 8 :] for at in range(8, len(data), 97)]
    for content in broken:
        inspection = inspect("a.dng", content, Asset())
        assert bool(inspection.refused) != bool(inspection.facts)
