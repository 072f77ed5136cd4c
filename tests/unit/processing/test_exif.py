"""EXIF of pictures as facts. Every value is hostile: a bad one is left out, and nothing else."""

import io
import math
import struct
import time
from typing import NamedTuple

import pytest
from PIL import Image

from backend.processing import limits
from backend.processing.inspection import inspect
from samples import photos
from tests.unit.processing.samples import Asset

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

BYTE, ASCII, SHORT, LONG, RATIONAL, UNDEFINED, SRATIONAL, DOUBLE = 1, 2, 3, 4, 5, 7, 10, 12
_SIZES = {BYTE: 1, ASCII: 1, SHORT: 2, LONG: 4, RATIONAL: 8, UNDEFINED: 1, SRATIONAL: 8, DOUBLE: 8}
_EXIF, _GPS = 0x8769, 0x8825


class Value(NamedTuple):
    """A value as a file has it. `at` makes it point somewhere else."""

    kind: int
    data: bytes
    at: int | None = None


def text(value: str | bytes) -> Value:
    return Value(ASCII, (value.encode() if isinstance(value, str) else value) + b"\0")


def rational(*values: tuple[int, int]) -> Value:
    return Value(RATIONAL, b"".join(struct.pack("<II", *value) for value in values))


def degrees(value: int) -> Value:
    return rational((value, 1), (30, 1), (0, 1))


GOOD: dict[int, dict[int, Value]] = {
    0: {0x010F: text("Canon"), 0x0110: text("Canon EOS R5")},
    _EXIF: {
        0x829A: rational((1, 250)),
        0x829D: rational((28, 10)),
        0x8827: Value(SHORT, struct.pack("<H", 400)),
        0x9003: text("2024:02:29 23:59:59"),
        0x920A: rational((50, 1)),
        0xA433: text("Sigma"),
        0xA434: text("50mm F1.4"),
    },
    _GPS: {1: text("S"), 2: degrees(33), 3: text("W"), 4: degrees(70)},
}
FACTS = {
    "camera": "Canon EOS R5",
    "lens": "Sigma 50mm F1.4",
    "taken": "2024-02-29T23:59:59",
    "exposureTime": 0.004,
    "fNumber": 2.8,
    "iso": 400,
    "focalLength": 50,
    "latitude": -33.5,
    "longitude": -70.5,
}


def with_values(folder: int, **changed: Value) -> dict[int, dict[int, Value]]:
    """The good values with some of others; names are tags (`x829a`)."""
    return GOOD | {folder: GOOD[folder] | {int(key[1:], 16): v for key, v in changed.items()}}


def exif_of(folders: dict[int, dict[int, Value]]) -> bytes:
    """EXIF with these values: the first folder names the places of the others."""
    places, body = dict[int, int](), b""
    for _ in range(2):  # first only for the places
        body = b"II*\0" + struct.pack("<I", 8)
        for tag, folder in folders.items():
            places[tag] = len(body)
            values = dict(folder)
            if tag == 0:
                values |= {
                    item: Value(LONG, struct.pack("<I", places.get(item, 0)))
                    for item in folders
                    if item
                }
            rest = len(body) + 2 + 12 * len(values) + 4
            entries, tail = struct.pack("<H", len(values)), b""
            for number, value in sorted(values.items()):
                count = len(value.data) // _SIZES.get(value.kind, 1)
                if value.at is not None or len(value.data) > 4:
                    at = rest + len(tail) if value.at is None else value.at
                    place, tail = struct.pack("<I", at), tail + value.data
                else:
                    place = value.data.ljust(4, b"\0")
                entries += struct.pack("<HHI", number, value.kind, count) + place
            body += entries + struct.pack("<I", 8) + tail  # the next folder is the first: a loop
    return b"Exif\0\0" + body


def picture(exif: bytes, kind: str = "JPEG") -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (40, 30), "red").save(out, kind, exif=exif)
    return out.getvalue()


def facts(exif: bytes, kind: str = "JPEG") -> dict[str, object]:
    """The facts of EXIF in a picture, which is always read."""
    result = inspect(f"photo.{kind.lower()}", picture(exif, kind), Asset())
    assert result.refused is None
    assert result.thumbnail is not None
    own = {"format": kind, "width": 40, "height": 30, "colorMode": "RGB"}
    assert own.items() <= result.facts.items()
    return {name: value for name, value in result.facts.items() if name not in own}


def test_camera_time_exposure_and_place_are_facts() -> None:
    for kind in ("JPEG", "PNG", "WEBP", "AVIF"):
        assert facts(exif_of(GOOD), kind) == FACTS
    with Image.open(io.BytesIO(picture(exif_of(GOOD)))) as image:
        exif, out = image.getexif(), io.BytesIO()
        image.save(out, "TIFF", exif=exif)
    result = inspect("photo.tif", out.getvalue(), Asset())
    assert FACTS.items() <= result.facts.items()
    result = inspect("lake.jpg", photos.lake(), Asset()).facts
    wanted = {"camera": "Vitrine Sample Camera 1", "taken": "2024-05-17T05:42:10", "fNumber": 8}
    wanted |= {"latitude": 47.4979, "longitude": 12.1131, "focalLength": 35, "iso": 100}
    assert wanted.items() <= result.items()


@pytest.mark.parametrize(
    ("maker", "model", "camera"),
    [
        ("NIKON CORPORATION", "NIKON D850", "NIKON D850"),
        ("Vitrine", "Sample Camera 1", "Vitrine Sample Camera 1"),
        ("", "X100", "X100"),
        ("Leica  ", " ", "Leica"),
        ("Caf\u00e9", "One", "Caf\u00e9 One"),
        (b"Caf\xe9", b"O\x01ne\x7f", "Caf\u00e9 O ne"),
        (b"A\0<script>", "B", "A B"),
        ("", "", None),
        ("x" * (limits.EXIF_CHARACTERS + 1), "One", "One"),
        ("x" * 60_000, "", None),
    ],
)
def test_a_camera_is_a_short_line_without_its_maker_twice(
    maker: str | bytes, model: str | bytes, camera: str | None
) -> None:
    exif = exif_of(with_values(0, x010f=text(maker), x0110=text(model)))
    assert facts(exif).get("camera") == camera


WRONG = (
    *(rational((1, 0)), rational((0, 0)), rational((0, 1)), rational((0xFFFFFFFF, 1))),
    Value(SRATIONAL, struct.pack("<ii", -1, 60)),
    *(Value(DOUBLE, struct.pack("<d", item)) for item in (math.nan, math.inf, -1.0, 1e300)),
    *(text("1/60"), text("\x00"), Value(UNDEFINED, b"\xff" * 9), Value(BYTE, b"")),
    *(Value(99, b"12345678"), Value(LONG, b"\xff" * 4)),
)


@pytest.mark.parametrize("value", WRONG)
@pytest.mark.parametrize(
    ("tag", "name"),
    [(0x829A, "exposureTime"), (0x829D, "fNumber"), (0x8827, "iso"), (0x920A, "focalLength")],
)
def test_a_number_that_is_none_is_left_out_alone(tag: int, name: str, value: Value) -> None:
    result = facts(exif_of(with_values(_EXIF, **{f"x{tag:x}": value})))
    assert result == {key: fact for key, fact in FACTS.items() if key != name}


@pytest.mark.parametrize(
    "taken",
    [
        *(
            "0000:00:00 00:00:00",
            "2024:13:01 10:00:00",
            "9999:12:31 23:59:59",
            "2200:01:01 00:00:00",
            "1825:12:31 23:59:59",
            "2023:02:29 10:00:00",
            "2024:01:01 24:00:00",
            "    :  :     :  :  ",
        ),
        *("2024-01-01 10:00:00", "2024:01:01", "yesterday", "2024:01:01 10:00:00" * 500, ""),
        "\u0662024:01:01 10:00:00",
        "\x01\xff\x00binary",
    ],
)
def test_a_date_that_does_not_exist_is_left_out(taken: str) -> None:
    result = facts(exif_of(with_values(_EXIF, x9003=text(taken))))
    assert result == {key: fact for key, fact in FACTS.items() if key != "taken"}


@pytest.mark.parametrize(
    "changed",
    [
        *({"x2": degrees(500)}, {"x4": degrees(180)}, {"x1": text("X")}, {"x1": text("")}),
        *({"x3": text("EW")}, {"x2": rational((1, 0), (0, 1), (0, 1))}, {"x2": rational((1, 1))}),
        *({"x2": text("33")}, {"x4": Value(UNDEFINED, b"\0" * 24)}, {"x1": rational((1, 1))}),
        {"x2": Value(SRATIONAL, struct.pack("<6i", -33, 1, 0, 1, 0, 1))},
        {"x2": Value(DOUBLE, struct.pack("<3d", math.nan, 0, 0))},
    ],
)
def test_a_place_is_whole_or_left_out(changed: dict[str, Value]) -> None:
    result = facts(exif_of(with_values(_GPS, **changed)))
    wanted = {key: fact for key, fact in FACTS.items() if key not in {"latitude", "longitude"}}
    assert result == wanted


def test_folders_and_values_that_lead_nowhere_leave_the_others() -> None:
    base = {"camera": "Canon EOS R5"}
    for place in (0, 8, 0xFFFFFFFF, 30):
        pointers = {_EXIF: Value(LONG, struct.pack("<I", place)), _GPS: text("nowhere")}
        assert facts(exif_of({0: GOOD[0] | pointers})) == base, place
    # Pillow reads the entries of a folder in order, up to such a one.
    outside = Value(RATIONAL, b"x" * 8, at=0xFFFFFFF0)
    result = facts(exif_of(with_values(_EXIF, x8827=outside)))
    wanted = ("camera", "exposureTime", "fNumber", "latitude", "longitude")
    assert result == {name: FACTS[name] for name in wanted}


@pytest.mark.parametrize("kind", ["PNG", "WEBP"])
def test_exif_that_is_too_large_is_not_read(kind: str) -> None:
    """Each of 40,000 entries names the same megabyte, so that reading all takes 40 GB."""
    entries = range(0x9000, 0xF000)
    large = {entry: Value(UNDEFINED, b"", at=8) for entry in entries}
    exif = exif_of({0: GOOD[0] | large}) + bytes(1 << 20)
    exif = exif.replace(struct.pack("<HI", UNDEFINED, 0), struct.pack("<HI", UNDEFINED, 1 << 20))
    start = time.process_time()
    assert facts(exif, kind) == {}
    assert time.process_time() - start < 2


def test_exif_behind_the_pixels_of_a_png_is_read_within_the_same_limit() -> None:
    large = GOOD | {0: GOOD[0] | {0x010E: text("x" * limits.EXIF_BYTES)}}
    for folders, wanted in ((GOOD, FACTS), (large, {})):
        png = picture(exif_of(folders), "PNG")
        at = png.index(b"eXIf") - 4
        end = at + 12 + int.from_bytes(png[at : at + 4], "big")
        last = len(png) - 12  # the length, name and sum of IEND
        result = inspect("photo.png", png[:at] + png[end:last] + png[at:end] + png[last:], Asset())
        assert {name: result.facts[name] for name in FACTS if name in result.facts} == wanted


def test_previews_have_no_exif() -> None:
    result = inspect("photo.jpg", picture(exif_of(GOOD)), Asset())
    for preview in (result.thumbnail, result.small):
        assert preview is not None
        with Image.open(io.BytesIO(preview)) as image:
            assert not image.getexif()
            assert not image.info.get("exif")
