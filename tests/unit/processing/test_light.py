"""Pictures of light (OpenEXR, Radiance): sizes, tone mapping, and broken files."""

import struct
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import OpenEXR
import pytest

from backend.processing.inspection import inspect
from backend.processing.readers.documents import read_image
from tests.unit.processing.samples import Asset

# 40 x 20 pixels: the left half red and dark, the right half blue and a thousand times as bright.
LIGHT = np.zeros((20, 40, 3), np.float32)
LIGHT[:, :20, 0] = 0.5
LIGHT[:, 20:, 2] = 500


def exr(channels: dict[str, np.ndarray], compression: str = "ZIP_COMPRESSION") -> bytes:
    library: Any = OpenEXR
    header = {"compression": getattr(library, compression), "type": library.scanlineimage}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.exr"
        with library.File(header, channels) as file:
            file.write(str(path))
        return path.read_bytes()


def rgbe(light: np.ndarray) -> np.ndarray:
    most = light.max(2)
    exponent = np.where(most > 0, np.floor(np.log2(np.maximum(most, 1e-30))) + 1, -128)
    mantissa = light * np.exp2(8 - exponent)[..., None]
    return np.dstack([mantissa, exponent + 128]).astype(np.uint8)


def hdr(rows: np.ndarray, *, packed: bool, place: str = "-Y 20 +X 40", more: str = "") -> bytes:
    head = f"#?RADIANCE\n# tests\n{more}FORMAT=32-bit_rle_rgbe\n\n{place}\n".encode()
    if not packed:
        return head + rows.tobytes()
    runs = b""
    for row in rows:
        runs += struct.pack(">2BH", 2, 2, len(row))
        for channel in range(4):
            values = row[:, channel]
            runs += bytes((128 + 20, int(values[0]), 20)) + values[20:].tobytes()
    return head + runs


FILES = {
    "a.exr": exr({"RGB": LIGHT}),
    "half.exr": exr({"RGB": LIGHT.astype(np.float16)}, "PIZ_COMPRESSION"),
    "layer.exr": exr({f"main.{name}": LIGHT[..., n].copy() for n, name in enumerate("RGB")}),
    "packed.hdr": hdr(rgbe(LIGHT), packed=True),
    "flat.hdr": hdr(rgbe(LIGHT), packed=False),
    "bottom.hdr": hdr(rgbe(LIGHT)[::-1], packed=False, place="+Y 20 +X 40"),
    "named.png": exr({"RGB": LIGHT}, "NO_COMPRESSION"),
}


@pytest.mark.parametrize("name", FILES)
def test_light_has_a_size_and_a_picture_of_its_range(name: str) -> None:
    inspection = inspect(name, FILES[name], Asset())
    assert inspection.refused is None
    facts = inspection.facts
    assert (facts["width"], facts["height"]) == (40, 20)
    assert facts["format"] == ("HDR" if name.endswith("hdr") else "EXR")
    pixels = np.asarray(read_image(FILES[name]).picture.convert("RGB")).astype(int)
    assert pixels[10, 30].tolist() == [0, 0, 255]
    assert 0 < pixels[10, 5, 0] < 60
    assert inspection.thumbnail


def test_pixels_without_a_number_do_not_hide_the_others() -> None:
    for wrong in (np.nan, np.inf, -3.4e38):
        depth = np.linspace(5, 6, 800, dtype=np.float32).reshape(20, 40)
        depth[0, :20] = wrong
        pixels = np.asarray(read_image(exr({"Z": depth})).picture.convert("L")).astype(int)
        assert pixels[1, 0] < 20
        assert pixels[19, 39] > 240


_WINDOW, _HUGE = struct.pack("<4i", 0, 0, 39, 19), struct.pack("<4i", 0, 0, 99_999, 99_999)


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.exr", exr({"Z": np.full((4, 4), np.nan, np.float32)}), "no pixel that is a finite"),
        ("a.exr", FILES["a.exr"][:200], "OpenEXR cannot read it"),
        (
            "a.exr",
            FILES["a.exr"].replace(_WINDOW, _HUGE),
            "100000 x 100000 pixels of 3 channels",
        ),
        ("a.hdr", hdr(rgbe(LIGHT), packed=False, place="+X 40 -Y 20"), "has no resolution"),
        ("a.hdr", hdr(rgbe(LIGHT), packed=False, place="-Y 99999 +X 99999"), "99999 x 99999"),
        ("a.hdr", hdr(rgbe(LIGHT), packed=False, place="-Y 0 +X 9"), "0 pixels"),
        ("a.hdr", hdr(rgbe(LIGHT), packed=True, more="FORMAT=32-bit_rle_xyze\n"), "of XYZ"),
        ("a.hdr", FILES["flat.hdr"][:-9], "truncated: 800 pixels declared, the file has 797"),
        ("a.hdr", FILES["packed.hdr"][:-9], "row 20"),
        ("a.exr", bytes(64) + FILES["a.exr"][64:], "not an image of a known format"),
    ],
)
def test_a_malformed_picture_is_refused(name: str, data: bytes, reason: str) -> None:
    assert reason in str(inspect(name, data, Asset()).refused)


@pytest.mark.parametrize("name", FILES)
def test_a_picture_that_is_cut_is_refused(name: str) -> None:
    data = FILES[name]
    for part in range(1, 20):
        assert inspect(name, data[: len(data) * part // 20], Asset()).refused
