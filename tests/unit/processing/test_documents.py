"""Images, documents, point clouds and CAD, and the reason of a content under another name."""

import io
import struct
import time
from typing import Any

import laspy
import numpy as np
import pytest
from PIL import Image

from backend.processing.contents import other_format
from backend.processing.files import Files
from backend.processing.inspection import inspect
from backend.processing.readers.documents import read_image
from backend.processing.readers.models import read_model
from backend.spec.formats import IMAGE_EXTENSIONS
from tests.unit.processing import cad, samples
from tests.unit.processing.samples import (
    CORNERS,
    Asset,
    archive,
    cube_binary,
    cube_gltf,
    facts_without_pictures,
    glb,
)
from tests.unit.processing.test_heif import FILES as HEIF
from tests.unit.processing.test_light import FILES as LIGHT

STEP = """ISO-10303-21;
HEADER;
FILE_DESCRIPTION((''),'2;1');
FILE_NAME('block','2026-01-01T00:00:00',('a'),('b'),'writer','system of the tests','');
FILE_SCHEMA(('AUTOMOTIVE_DESIGN { 1 0 10303 214 1 1 1 1 }'));
ENDSEC;
DATA;
ENDSEC;
END-ISO-10303-21;
"""


def pdf() -> bytes:
    """A document of two pages, without a library that writes such."""
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R 4 0 R]/Count 2>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]>>",
    ]
    body, places = b"%PDF-1.4\n", list[int]()
    for number, item in enumerate(objects, 1):
        places.append(len(body))
        body += b"%d 0 obj\n%b\nendobj\n" % (number, item)
    table = b"xref\n0 5\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % p for p in places)
    return body + table + b"trailer<</Size 5/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % len(body)


def cloud(*, compressed: bool) -> bytes:
    library: Any = laspy
    points = library.create(point_format=2, file_version="1.2")
    points.header.offsets, points.header.scales = [0, 0, 0], [0.01, 0.01, 0.01]
    points.x, points.y, points.z = np.arange(1000), np.arange(1000) / 2, np.zeros(1000)
    points.red = np.full(1000, 65535)
    out = io.BytesIO()
    backend = library.LazBackend.Lazrs if compressed else None
    points.write(out, do_compress=compressed, laz_backend=backend)
    return out.getvalue()


def test_a_point_cloud_has_counts_and_bounds_of_its_points() -> None:
    for extension in ("las", "laz"):
        result = inspect(f"scan.{extension}", cloud(compressed=extension == "laz"), Asset())
        assert result.refused is None
        wanted = {"points": 1000, "sizeX": 999.0, "upAxis": "z", "format": extension.upper()}
        assert {key: result.facts[key] for key in wanted} == wanted
        assert result.thumbnail is not None
        assert result.glb is not None
    for extension in ("las", "laz"):
        for box in ([0.0] * 6, [5.0, -5.0, 5.0, -5.0, 5.0, -5.0], [float("nan")] * 6):
            data = bytearray(cloud(compressed=extension == "laz"))
            struct.pack_into("<6d", data, 179, *box)
            facts = samples.facts_without_pictures(f"scan.{extension}", bytes(data))
            assert (facts.get("sizeX"), facts.get("sizeY"), facts.get("sizeZ")) == (
                999,
                499.5,
                0,
            ), box
            assert facts["boundsMin"] == "[0.0, 0.0, 0.0]"


def test_a_document_has_pages_and_a_picture_of_the_first() -> None:
    result = inspect("plan.pdf", pdf(), Asset())
    wanted = {"format": "PDF", "pages": 2, "width": 200, "height": 100}
    assert result.facts == wanted
    assert result.thumbnail is not None
    with Image.open(io.BytesIO(result.thumbnail)) as picture:
        assert picture.size == (512, 256)
    assert result.small is not None
    with Image.open(io.BytesIO(result.small)) as picture:
        assert (picture.format, picture.size) == ("WEBP", (256, 128))


@pytest.mark.parametrize("mode", ["RGB", "L", "RGBA", "CMYK", "I;16", "F", "1", "P"])
def test_an_image_has_its_size_and_colours(mode: str) -> None:
    out = io.BytesIO()
    Image.new(mode, (600, 300)).save(out, "TIFF")
    result = inspect("photo.tif", out.getvalue(), Asset())
    assert result.facts == {"format": "TIFF", "width": 600, "height": 300, "colorMode": mode}
    assert result.thumbnail is not None


@pytest.mark.parametrize("ink", [(0, 0, 0, 255), (255, 255, 255, 255)])
def test_ink_on_a_transparent_ground_is_seen_in_the_picture(ink: tuple[int, ...]) -> None:
    drawing = Image.new("RGBA", (80, 40))
    drawing.paste(ink, (0, 0, 40, 40))
    out = io.BytesIO()
    drawing.save(out, "PNG")
    picture = read_image(out.getvalue()).picture
    pixels = np.asarray(picture).astype(int)
    assert (pixels[:, :40] == ink).all()
    assert (pixels[:, 40:, 3] == 255).all()
    assert np.abs(pixels[:, 40:, :3] - ink[:3]).min() > 40


def test_frames_of_an_animation_are_counted_and_step_without_solids_refused() -> None:
    out = io.BytesIO()
    frames = [Image.new("L", (4, 4), number * 100) for number in range(3)]
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:])
    assert inspect("spin.gif", out.getvalue(), Asset()).facts["frames"] == 3
    assert inspect("empty.step", STEP.encode(), Asset()).refused
    assert inspect("wrong.step", samples.png(), Asset()).refused


def test_pictures_are_rotated_by_their_exif_orientation() -> None:
    """The left half of a picture is red: of one turned to the right, the upper half."""
    picture = Image.new("RGB", (200, 100), "blue")
    picture.paste("red", (0, 0, 100, 100))
    red_at = {
        1: "left",
        2: "right",
        3: "right",
        4: "left",
        5: "top",
        6: "top",
        7: "bottom",
        8: "bottom",
    }
    for kind in ("JPEG", "PNG", "WEBP", "TIFF", "AVIF"):
        for orientation, side in red_at.items():
            exif = Image.Exif()
            exif[0x0112] = orientation
            out = io.BytesIO()
            picture.save(out, kind, exif=exif)
            read = read_image(out.getvalue())
            wanted = (200, 100) if orientation < 5 else (100, 200)
            case = (kind, orientation)
            assert (read.facts["width"], read.facts["height"]) == wanted, case
            assert read.picture.size == wanted, case
            width, height = wanted
            places = {"left": (10, height // 2), "right": (width - 10, height // 2)}
            places |= {"top": (width // 2, 10), "bottom": (width // 2, height - 10)}
            reds = [place for place in places if _red(read.picture, places[place])]
            assert side in reds, case
            assert {"left": "right", "right": "left", "top": "bottom", "bottom": "top"}[
                side
            ] not in reds


def _red(picture: Image.Image, place: tuple[int, int]) -> bool:
    pixel = picture.convert("RGB").getpixel(place)
    assert isinstance(pixel, tuple)
    return pixel[0] > 128


@pytest.mark.filterwarnings("ignore:Corrupt EXIF data")
def test_broken_exif_does_not_hide_a_picture() -> None:
    for exif in (b"Exif\0\0", b"Exif\0\0II*\0\xff\xff\xff\xff", b"Exif\0\0MM\0*" + b"\xff" * 60):
        for kind in ("JPEG", "PNG", "WEBP"):
            out = io.BytesIO()
            Image.new("RGB", (20, 10)).save(out, kind, exif=exif)
            assert read_image(out.getvalue()).facts["width"] == 20, (exif, kind)


def test_a_point_cloud_with_codes_of_geotiff_has_its_reference_system() -> None:
    cases = {
        "EPSG:25832": {1024: 1, 3072: 25832},
        "EPSG:4326": {1024: 2, 2048: 4326, 3072: 0},
        "EPSG:25832+7837": {3072: 25832, 2048: 4258, 4096: 7837},
        None: {1024: 1, 3072: 32767},
    }
    for wanted, keys in cases.items():
        directory = struct.pack("<4H", 1, 1, 0, len(keys))
        directory += b"".join(struct.pack("<4H", key, 0, 1, value) for key, value in keys.items())
        facts = samples.facts_without_pictures("scan.las", _with_record(34735, directory))
        assert facts.get("crs") == wanted, keys


def _with_record(number: int, content: bytes) -> bytes:
    data = cloud(compressed=False)
    size, start = struct.unpack_from("<HI", data, 94)
    record = struct.pack("<2x16sHH32s", b"LASF_Projection", number, len(content), b"") + content
    changed = data[:size] + record + data[size:]
    return changed[:96] + struct.pack("<II", start + len(record), 1) + changed[104:]


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


CLOUDS = {
    "a.xyz": _ROWS.encode(),
    "commas.xyz": _ROWS.replace(" ", ",").encode(),
    "header.xyz": b"// by tests\nX Y Z\n" + _ROWS.encode(),
    "semicolons.xyz": _ROWS.replace(" ", "; ").replace("\n", "\r\n").encode(),
    "colored.xyz": _COLORED.encode(),
    "a.pts": _PTS.encode(),
    "ascii.pcd": pcd("ascii", _ROWS.encode(), fields="X Y Z"),  # as PDAL writes them
    "binary.pcd": pcd("binary", _TABLE.tobytes()),
    "compressed.pcd": pcd("binary_compressed", compressed(lzf(_PLAIN), len(_PLAIN))),
}
_COLORS = ("colored.xyz", "a.pts", "binary.pcd", "compressed.pcd")


@pytest.mark.parametrize("name", CLOUDS)
def test_a_point_cloud_has_its_points_bounds_and_colours(name: str) -> None:
    result = inspect(name, CLOUDS[name], Asset())
    assert result.refused is None
    facts = result.facts
    assert (facts["points"], facts["boundsMin"], facts["boundsMax"]) == (
        8,
        "[0.0, 0.0, 0.0]",
        "[1.0, 2.0, 3.0]",
    )
    assert result.thumbnail
    assert result.glb
    colors = read_model(CLOUDS[name], name, name[-3:], Files(Asset())).parts[0].colors
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


@pytest.mark.parametrize("name", CLOUDS)
def test_a_point_cloud_that_is_cut_has_fewer_points_or_a_reason(name: str) -> None:
    data, whole = CLOUDS[name], facts_without_pictures(name, CLOUDS[name])
    started = time.process_time()
    for part in range(1, 20):
        facts = facts_without_pictures(name, data[: len(data) * part // 20])
        assert "refused" in facts or int(str(facts["points"])) <= int(str(whole["points"]))
        if name.endswith("pcd"):
            assert "refused" in facts or facts == whole
    assert time.process_time() - started < 5


def picture(format_: str) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(out, format_)
    return out.getvalue()


CONTENTS = {
    "GLB": (glb(cube_gltf(), cube_binary()), "glb"),
    "glTF": (samples.encoded(cube_gltf()), "gltf"),
    "PNG": (picture("PNG"), "png"),
    "JPEG": (picture("JPEG"), "jpg"),
    "GIF": (picture("GIF"), "gif"),
    "WebP": (picture("WEBP"), "webp"),
    "TIFF": (picture("TIFF"), "tif"),
    "BMP": (picture("BMP"), "bmp"),
    "DDS": (picture("DDS"), "dds"),
    "JPEG 2000": (picture("JPEG2000"), "jp2"),
    "AVIF": (picture("AVIF"), "avif"),
    "HEIF": (HEIF["turned.heic"], "heic"),
    "OpenEXR": (LIGHT["a.exr"], "exr"),
    "Radiance": (LIGHT["flat.hdr"], "hdr"),
    "PDF": (pdf(), "pdf"),
    "PLY": (b"ply\nformat ascii 1.0\nelement vertex 0\nend_header\n", "ply"),
    "STL": (b"solid cube\n facet normal 0 0 1\n", "stl"),
    "LAS": (cloud(compressed=False), "las"),
    "PCD": (b"# .PCD v0.7\nVERSION 0.7\nFIELDS x y z\n", "pcd"),
    "FBX": (b"Kaydara FBX Binary  \0", "fbx"),
    "Blender": (b"BLENDER-v300", "blend"),
    "Rhino": (b"3D Geometry File Format       80", "3dm"),
    "IFC": (b"ISO-10303-21;\nHEADER;\nFILE_SCHEMA(('IFC4'));\nENDSEC;", "ifc"),
    "STEP": (cad.cube_step(), "step"),
    "IGES": (cad.sheet_iges(), "igs"),
    "DXF": (b"  0\nSECTION\n  2\nHEADER\n", "dxf"),
    "E57": (b"ASTM-E57\1\0\0\0", "e57"),
    "DWG": (b"AC1032\0\0\0", None),
    "Collada": (b'<?xml version="1.0"?>\n<!-- made --><COLLADA version="1.4.1">', "dae"),
    "SVG": (b'<?xml version="1.0"?>\n<!-- made --><svg width="9">', "svg"),
    "HTML": (b"\xef\xbb\xbf\n<!doctype html><title>Not found</title>", None),
    "USD": (b"#usda 1.0\n", "usdc"),
    "USD packages": (archive(("a b/c.usda", b"#usda 1.0\n")), "usd"),
    "3MF": (archive(("3D/3dmodel.model", b"<model/>")), "3mf"),
    "ZIP": (archive(("a.txt", b"text")), "zae"),
    "gzip": (b"\x1f\x8b\x08\0", None),
}


@pytest.mark.parametrize("name", CONTENTS)
def test_a_content_is_recognised_under_a_wrong_name(name: str) -> None:
    content, extension = CONTENTS[name]
    reason = f"The content is {name}, but the name ends in .obj"
    assert other_format("/parts/a.OBJ", content) == reason
    if extension is not None:
        assert other_format(f"a.b.{extension}", content) is None


@pytest.mark.parametrize(
    "content", [b"", b"\0", b"v 0 0 0\n", b"PK", b"glT", b"BM", b"solid", b"{}", b"<sv", b"\xff"]
)
def test_what_is_too_short_to_recognise_is_not(content: bytes) -> None:
    assert other_format("a.obj", content) is None


def test_a_picture_is_read_whatever_its_name() -> None:
    for extension in IMAGE_EXTENSIONS:
        assert inspect(f"a.{extension}", picture("PNG"), Asset()).facts["format"] == "PNG"
    for name in ("PNG", "JPEG", "GIF", "WebP", "TIFF", "BMP", "AVIF"):
        for extension in IMAGE_EXTENSIONS:
            assert other_format(f"a.{extension}", CONTENTS[name][0]) is None


def test_a_content_of_any_length_is_recognised_in_little_time() -> None:
    for start, more in (
        (b"", b" "),
        (b"0", b"\n"),
        (b"<!", b"<"),
        (b"", b"<?a> "),
        (b"solid", b" "),
    ):
        assert other_format("a.obj", start + more * (1 << 20)) is None
