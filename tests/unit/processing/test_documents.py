"""Images, documents, point clouds and CAD."""

import io
import struct
from typing import Any

import laspy
import numpy as np
import pytest
from PIL import Image

from backend.processing.inspection import inspect
from backend.processing.readers.documents import read_image
from tests.unit.processing import samples
from tests.unit.processing.samples import Asset

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
    for number, each in enumerate(objects, 1):
        places.append(len(body))
        body += b"%d 0 obj\n%b\nendobj\n" % (number, each)
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


@pytest.mark.parametrize("extension", ["las", "laz"])
def test_a_point_cloud_has_counts_and_bounds(extension: str) -> None:
    found = inspect(f"scan.{extension}", cloud(compressed=extension == "laz"), Asset())
    assert found.refused is None
    wanted = {"points": 1000, "sizeX": 999.0, "upAxis": "z", "format": extension.upper()}
    assert {key: found.facts[key] for key in wanted} == wanted
    assert found.thumbnail is not None
    assert found.glb is not None


def test_a_document_has_pages_and_a_picture_of_the_first() -> None:
    found = inspect("plan.pdf", pdf(), Asset())
    wanted = {"format": "PDF", "pages": 2, "width": 200, "height": 100}
    assert found.facts == wanted
    assert found.thumbnail is not None
    with Image.open(io.BytesIO(found.thumbnail)) as picture:
        assert picture.size == (512, 256)
    assert found.small is not None
    with Image.open(io.BytesIO(found.small)) as picture:
        assert (picture.format, picture.size) == ("WEBP", (256, 128))


@pytest.mark.parametrize("mode", ["RGB", "L", "RGBA", "CMYK", "I;16", "F", "1", "P"])
def test_an_image_has_its_size_and_colours(mode: str) -> None:
    out = io.BytesIO()
    Image.new(mode, (600, 300)).save(out, "TIFF")
    found = inspect("photo.tif", out.getvalue(), Asset())
    assert found.facts == {"format": "TIFF", "width": 600, "height": 300, "colorMode": mode}
    assert found.thumbnail is not None


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


def test_frames_of_an_animation_are_counted() -> None:
    out = io.BytesIO()
    frames = [Image.new("L", (4, 4), each * 100) for each in range(3)]
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:])
    assert inspect("spin.gif", out.getvalue(), Asset()).facts["frames"] == 3


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


@pytest.mark.parametrize("extension", ["las", "laz"])
def test_the_box_of_a_point_cloud_is_that_of_its_points(extension: str) -> None:
    for box in ([0.0] * 6, [5.0, -5.0, 5.0, -5.0, 5.0, -5.0], [float("nan")] * 6):
        data = bytearray(cloud(compressed=extension == "laz"))
        struct.pack_into("<6d", data, 179, *box)
        facts = samples.facts_without_pictures(f"scan.{extension}", bytes(data))
        assert (facts.get("sizeX"), facts.get("sizeY"), facts.get("sizeZ")) == (999, 499.5, 0), box
        assert facts["boundsMin"] == "[0.0, 0.0, 0.0]"


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


def test_a_step_file_without_solids_is_refused() -> None:
    assert inspect("empty.step", STEP.encode(), Asset()).refused
    assert inspect("wrong.step", samples.png(), Asset()).refused
