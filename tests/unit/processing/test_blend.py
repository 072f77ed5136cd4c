"""The picture that Blender stores in a file whose objects are not read."""

import gzip
import io
import struct

import numpy as np
import pytest
from PIL import Image

from backend.processing.inspection import inspect
from tests.unit.processing.samples import Asset

# Rows from below: the lower one is red, the upper one blue.
_ROWS = bytes((255, 0, 0, 255)) * 3 + bytes((0, 0, 255, 255)) * 3
_BLOCKS = {"-v300": "<4siQii", "_v279": "<4siIii", "-V279": ">4siQii", "17-01v0500": "<4siQqq"}


def blend(start: str, content: bytes = b"", *, size: int | None = None) -> bytes:
    """Return a file with a block of settings and one with a picture of 3 x 2 pixels."""
    form = _BLOCKS[start]
    content = content or struct.pack(f"{form[0]}ii", 3, 2) + _ROWS

    def block(code: bytes, body: bytes, length: int) -> bytes:
        rest = (0, 7, length, 1) if start.startswith("17") else (length, 7, 0, 1)
        return struct.pack(form, code, *rest) + body

    length = len(content) if size is None else size
    blocks = block(b"REND", bytes(72), 72) + block(b"TEST", content, length)
    return f"BLENDER{start}".encode() + blocks + block(b"ENDB", b"", 0)


@pytest.mark.parametrize("start", _BLOCKS)
@pytest.mark.parametrize("is_packed", [False, True])
def test_a_file_of_any_version_has_its_picture(start: str, is_packed: bool) -> None:
    data = gzip.compress(blend(start)) if is_packed else blend(start)
    inspection = inspect("a.blend", data, Asset())
    facts = inspection.facts
    version = {"-v300": "3.0", "17-01v0500": "5.0"}.get(start, "2.79")
    assert (facts["format"], facts["generator"]) == ("BLEND", f"Blender {version}")
    assert str(facts["leftOut"]).startswith("all objects: ")
    assert "triangles" not in facts
    assert inspection.thumbnail is not None
    with Image.open(io.BytesIO(inspection.thumbnail)) as picture:
        pixels = np.asarray(picture.convert("RGB"))
    assert pixels[:, 0].tolist() == [[0, 0, 255], [255, 0, 0]]


@pytest.mark.parametrize(
    "data",
    [
        b"BLENDER-v300",
        blend("-v300")[:150],
        blend("-v300", struct.pack("<ii", 1 << 20, 1 << 20)),
        blend("-v300", struct.pack("<ii", -1, 2) + _ROWS),
        blend("-v300", struct.pack("<ii", 3, 9) + _ROWS),
        blend("-v300", size=-5),
        blend("-v300", size=(1 << 31) - 1)[:140],
        b"\x1f\x8b\x08\x00broken",
        bytes(64) + blend("-v300")[64:],
        b"\x28\xb5\x2f\xfd" + bytes(range(200)),
    ],
)
def test_a_file_without_a_valid_picture_is_refused(data: bytes) -> None:
    assert inspect("a.blend", data, Asset()).refused
