"""The reason of a file whose content is of another format than its name."""

import io

import pytest
from PIL import Image

from backend.processing.contents import other_format
from backend.processing.inspection import inspect
from backend.spec.formats import IMAGE_EXTENSIONS
from tests.unit.processing import cad, samples
from tests.unit.processing.samples import Asset, archive, cube_binary, cube_gltf, glb
from tests.unit.processing.test_documents import cloud, pdf
from tests.unit.processing.test_light import FILES as LIGHT


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
    "HEIF": (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", None),
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
    "HTML": (b"\xef\xbb\xbf\n<!doctype html><title>Not found</title>", None),
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
