"""Images, documents, point clouds and CAD."""

import io
from typing import Any

import laspy
import numpy as np
import pytest
from PIL import Image

from backend.processing.inspection import inspect
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


@pytest.mark.parametrize("mode", ["RGB", "L", "RGBA", "CMYK", "I;16", "F", "1", "P"])
def test_an_image_has_its_size_and_colours(mode: str) -> None:
    out = io.BytesIO()
    Image.new(mode, (600, 300)).save(out, "TIFF")
    found = inspect("photo.tif", out.getvalue(), Asset())
    assert found.facts == {"format": "TIFF", "width": 600, "height": 300, "colorMode": mode}
    assert found.thumbnail is not None


def test_frames_of_an_animation_are_counted() -> None:
    out = io.BytesIO()
    frames = [Image.new("L", (4, 4), each * 100) for each in range(3)]
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:])
    assert inspect("spin.gif", out.getvalue(), Asset()).facts["frames"] == 3


def test_a_step_file_without_solids_is_refused() -> None:
    assert inspect("empty.step", STEP.encode(), Asset()).refused
    assert inspect("wrong.step", samples.png(), Asset()).refused
