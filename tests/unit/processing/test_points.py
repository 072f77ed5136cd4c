"""Point clouds as text and PCD: counts, bounds, colours, and files that are not what they say."""

import struct
import time

import numpy as np
import pytest

from backend.processing.files import Files
from backend.processing.inspection import inspect
from backend.processing.readers.models import read_model
from tests.unit.processing.samples import CORNERS, Asset, facts_without_pictures

_BOX = CORNERS * np.array([1, 2, 3], np.float32)
_ROWS = "".join("{:g} {:g} {:g}\n".format(*corner) for corner in _BOX)
_COLORED = "".join("{:g} {:g} {:g} 255 0 51\n".format(*corner) for corner in _BOX)
_PTS = "8\n" + "".join("{:g} {:g} {:g} -1200 255 0 51\n".format(*corner) for corner in _BOX)


def pcd(form: str, body: bytes, *, points: int = 8, fields: str = "x y z rgb") -> bytes:
    size = len(fields.split())
    return (
        f"# .PCD v0.7\nVERSION 0.7\nFIELDS {fields}\nSIZE{' 4' * size}\nTYPE{' F' * size}\n"
        f"COUNT{' 1' * size}\nWIDTH {points}\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\n"
        f"POINTS {points}\nDATA {form}\n"
    ).encode() + body


_RGB = np.array([0xFF0033] * 8, "<u4").view("<f4")
_TABLE = np.column_stack([_BOX, _RGB]).astype("<f4")
_PLAIN = _TABLE.T.tobytes()


def lzf(plain: bytes) -> bytes:
    """Return runs of bytes; after the first eight, each repeated word refers to the last one."""
    out = b""
    for at in range(0, len(plain), 4):
        word = plain[at : at + 4]
        is_repeated = at >= 8 and word == plain[at - 4 : at]
        out += bytes((2 << 5, 3)) if is_repeated else bytes((3,)) + word
    return out


def compressed(packed: bytes, size: int) -> bytes:
    return struct.pack("<II", len(packed), size) + packed


FILES = {
    "a.xyz": _ROWS.encode(),
    "commas.xyz": _ROWS.replace(" ", ",").encode(),
    "header.xyz": b"// by tests\nX Y Z\n" + _ROWS.encode(),
    "semicolons.xyz": _ROWS.replace(" ", "; ").replace("\n", "\r\n").encode(),
    "colored.xyz": _COLORED.encode(),
    "a.pts": _PTS.encode(),
    "ascii.pcd": pcd("ascii", _ROWS.encode(), fields="x y z"),
    "binary.pcd": pcd("binary", _TABLE.tobytes()),
    "compressed.pcd": pcd("binary_compressed", compressed(lzf(_PLAIN), len(_PLAIN))),
}
_COLORS = ("colored.xyz", "a.pts", "binary.pcd", "compressed.pcd")


@pytest.mark.parametrize("name", FILES)
def test_a_point_cloud_has_its_points_bounds_and_colours(name: str) -> None:
    found = inspect(name, FILES[name], Asset())
    assert found.refused is None
    facts = found.facts
    assert (facts["points"], facts["boundsMin"], facts["boundsMax"]) == (
        8,
        "[0.0, 0.0, 0.0]",
        "[1.0, 2.0, 3.0]",
    )
    assert found.thumbnail
    assert found.glb
    colors = read_model(FILES[name], name, name[-3:], Files(Asset())).parts[0].colors
    assert (None if colors is None else colors[0].tolist()) == (
        [1, 0, 0.2, 1] if name in _COLORS else None
    )


def test_normals_are_no_colours_and_points_that_are_not_finite_are_left_out() -> None:
    data = b"0 0 0 0 -1 0\n1 1 1 0 0 1\nnan 0 0 0 0 1\n"
    facts = facts_without_pictures("a.xyz", data)
    assert "'nan'" not in str(facts.get("refused"))
    body = _TABLE.copy()
    body[3, 1] = np.nan
    facts = facts_without_pictures("a.pcd", pcd("binary", body.tobytes()))
    assert (facts["points"], facts["leftOut"]) == (7, "1 of 8 points are not finite")


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.xyz", b"1 2\n3 4\n", "line 1: a point has 2 numbers, not 3"),
        ("a.xyz", b"0 0 0\n1 1\n", "line 2: a point has 2 numbers, not 3"),
        ("a.xyz", b"0 0 0\n1 x 1\n", "line 2: 'x' is not a number"),
        ("a.xyz", b"2\nwater\nO 0 0 0\nH 0 0 1\n", "is not a number"),
        ("a.pts", b"4294967295\n", "4294967295 points declared, 0 in the file"),
        ("a.xyz", b"X Y Z\n", "contains no points"),
        ("a.pcd", b"ply\n", "its header has no line DATA"),
        ("a.pcd", pcd("ascii", b"0 0 0 0\n", points=1 << 32), "are more than"),
        ("a.pcd", pcd("binary", b"", points=9_000_000), "9000000 points declared, 0 in the file"),
        ("a.pcd", pcd("ascii", b"0 0 0 0\n"), "8 points declared, 1 in the file"),
        ("a.pcd", pcd("zip", b""), "an unknown form of data: zip"),
        ("a.pcd", pcd("binary", _TABLE.tobytes(), fields="a b c d"), "have no x, y and z"),
        ("a.pcd", pcd("binary", b"").replace(b"TYPE F", b"TYPE Q"), "an unknown type: Q"),
        ("a.pcd", pcd("binary", b"").replace(b"COUNT 1", b"COUNT 0"), "an unknown count: 0"),
        ("a.pcd", pcd("binary", b"").replace(b"SIZE 4", b"SIZE"), "differ in length"),
        ("a.pcd", pcd("binary_compressed", b""), "have no size"),
        ("a.pcd", pcd("binary_compressed", compressed(b"", 128)), "128 points declared, 0"),
        ("a.pcd", pcd("binary_compressed", compressed(b"\xff" * 9, 128)), "before their start"),
        ("a.pcd", pcd("binary_compressed", compressed(lzf(_PLAIN)[:-3], 128)), "compressed points"),
    ],
)
def test_a_malformed_point_cloud_is_refused(name: str, data: bytes, reason: str) -> None:
    assert reason in str(inspect(name, data, Asset()).refused)


@pytest.mark.parametrize("name", FILES)
def test_a_point_cloud_that_is_cut_has_fewer_points_or_a_reason(name: str) -> None:
    data, whole = FILES[name], facts_without_pictures(name, FILES[name])
    started = time.process_time()
    for part in range(1, 20):
        facts = facts_without_pictures(name, data[: len(data) * part // 20])
        assert "refused" in facts or int(str(facts["points"])) <= int(str(whole["points"]))
        if name.endswith("pcd"):
            assert "refused" in facts or facts == whole
    assert time.process_time() - started < 5
