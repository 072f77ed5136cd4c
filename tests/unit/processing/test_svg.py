"""SVG pictures: sizes, texts, what is not drawn, and broken files."""

import base64
import io
from pathlib import Path

import pytest
from PIL import Image

from backend.processing import limits
from backend.processing.inspection import inspect
from backend.processing.readers.svg import read_svg
from tests.unit.processing.samples import Asset

_NAMES = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
RED = '<rect width="100%" height="100%" fill="red"/>'


def svg(content: str = RED, size: str = 'width="40" height="20"', before: str = "") -> bytes:
    return f"{before}<svg {_NAMES} {size}>{content}</svg>".encode()


def _ink(picture: Image.Image) -> bool:
    """Whether something is drawn on the squares behind a transparent picture."""
    return read_svg(svg("")).picture.tobytes() != picture.tobytes()


def reason(data: bytes) -> str:
    return str(inspect("a.svg", data, Asset()).refused)


_ENTITY = '<!DOCTYPE svg [<!ENTITY c "red"><!ENTITY ns "http://www.w3.org/2000/svg">]>'
FILES = {
    "a.svg": svg(),
    "entity.svg": svg('<path d="M0 0h40v20h-40z" fill="&c;"/>', before=_ENTITY),
    "utf16.svg": svg(before="<?xml version='1.0' encoding='UTF-16'?>").decode().encode("utf-16"),
    "prefix.svg": svg().replace(b"xmlns=", b"xmlns:s=").replace(b"<svg", b"<s:svg")
    .replace(b"</svg", b"</s:svg").replace(b"<rect", b"<s:rect"),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_a_picture_has_a_size_and_is_drawn(name: str) -> None:
    inspection = inspect(name, FILES[name], Asset())
    assert inspection.refused is None
    expected = {"format": "SVG", "width": 40, "height": 20, "elements": 2}
    assert inspection.facts == expected
    assert inspection.small
    assert inspection.thumbnail
    picture = Image.open(io.BytesIO(inspection.thumbnail)).convert("RGB")
    assert picture.size == (512, 256)
    assert picture.getpixel((500, 250)) == (255, 0, 0)


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ('width="1in" height="25.4mm"', (96, 96)),
        ('width="72pt" height="2em"', (96, 32)),
        ('width="100%" height="100%" viewBox="-5, -5, 30, 60"', (30, 60)),
        ('width="10" viewBox="0 0 4 2"', (10, 5)),
        ('height="10" viewBox="0 0 4 2"', (20, 10)),
        ('viewBox="0 0 nan 4"', None),
        ("", None),
        ('width="1e9" height="2"', (1e9, 2)),
    ],
)
def test_a_size_is_in_pixels_whatever_its_unit(
    size: str, expected: tuple[float, float] | None
) -> None:
    document = read_svg(svg('<rect width="9" height="4000000"/>', size))
    width, height = (document.facts.get(side) for side in ("width", "height"))
    assert (width, height) == (expected or (None, None))
    assert max(document.picture.size) == limits.THUMBNAIL_PIXELS


def test_texts_of_three_scripts_are_drawn_in_the_font_of_the_product() -> None:
    for text in ("Käfig", "Жук", "नमस्ते"):
        content = f'<text y="18" font-size="14" font-family="Nowhere">{text}</text>'
        assert _ink(read_svg(svg(content)).picture)


def test_files_that_a_picture_names_are_not_drawn(tmp_path: Path) -> None:
    image = Image.new("RGB", (4, 4), "blue")
    image.save(tmp_path / "a.png")
    out = io.BytesIO()
    image.save(out, "PNG")
    embedded = f"data:image/png;base64,{base64.b64encode(out.getvalue()).decode()}"
    named = (str(tmp_path / "a.png"), "a.png", "../a.png", "https://example.com/a.png")
    names = (*named, f"file://{named[0]}")
    inner = base64.b64encode(svg(f'<image href="{named[0]}" width="9" height="9"/>')).decode()
    content = "".join(f'<image xlink:href="{name}" width="40" height="20"/>' for name in names)
    content += f'<image href="data:image/svg+xml;base64,{inner}" width="40" height="20"/>'
    content += "<script>alert(1)</script><foreignObject/>"
    document = read_svg(svg(content))
    left_out = "5 images that are other files, 1 script, 1 foreign object"
    assert document.facts["leftOut"] == left_out
    assert not _ink(document.picture)
    document = read_svg(svg(f'<image href="{embedded}" width="40" height="20"/>'))
    assert "leftOut" not in document.facts
    assert document.picture.getpixel((256, 128)) == (0, 0, 255, 255)


_LOL = "".join(f'<!ENTITY a{n} "' + f"&a{n - 1};" * 10 + '">' for n in range(1, 10))
_USES = '<g id="a0"><rect/></g>' + "".join(
    f'<g id="a{n}">' + f'<use xlink:href="#a{n - 1}"/>' * 10 + "</g>" for n in range(1, 9)
)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"<svg", "not valid XML"),
        (svg()[:-3], "not valid XML"),
        (svg() * 2, "not valid XML: junk after document element"),
        (bytes(40) + svg()[40:], "not valid XML"),
        (svg("<g>" * 300 + "</g>" * 300), "nested more than 200 times"),
        (svg("<g/>" * 5000), "more than 5000 elements"),
        (svg(_USES), "resvg cannot draw it"),
        (svg("&a9;", before=f'<!DOCTYPE svg [<!ENTITY a0 "aaaaaaaaa">{_LOL}]>'), "amplification"),
        (svg('<path d="&x;"/>'), "undefined entity"),
        (b"<svg><rect/></svg>", "not SVG: its first element is svg"),
        (b"<html/>", "not SVG: its first element is html"),
        (svg(size='width="0" height="20"'), "invalid size"),
        (svg(size='width="1e39" height="20"'), "invalid size"),
        (svg(before='<?xml version="1.0" encoding="no-such"?>'), "unknown encoding"),
    ],
)
def test_a_broken_picture_is_refused(
    data: bytes, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "ELEMENTS", 5000)
    assert expected in reason(data)


def test_a_cut_picture_is_refused() -> None:
    for name, data in FILES.items():
        for part in range(1, 20):
            assert "not valid XML" in reason(data[: len(data) * part // 20]), (name, part)
