"""Gaussian splats (PLY, SPLAT, SPZ): counts, bounds, colours, and files that are not valid."""

import gzip
import io
import json
import struct
import time
import tracemalloc
import zipfile

import numpy as np
import pytest
from backports import zstd
from PIL import Image

from backend.processing import limits
from backend.processing.files import Files
from backend.processing.inspection import inspect
from backend.processing.readers import splats
from backend.processing.readers.models import read_model
from backend.spec.formats import extension_of
from tests.unit.processing.samples import CORNERS, Asset, facts_without_pictures

BOX = CORNERS * np.array([1, 2, 3], np.float32)
_HARMONIC = 0.28209479177387814
_WORDS = (
    *("x", "y", "z", "nx", "ny", "nz", "f_dc_0", "f_dc_1", "f_dc_2", "f_rest_0", "opacity"),
    *("scale_0", "scale_1", "scale_2", "rot_0", "rot_1", "rot_2", "rot_3"),
)


def ply_splats(places: np.ndarray = BOX, opacity: float = 4) -> bytes:
    header = "".join(f"property float {word}\n" for word in _WORDS)
    dc = (np.array([1, 0, 0.2]) - 0.5) / _HARMONIC
    rest = [0, 0, 0, *dc, 0.5, opacity, -2.3, -2.3, -2.3, 1, 0, 0, 0]
    rows = np.hstack([places, np.tile(rest, (len(places), 1))]).astype("<f4")
    count = f"element vertex {len(places)}\n"
    start = f"ply\nformat binary_little_endian 1.0\n{count}{header}end_header\n"
    return start.encode() + rows.tobytes()


def splat(places: np.ndarray = BOX, rotation: tuple[int, ...] = (255, 128, 128, 128)) -> bytes:
    rest = struct.pack("<3f8B", 0.1, 0.1, 0.1, 255, 0, 51, 255, *rotation)
    return b"".join(struct.pack("<3f", *place) + rest for place in places)


def spz(
    version: int = 3, *, count: int = 8, degree: int = 1, bits: int = 12, more: bytes = b""
) -> bytes:
    places = np.round(BOX * (1 << 12)).astype("<i4").reshape(-1, 1).view(np.uint8)[:, :3]
    dc = (np.array([1, 0, 0.2]) - 0.5) / _HARMONIC
    colors = np.round((dc * 0.15 + 0.5) * 255).clip(0, 255).astype(np.uint8)
    rotation = (4 if version == 3 else 3) * 8
    body = BOX.astype("<f2").tobytes() if version == 1 else places.tobytes()
    body += b"\xff" * 8 + colors.tobytes() * 8 + b"\x7b" * 24
    body += b"\0" * rotation + b"\x80" * (9 * 8 if degree == 1 else 0)
    header = struct.pack("<4sIIBBBB", b"NGSP", version, count, degree, bits, 0, 0)
    return gzip.compress(header + body + more, mtime=0)  # equal bytes in each process


def spz_4(*, count: int = 8, streams: int = 5, table: int = 32, sizes: int = 0) -> bytes:
    places = np.round(BOX * (1 << 12)).astype("<i4").reshape(-1, 1).view(np.uint8)[:, :3]
    dc = (np.array([1, 0, 0.2]) - 0.5) / _HARMONIC
    colors = np.round((dc * 0.15 + 0.5) * 255).clip(0, 255).astype(np.uint8)
    parts = [places.tobytes(), b"\xff" * 8, colors.tobytes() * 8, b"\x7b" * 24, bytes(32)]
    packed = [zstd.compress(part) for part in parts]
    header = struct.pack("<4sIIBBBBI12x", b"NGSP", 4, count, 0, 12, 0, streams, table)
    toc = [
        struct.pack("<2Q", len(end), len(part) + sizes)
        for part, end in zip(parts, packed, strict=True)
    ]
    return header + b"".join(toc) + b"".join(packed)


def ksplat(
    level: int = 0,
    *,
    version: bytes = b"\0\x01",
    count: int = 8,
    sections: int = 1,
    blocks: int = 2,
    lengths: tuple[int, ...] = (3,),
    degree: int = 1,
) -> bytes:
    """Return splats in one section: a full block of five, and one that is not full."""
    head = struct.pack("<2s2x4IH", version, sections, sections, count, count, level)
    partial = len(lengths) if level else 0
    blocks = blocks if level else 0
    fields = (count, count, 5, blocks, 4.0, 12 if level else 0, 2048, 0, 1 if level else 0)
    section = struct.pack("<4IfH2x4IH", *fields, partial, degree)
    centers = np.array([[1, 1, 1], [0, 2, 2]], np.float32)
    colors = [255, 0, 51, 255]
    rows: list[bytes] = []
    row: bytes
    for number, place in enumerate(BOX):
        if level == 0:
            row = struct.pack("<10f4B", *place, *[0.1] * 3, 1, 0, 0, 0, *colors)
        else:
            steps = np.asarray((place - centers[int(number >= 5)]) * 1024 + 2048, "<u2")
            row = steps.tobytes() + bytes(14) + bytes(colors)
        rows.append(row + bytes([36, 18, 9][level] if degree else 0))
    body = np.array(lengths, "<u4").tobytes() + centers.tobytes() if level else b""
    return head.ljust(4096, b"\0") + section.ljust(1024, b"\0") + body + b"".join(rows)


def sog(
    version: int = 2, *, width: int = 4, leave: str = "", names: str = "", **changes: object
) -> bytes:
    def picture(pixels: np.ndarray) -> bytes:
        rgba = np.full((8, 4), 255, np.uint8)
        rgba[:, : pixels.shape[1]] = pixels
        stream = io.BytesIO()
        Image.fromarray(rgba[: 2 * width].reshape(2, width, 4)).save(
            stream, "WEBP", lossless=True, exact=True
        )
        return stream.getvalue()

    extents = {"mins": [0.0, 0.0, 0.0], "maxs": np.log1p([1.0, 2.0, 3.0]).tolist()}
    steps = CORNERS.astype(np.uint8) * 255
    paint = np.tile(np.array([2, 0, 1, 255], np.uint8), (8, 1))
    dc = (np.array([0, 0.2, 1]) - 0.5) / _HARMONIC
    files = {"means_l": picture(steps), "means_u": picture(steps), "sh0": picture(paint)}
    meta: dict[str, object] = {
        "means": {**extents, "files": ["means_l.webp", "means_u.webp"], "shape": [8, 3]},
        "sh0": {"codebook": [*dc, *[0.0] * 253], "files": [names + "sh0.webp"]},
    }
    if version == 1:
        least = [*[dc[0]] * 3, -9.0]
        most = [*[dc[2]] * 3, 9.0]
        files["sh0"] = picture(np.tile(np.array([255, 0, 51, 255], np.uint8), (8, 1)))
        meta["sh0"] = {"mins": least, "maxs": most, "files": ["sh0.webp"]}
    else:
        meta |= {"version": version, "count": 8}
    meta |= changes
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(zipfile.ZipInfo("meta.json"), json.dumps(meta))
        for name, content in files.items():
            if name != leave:
                archive.writestr(zipfile.ZipInfo(f"{name}.webp"), content)
    return stream.getvalue()


def packed_ply(*, chunks: int = 1, color: str = "packed_color") -> bytes:
    extents = [f"{end}_{axis}" for end in ("min", "max") for axis in "xyzrgb"]
    header = "".join(f"property float {word}\n" for word in extents)
    steps = CORNERS.astype(np.uint32) * np.array([2047 << 21, 1023 << 11, 2047], np.uint32)
    rows = np.column_stack([steps.sum(1), np.full(8, 0xFF0033FF)]).astype("<u4")
    start = (
        f"ply\nformat binary_little_endian 1.0\nelement chunk {chunks}\n{header}"
        f"element vertex 8\nproperty uint packed_position\nproperty uint {color}\nend_header\n"
    )
    extent = struct.pack("<12f", *[0] * 6, 1, 2, 3, 1, 1, 1)
    return start.encode() + extent * chunks + rows.tobytes()


FILES = {
    "packed.ply": packed_ply(),
    "a.ply": ply_splats(),
    "a.splat": splat(),
    "one.spz": spz(1),
    "two.spz": spz(2),
    "three.spz": spz(3),
    "plain.spz": spz(3, degree=0),
    "four.spz": spz_4(),
    "floats.ksplat": ksplat(),
    "halves.ksplat": ksplat(1),
    "bytes.ksplat": ksplat(2, degree=0),
    "first.sog": sog(1),
    "second.sog": sog(),
}


@pytest.mark.parametrize("name", FILES)
def test_splats_have_their_count_bounds_and_colours(name: str) -> None:
    inspection = inspect(name, FILES[name], Asset())
    assert inspection.refused is None
    facts = inspection.facts
    assert (facts["splats"], facts["points"], facts["boundsMin"], facts["boundsMax"]) == (
        *(8, 8),
        *("[0.0, 0.0, 0.0]", "[1.0, 2.0, 3.0]"),
    )
    assert facts["format"] == extension_of(name).upper()
    assert "leftOut" not in facts
    assert inspection.thumbnail
    assert inspection.glb
    colors = read_model(FILES[name], name, extension_of(name), Files(Asset())).parts[0].colors
    assert colors is not None
    assert np.allclose(colors, [1, 0, 0.2, 1], atol=0.02)


def test_the_layouts_whose_y_axis_points_down_are_drawn_upright() -> None:
    for name, data in FILES.items():
        (part,) = read_model(data, name, extension_of(name), Files(Asset())).parts
        down = not name.endswith("spz")
        assert (part.positions[:, 1].min() < -1) == down


def test_faint_and_far_splats_are_counted_but_not_drawn() -> None:
    places = np.vstack([np.tile(BOX, (200, 1)), [[1e6, 0, 0]]]).astype(np.float32)
    faint = ply_splats(BOX + 50, opacity=-9)
    data = ply_splats(places) + faint[faint.index(b"end_header\n") + 11 :]
    data = data.replace(b"element vertex 1601", b"element vertex 1609")
    facts = facts_without_pictures("a.ply", data)
    assert (facts["splats"], facts["sizeX"], facts["sizeY"]) == (1609, 1e6, 52)
    (part,) = read_model(data, "a.ply", "ply", Files(Asset())).parts
    assert np.abs(part.positions).max() == 3


def test_splats_that_are_not_finite_are_left_out() -> None:
    places = BOX.copy()
    places[7, 1] = np.nan
    for name, data in (("a.ply", ply_splats(places)), ("a.splat", splat(places))):
        facts = facts_without_pictures(name, data)
        assert (facts["splats"], facts["leftOut"]) == (7, "1 of 8 splats are not valid")


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.splat", splat()[:-1], "255 bytes are not splats of 32 bytes each"),
        ("a.splat", bytes(1) + bytes(63), "blank"),
        ("a.splat", splat(rotation=(0, 0, 0, 0)), "none of its 8 splats is valid"),
        ("a.splat", b"\x89PNG" * 64, "none of its 8 splats is valid"),
        ("a.spz", b"\x1f\x8b\x08", "truncated"),
        ("a.spz", b"text" * 8, "not an SPZ file: it is not compressed by gzip"),
        ("a.spz", gzip.compress(b"text" * 8, mtime=0), "not an SPZ file"),
        ("a.spz", spz(0), "version 0"),
        ("a.spz", spz(4), "version 4"),
        ("a.spz", b"NGSP\x02" + bytes(27), "version 2 and no compression"),
        ("a.spz", spz_4(count=1 << 31), "2147483648 splats are more than"),
        ("a.spz", spz_4(count=9), "9 splats declared, their stream 0 has 72 bytes"),
        ("a.spz", spz_4(sizes=1 << 40), "8 splats declared, their stream 0 has"),
        ("a.spz", spz_4(streams=255), "255 streams of 5"),
        ("a.spz", spz_4(table=1 << 31), "truncated"),
        ("a.spz", spz_4()[:-1], "truncated: 8 splats declared, stream 4 is cut"),
        ("a.spz", spz_4().replace(b"\x28\xb5\x2f\xfd", b"\x28\xb5\x2f\xfe"), "not valid"),
        ("a.ksplat", b"\0\x01" * 8, "truncated: no KSPLAT header"),
        ("a.ksplat", ksplat(version=b"\x07\0"), "version 7.0"),
        ("a.ksplat", ksplat()[:20] + b"\x03" + ksplat()[21:], "compression 3"),
        ("a.ksplat", ksplat(sections=1 << 31), "truncated: 2147483648 sections declared"),
        ("a.ksplat", ksplat(count=1 << 31), "2147483648 splats are more than"),
        ("a.ksplat", ksplat(1, count=9), "truncated: section 0 declares 9 splats in 2 blocks"),
        ("a.ksplat", ksplat(1, blocks=1 << 30), "truncated: section 0 declares 8 splats in 1073"),
        ("a.ksplat", ksplat(1, lengths=(2,)), "splats of section 0 belong to none of its blocks"),
        ("a.ksplat", ksplat(degree=9), "harmonics of degree 9"),
        ("a.ksplat", ksplat(count=0), "contains no splats"),
        ("a.sog", b"PK\x03\x04", "not a ZIP archive"),
        ("a.sog", sog(3), "version 3; 1 and 2 are read"),
        ("a.sog", sog(leave="sh0"), "the package has no sh0.webp"),
        ("a.sog", sog(names="../"), "the package has no ../sh0.webp"),
        ("a.sog", sog(width=2), "means_l.webp has 2 x 2 pixels for 8 splats"),
        ("a.sog", sog(count=1 << 32), "4294967296 splats are more than"),
        ("a.sog", sog(count="8"), "the number of splats in meta.json is not a number"),
        ("a.sog", sog(means=None), "its meta.json has no means.mins"),
        ("a.sog", sog(means={"mins": [0, float("nan"), 0]}), "means.mins of its meta.json are not"),
        ("a.sog", sog(sh0={"files": ["meta.json"], "codebook": []}), "meta.json is not a picture"),
        ("a.spz", spz(count=1 << 31), "2147483648 splats are more than"),
        ("a.spz", spz(count=0), "contains no splats"),
        ("a.spz", spz(count=9), "truncated: 9 splats declared, the file has"),
        ("a.spz", spz(degree=9), "harmonics of degree 9"),
        ("a.spz", spz(bits=60), "60 fractional bits"),
        ("a.spz", spz()[:-12], "truncated"),
        ("a.ply", packed_ply(chunks=0), "too few chunks"),
        ("a.ply", packed_ply(color="color"), "have no colours"),
        ("a.ply", ply_splats(np.full((8, 3), np.nan, np.float32)), "none of its 8 splats is valid"),
    ],
)
def test_malformed_splats_are_refused(name: str, data: bytes, reason: str) -> None:
    assert reason in str(inspect(name, data, Asset()).refused)


def test_bytes_after_the_splats_are_named() -> None:
    facts = facts_without_pictures("a.spz", spz(more=b"\0" * 500))
    assert facts["leftOut"] == "bytes after the last splat"


def test_a_gzip_bomb_is_not_decompressed() -> None:
    bomb = spz(more=bytes(1 << 28))
    started = time.process_time()
    facts = facts_without_pictures("a.spz", bomb)
    assert facts["splats"] == 8
    assert time.process_time() - started < 0.5


@pytest.mark.parametrize("degree", [0, 4])
def test_as_many_splats_as_are_allowed_fit_into_the_memory(
    degree: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As small as they are beside all splats that are allowed.
    monkeypatch.setattr(limits, "SAMPLED_POINTS", 1000)
    monkeypatch.setattr(splats, "_BLOCK", 8192)
    count = 400_000
    header = struct.pack("<4sIIBBBB", b"NGSP", 3, count, degree, 12, 0, 0)
    data = gzip.compress(header + b"\xff" * (20 + 72 * (degree == 4)) * count)
    tracemalloc.start()
    try:
        facts = facts_without_pictures("a.spz", data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert facts["splats"] == count
    # The file itself, and the libraries.
    left = limits.CHILD_MEMORY_BYTES - limits.INPUT_BYTES - 200 * limits.MIB
    assert peak / count < left / limits.VERTICES


@pytest.mark.parametrize("version", [1, 2, 3])
def test_splats_are_read_in_blocks(version: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = facts_without_pictures("a.spz", spz(version))
    monkeypatch.setattr(splats, "_BLOCK", 3)
    assert facts_without_pictures("a.spz", spz(version)) == whole


@pytest.mark.parametrize("name", FILES)
def test_splats_that_are_cut_are_fewer_or_a_reason(name: str) -> None:
    data, whole = FILES[name], facts_without_pictures(name, FILES[name])
    for part in range(1, 20):
        facts = facts_without_pictures(name, data[: len(data) * part // 20])
        assert "refused" in facts or int(str(facts["splats"])) < int(str(whole["splats"]))
