"""SVG pictures, drawn by resvg: without scripts, and without files that they name."""

import functools
import io
import re
import tempfile
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

from PIL import Image

from backend.processing import limits
from backend.processing.readers.documents import Document, draw_on_squares
from backend.processing.readers.xml_start import Elements, tree_of
from backend.processing.scene import RefusedError

_NAMESPACE = "{http://www.w3.org/2000/svg}"
_HREFS = ("href", "{http://www.w3.org/1999/xlink}href")
_EMBEDDED = ("data:", "#")
# What is not drawn, by how many it is.
_NOT_DRAWN = {
    "foreignObject": ("foreign object", "foreign objects"),
    "script": ("script", "scripts"),
}
_FILES = ("image that is another file", "images that are other files")
_FONT = "Noto Sans"
_FAMILIES = ("font", "serif", "sans_serif", "cursive", "fantasy", "monospace")
_LENGTH = re.compile(r"\s*\+?(\d*\.?\d+(?:[eE][-+]?\d{1,3})?)\s*(\w*)\s*")
# CSS pixels, with a font of 16 pixels.
_UNITS = {
    "": 1,
    "px": 1,
    "pt": 4 / 3,
    "pc": 16,
    "in": 96,
    "cm": 96 / 2.54,
    "mm": 96 / 25.4,
    "em": 16,
    "ex": 8,
}


class _Libraries(NamedTuple):
    resvg: Any
    font: bytes


@functools.cache
def library() -> _Libraries:
    """Return resvg and the font of all texts, which no confined process could open."""
    # Only the function `Inspect` has them.
    resvg: Any = import_module("resvg_py")
    fonts: Any = import_module("fontpkg_noto_sans")
    return _Libraries(resvg, (Path(fonts.ROOT) / "files" / "NotoSans[wdth,wght].ttf").read_bytes())


class _Elements(Elements):
    """Builds the tree of a picture, and counts what is not drawn of it."""

    def __init__(self) -> None:
        super().__init__()
        self.counts = Counter[str]()
        self.left_out = Counter[tuple[str, str]]()

    def start(self, tag: Any, attrs: dict[Any, Any], /) -> ElementTree.Element:
        name = str(tag).removeprefix(_NAMESPACE)
        self.counts[name] += name != tag
        if name in {"image", "feImage"}:
            for href in _HREFS:
                if not attrs.get(href, "#").lstrip().startswith(_EMBEDDED):
                    del attrs[href]
                    self.left_out[_FILES] += 1
        elif name in _NOT_DRAWN:
            self.left_out[_NOT_DRAWN[name]] += 1
        return super().start(tag, attrs)


def read_svg(data: bytes) -> Document:
    """Read an SVG picture.

    Raises:
        RefusedError: it is not valid, or has more than is read.
    """
    elements = _Elements()
    root = tree_of(data, elements)
    if root.tag != f"{_NAMESPACE}svg":
        raise RefusedError(f"not SVG: its first element is {root.tag:.100}")
    facts: dict[str, str | int | float | bool] = {
        "format": "SVG",
        "elements": elements.counts.total(),
    }
    if size := _size_of(root):
        width, height = (round(side, 2 if side % 1 else None) for side in size)
        facts |= {"width": width, "height": height}
    if elements.left_out:
        counts = elements.left_out.items()
        facts["leftOut"] = ", ".join(f"{n} {names[n != 1]}" for names, n in counts)
    resvg, font = library()
    with tempfile.NamedTemporaryFile(suffix=".ttf") as file:
        fonts: list[str] = []
        if elements.counts["text"]:
            file.write(font)
            file.flush()
            fonts = [file.name]
        try:
            png = resvg.svg_to_bytes(
                svg_string=ElementTree.tostring(root, "unicode"),
                width=limits.THUMBNAIL_PIXELS,
                height=limits.THUMBNAIL_PIXELS,
                dpi=_UNITS["in"],
                skip_system_fonts=True,
                font_files=fonts,
                **{f"{family}_family": _FONT for family in _FAMILIES},
            )
        except ValueError as error:
            raise RefusedError(f"resvg cannot draw it: {error}") from None
    picture = Image.open(io.BytesIO(bytes(png))).convert("RGBA")
    return Document(facts, draw_on_squares(picture))


def _size_of(root: ElementTree.Element) -> tuple[float, float] | None:
    """Return the size in CSS pixels, None if the picture is as large as what it draws."""
    view = [_length(side) for side in re.split(r"[\s,]+", root.get("viewBox", "").strip())[2:]]
    lengths = [_length(root.get(name)) for name in ("width", "height")]
    if len(view) == 2 and view[0] and view[1]:
        ratio = view[0] / view[1]
        if lengths == [None, None]:
            return view[0], view[1]
        width = lengths[0] or (lengths[1] or 0) * ratio
        return width, lengths[1] or width / ratio
    return (lengths[0], lengths[1]) if lengths[0] and lengths[1] else None


def _length(written: str | None) -> float | None:
    match = _LENGTH.fullmatch(written or "")
    return float(match[1]) * _UNITS[match[2]] if match and match[2] in _UNITS else None
