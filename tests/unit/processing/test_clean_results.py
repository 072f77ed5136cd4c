"""Results hold no metadata of pictures, and no text that cannot be stored."""

import io
import json
import struct
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from PIL import Image, ImageCms
from PIL.PngImagePlugin import PngInfo

from backend.processing.colors import convert_to_srgb
from backend.processing.files import State
from backend.processing.inspection import Inspection, inspect
from backend.processing.jail.results import ReadingStalledError, check_result
from backend.processing.textures import encode_texture
from backend.spec.state_machine import STALLED
from tests.unit.processing import samples
from tests.unit.processing.test_documents import cloud

SECRET = "Ann at home"
LONE = "\\ud800"


class Asset:
    """An asset with the buffer of the cube, and a texture."""

    def __init__(self, texture: bytes = b"") -> None:
        self.texture = texture

    def open(self, name: str) -> tuple[str, State, bytes | None]:
        if name == "cube.bin":
            return name, "found", samples.cube_binary()
        return name, "found" if self.texture else "missing", self.texture or None


def swapped_profile() -> bytes:
    """A profile of sRGB in which the colours of red and blue are exchanged."""
    library: Any = ImageCms
    data = bytearray(library.ImageCmsProfile(library.createProfile("sRGB")).tobytes())
    places: dict[bytes, int] = {}
    for number in range(struct.unpack_from(">I", data, 128)[0]):
        places[bytes(data[132 + 12 * number : 136 + 12 * number])] = 132 + 12 * number
    red, blue = places[b"rXYZ"], places[b"bXYZ"]
    data[red : red + 4], data[blue : blue + 4] = data[blue : blue + 4], data[red : red + 4]
    return bytes(data)


def photo(kind: str, mode: str = "RGB", **more: Any) -> bytes:
    """A red picture with a profile, EXIF, XMP and texts."""
    exif = Image.Exif()
    exif[0x010E] = SECRET
    named: dict[str, Any] = {"icc_profile": swapped_profile(), "exif": exif, **more}
    if kind == "PNG":
        texts = PngInfo()
        texts.add_text("Comment", SECRET)
        texts.add_itxt("XML:com.adobe.xmp", SECRET)
        named["pnginfo"] = texts
    else:
        named |= {"xmp": SECRET.encode()}
    out = io.BytesIO()
    color = (255, 0, 0, 255) if mode == "RGBA" else (255, 0, 0)
    Image.new(mode, (64, 32), color).save(out, kind, **named)
    return out.getvalue()


_ANIMATION = {"background", "duration", "loop", "timestamp"}


def left_in(data: bytes) -> list[str]:
    """Return the names of the data that a picture contains beside pixels."""
    with Image.open(io.BytesIO(data)) as image:
        image.load()
        keys = sorted(str(name) for name in image.info.keys() - {"jfif", "jfif_version"})
        if image.format == "WEBP":  # Pillow describes every WebP as an animation
            keys = [name for name in keys if name not in _ANIMATION]
    return [
        *(name for name in keys if name not in {"jfif_unit", "jfif_density"}),
        *(word for word in (SECRET, "acsp", "Exif") if word.encode() in data),
    ]


def color_of(data: bytes) -> tuple[int, ...]:
    with Image.open(io.BytesIO(data)) as image:
        result: Any = image.convert("RGB").getpixel((10, 10))
    return tuple(result)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "TIFF"])
def test_a_thumbnail_is_in_srgb_and_has_no_metadata(kind: str) -> None:
    result = inspect("photo.png", photo(kind), Asset())
    for picture in (result.thumbnail, result.small):
        assert picture is not None
        assert left_in(picture) == []
        red, _, blue = color_of(picture)
        assert (red < 40, blue > 215) == (True, True)


@pytest.mark.parametrize(("kind", "mode"), [("PNG", "RGB"), ("PNG", "RGBA"), ("JPEG", "RGB")])
def test_a_texture_of_a_glb_is_in_srgb_and_has_no_metadata(kind: str, mode: str) -> None:
    texture = encode_texture(photo(kind, mode), 2048)
    assert texture is not None
    data, media_type = texture
    assert (media_type, left_in(data)) == (f"image/{kind.lower()}", [])
    assert color_of(data)[2] > 215


@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
def test_the_colors_of_a_palette_are_converted_to_srgb(kind: str) -> None:
    out = io.BytesIO()
    indexed = Image.new("RGB", (64, 32), (255, 0, 0)).quantize(4)
    indexed.save(out, kind, icc_profile=swapped_profile())
    result = inspect("photo.png", out.getvalue(), Asset())
    texture = encode_texture(out.getvalue(), 2048)
    assert texture is not None
    for picture in (result.thumbnail, result.small, texture[0]):
        assert picture is not None
        assert left_in(picture) == []
        assert color_of(picture)[2] > 215


def with_chunk(name: bytes) -> bytes:
    """A PNG with a chunk before its end."""
    whole = samples.png()
    content = SECRET.encode()
    chunk = struct.pack(">I", len(content)) + name + content
    return whole[:-12] + chunk + struct.pack(">I", zlib.crc32(name + content)) + whole[-12:]


def with_segment(marker: int, content: bytes) -> bytes:
    """A JPEG with a segment after its start."""
    whole = jpeg()
    return whole[:2] + struct.pack(">BBH", 0xFF, marker, len(content) + 2) + content + whole[2:]


def jpeg() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (64, 32), "red").save(out, "JPEG")
    return out.getvalue()


HIDDEN_IN: dict[str, Callable[[], bytes]] = {
    "private chunk": lambda: with_chunk(b"caBX"),
    "unknown chunk": lambda: with_chunk(b"tIME"),
    "after the end of a PNG": lambda: samples.png() + SECRET.encode(),
    "thumbnail of JFIF": lambda: with_segment(0xE0, b"JFXX\0\x10" + SECRET.encode()),
    "segment of Adobe": lambda: with_segment(0xEE, b"Adobe" + SECRET.encode()),
    "comment": lambda: with_segment(0xFE, SECRET.encode()),
    "content credentials": lambda: with_segment(0xEB, b"JP" + SECRET.encode()),
    "between the scans": lambda: jpeg()[:-2] + b"\xff\xfe\0\x0d" + SECRET.encode() + b"\xff\xd9",
    "after the end of a JPEG": lambda: jpeg() + SECRET.encode() + b"\xff\xd9",
}


def test_a_texture_contains_nothing_that_programs_skip() -> None:
    for build in HIDDEN_IN.values():
        value = build()
        assert SECRET.encode() in value
        texture = encode_texture(value, 2048)
        assert texture is not None
        assert SECRET.encode() not in texture[0]
    assert encode_texture(jpeg(), 2048) == (jpeg(), "image/jpeg")
    assert encode_texture(samples.png(), 2048) == (samples.png(), "image/png")
    image = Image.new("RGB", (4, 4), "red")
    image.info["icc_profile"] = b"broken"
    assert convert_to_srgb(image).getpixel((0, 0)) == (255, 0, 0)
    assert image.info == {}


def test_a_glb_contains_nothing_of_its_textures_metadata() -> None:
    painted = {"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}
    document = samples.cube_gltf(
        images=[{"uri": "t.jpg"}], textures=[{"source": 0}], materials=[painted]
    )
    document["meshes"][0]["primitives"][0]["material"] = 0
    result = inspect("a.gltf", samples.encoded(document), Asset(photo("JPEG")))
    assert result.glb is not None
    assert SECRET.encode() not in result.glb
    assert b"acsp" not in result.glb


def hostile_texts() -> dict[str, bytes]:
    """Files whose texts are not valid, by name."""
    lone = json.loads(f'"a{LONE}b"')
    document = samples.cube_gltf(
        images=[{"uri": f"t{lone}.png"}],
        textures=[{"source": 0}],
        materials=[
            {"name": lone, "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}},
        ],
    )
    document["asset"]["generator"] = f"Maker{lone}\n\x1b[31m"
    las = bytearray(cloud(compressed=False))
    las[58:90] = b"Maker\xff\xed\xa0\x80\x1b".ljust(32, b"\0")
    return {
        "a.gltf": json.dumps(document).encode(),
        "b.las": bytes(las),
        "c.obj": b"# Maker \xed\xa0\x80\x1b\x00\n" + samples.cube_obj("mtllib \x1b.mtl\n"),
        "d.ply": samples.cube_ply(binary=False).replace(
            b"ply\n", b"ply\ncomment Maker \xed\xa0\x80\x1b\n", 1
        ),
        "e.stl": b"Maker \xed\xa0\x80\x1b".ljust(80, b"\0") + samples.cube_stl()[80:],
    }


def unclean(found: Inspection) -> list[str]:
    texts = [value for value in found.facts.values() if isinstance(value, str)]
    texts += [reference.path.replace("\x1b", "") for reference in found.references]
    return [text for text in texts if not text.isprintable()]


def test_texts_are_cleaned_where_they_leave_a_reader() -> None:
    results = {name: inspect(name, data, Asset()) for name, data in hostile_texts().items()}
    assert {name: item.refused for name, item in results.items() if item.refused} == {}
    assert {name: texts for name, item in results.items() if (texts := unclean(item))} == {}
    for result in results.values():
        json.dumps(result.facts, ensure_ascii=False).encode()
        assert result.glb is not None
        assert LONE.encode() not in result.glb
    lone = json.loads(f'"a{LONE}b"')
    reference = {"path": lone, "kind": "texture", "state": "missing"}
    result = check_result({"facts": {"generator": lone}, "references": [reference]})
    assert (result.facts["generator"], result.references[0].path) == ("a b", "a?b")
    assert check_result({"refused": lone}).refused == "a b"
    assert ReadingStalledError.__name__ == STALLED
