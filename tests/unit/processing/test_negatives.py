"""Digital negatives: the largest preview is shown, the size is that of the negative."""

import io
import struct
from typing import Any

import pytest
from PIL import Image

from backend.processing.inspection import inspect
from tests.unit.processing.samples import Asset


def _jpeg(color: str, size: tuple[int, int]) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, color).save(out, "JPEG")
    return out.getvalue()


_CROP = 50720


class _Tiff:
    """Directories of a TIFF, each with its own strip; those of a `big` one have long places."""

    def __init__(self, *, big: bool = False) -> None:
        self.big = big
        head = struct.pack("<2sHHHQ", b"II", 43, 8, 0, 0)
        self.data = bytearray(head if big else struct.pack("<2sHI", b"II", 42, 0))

    def add(
        self, strip: bytes, size: tuple[int, int], **tags: int | bytes | str | tuple[int, ...]
    ) -> int:
        """Append a directory with these tags, named `t` and their number; return its place."""
        start = len(self.data)
        self.data += strip + bytes(len(strip) % 2)
        entries: dict[int, int | bytes | str | tuple[int, ...]] = {
            256: size[0],
            257: size[1],
            273: start,
            279: len(strip),
            **{int(name[1:]): value for name, value in tags.items()},
        }
        rows, wide = b"", "Q" if self.big else "I"
        room = struct.calcsize(wide)
        for tag, value in sorted(entries.items()):
            match value:
                case str():
                    kind, count, packed = 2, len(value) + 1, value.encode() + b"\0"
                case bytes() if tag == _CROP:  # fractions
                    kind, count, packed = 5, len(value) // 8, value
                case bytes():
                    kind, count, packed = 1, len(value), value
                case _:
                    numbers = (value,) if isinstance(value, int) else value
                    kind, count = 4, len(numbers)
                    packed = struct.pack(f"<{count}I", *numbers)
            if len(packed) > room:
                place = len(self.data)
                self.data += packed + bytes(len(packed) % 2)
                packed = struct.pack(f"<{wide}", place)
            rows += struct.pack(f"<HH{wide}{room}s", tag, kind, count, packed)
        place = len(self.data)
        self.data += struct.pack("<Q" if self.big else "<H", len(entries)) + rows + bytes(room)
        return place

    def ends(self, first: int) -> bytes:
        """Return the file, whose first directory is at this place."""
        struct.pack_into("<Q" if self.big else "<I", self.data, 8 if self.big else 4, first)
        return bytes(self.data)


def dng(
    *,
    orientation: int = 1,
    previews: tuple[tuple[str, tuple[int, int]], ...] = (),
    big: bool = False,
    **tags: int | bytes | str | tuple[int, ...],
) -> bytes:
    """A negative of 600 x 400 pixels with a green thumbnail, and previews of a colour and size.

    `tags` are further ones of the negative.
    """
    tiff = _Tiff(big=big)
    of_negative: dict[str, Any] = {"t254": 0, "t262": 32803, "t259": 7, "t50720": (600, 400)}
    places = [tiff.add(bytes(64), (608, 408), **of_negative | tags)]
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
        t271="Kamera",
        t274=orientation,
        t330=tuple(places),
        t50706=b"\1\4\0\0",
    )
    return tiff.ends(first)


_PREVIEWS = (("blue", (120, 80)), ("red", (300, 200)))
FILES = {
    "a.dng": dng(previews=_PREVIEWS),
    "turned.dng": dng(orientation=6, previews=_PREVIEWS),
    "plain.dng": dng(),
    "big.dng": dng(previews=_PREVIEWS, big=True),
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


@pytest.mark.parametrize(
    "crop", [bytes(16), struct.pack("<4I", 1, 0, 1, 0), (0, 0), (600,)], ids=range(4)
)
def test_a_crop_without_a_size_is_ignored(crop: bytes | tuple[int, ...]) -> None:
    inspection = inspect("a.dng", dng(previews=_PREVIEWS, t50720=crop), Asset())
    assert (inspection.facts["width"], inspection.facts["height"]) == (608, 408)
    assert inspection.thumbnail
    assert Image.open(io.BytesIO(inspection.thumbnail)).size == (300, 200)


@pytest.mark.parametrize(
    ("tag", "name"),
    [
        ("t254", "NewSubfileType"),
        ("t256", "ImageWidth"),
        ("t273", "StripOffsets"),
        ("t279", "StripByteCounts"),
    ],
)
def test_a_tag_that_is_no_number_is_named(tag: str, name: str) -> None:
    extra: dict[str, Any] = {tag: "abc", "t50720": (0, 0)}
    refused = inspect("a.dng", dng(previews=_PREVIEWS, **extra), Asset()).refused
    assert refused == f"the tag {name} of the DNG image is not a number from 0"


@pytest.mark.filterwarnings("ignore::UserWarning")  # Pillow's, about broken EXIF
def test_a_broken_negative_has_facts_or_a_reason() -> None:
    data = FILES["a.dng"]
    broken = [data[: len(data) * part // 20] for part in range(20)]
    broken += [data + data, bytes(8) + data[8:]]
    broken += [data[:at] + b"\xff" * 8 + data[at + 8 :] for at in range(8, len(data), 97)]
    for content in broken:
        inspection = inspect("a.dng", content, Asset())
        assert bool(inspection.refused) != bool(inspection.facts)
