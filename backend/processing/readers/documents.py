"""PDF documents and images: facts of their own, and a picture instead of a scene."""

import io
import struct
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import ExifTags, Image

from backend.processing import limits
from backend.processing.colors import as_profiled, convert_to_srgb
from backend.processing.readers import heif
from backend.processing.readers.exif import exif_of, facts_of_exif
from backend.processing.readers.light import read_light
from backend.processing.readers.negatives import shown_of
from backend.processing.readers.pdf_units import user_unit
from backend.processing.scene import RefusedError, words_of
from backend.processing.textures import FORMATS

_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""Transpositions by EXIF orientation."""
# That of the viewer (web/src/viewer/viewer.css).
_SQUARE, _SQUARES = 16, np.array([(170, 178, 189, 255), (201, 206, 214, 255)], np.uint8)
_SIDEWAYS = {_TURNS[orientation] for orientation in (5, 6, 7, 8)}


# Decoders of Pillow raise any of these on a broken file.
_BROKEN = (
    *(OSError, SyntaxError, ValueError, EOFError, TypeError, NotImplementedError),
    *(LookupError, ArithmeticError, AttributeError, RuntimeError, struct.error),
)


@dataclass(frozen=True, eq=False)
class Document:
    """A document or an image: its facts, and its first page or frame, at most 512 pixels wide."""

    facts: dict[str, str | int | float | bool]
    picture: Image.Image


def read_image(data: bytes) -> Document:
    """Read an image. Its size is checked before its pixels are decoded."""
    if light := read_light(data):
        facts_of_light, picture = light
        return Document(facts_of_light, draw_on_squares(picture))
    formats = FORMATS
    if heif.is_heif(data):
        heif.register()
        formats = ("HEIF",)
    try:
        with Image.open(io.BytesIO(data), formats=formats) as image:
            shown, (width, height), name = shown_of(data, image)
            pixels = max(width * height, shown.width * shown.height)
            if pixels > limits.PIXELS:
                size = f"{width} x {height}"
                raise RefusedError(f"the image has {size} pixels, more than 100 megapixels")
            exif = None
            with suppress(*_BROKEN, MemoryError):  # broken EXIF does not hide the picture
                exif = exif_of(image)
            turn = _turn(shown, exif)
            facts: dict[str, str | int | float | bool] = {
                "format": name,
                "width": width,
                "height": height,
                "colorMode": image.mode,
            }
            if turn in _SIDEWAYS:
                facts |= {"width": height, "height": width}
            frames = getattr(image, "n_frames", 1)
            if frames > 1:
                facts["frames"] = frames
            if exif is not None:
                facts |= facts_of_exif(exif, _BROKEN)
            picture = _reduce(shown)
            return Document(
                facts, draw_on_squares(picture if turn is None else picture.transpose(turn))
            )
    except Image.UnidentifiedImageError:
        raise RefusedError("not an image of a known format") from None
    except Image.DecompressionBombError:
        raise RefusedError("more than 100 megapixels") from None
    except _BROKEN as error:
        raise RefusedError(f"the image cannot be decoded: {words_of(error)}") from None


def _turn(image: Image.Image, exif: Image.Exif | None) -> Image.Transpose | None:
    """Return how the picture is turned upright, as EXIF says; TIFF's is turned by Pillow."""
    if exif is None or image.format == "TIFF":
        return None
    try:
        return _TURNS.get(exif.get(ExifTags.Base.Orientation, 1))
    except _BROKEN:
        return None


def draw_on_squares(picture: Image.Image) -> Image.Image:
    """Draw squares behind a transparent picture: its ink is seen on light and on dark pages."""
    if picture.getchannel("A").getextrema() == (255, 255):
        return picture
    rows, columns = np.indices((picture.height, picture.width)) // _SQUARE
    ground = Image.fromarray(_SQUARES[(rows + columns) % 2])
    ground.alpha_composite(picture)
    return ground


def _reduce(image: Image.Image) -> Image.Image:
    size = (limits.THUMBNAIL_PIXELS, limits.THUMBNAIL_PIXELS)
    image.draft("RGB", (2 * size[0], 2 * size[1]))  # JPEG decodes at a fraction of its size
    if image.mode.startswith(("I", "F")):
        grey = image.convert("F")
        grey.thumbnail(size)
        values = np.nan_to_num(np.asarray(grey, np.float32))
        lowest, highest = float(values.min()), float(values.max())
        levels = (values - lowest) * (255 / ((highest - lowest) or 1))
        return Image.fromarray(levels.astype(np.uint8)).convert("RGBA")
    picture: Image.Image = image
    if image.format == "HEIF" and getattr(image, "n_frames", 1) > 1:
        # The library decodes such a picture at each use, also after it was reduced; a copy is not.
        picture = image.copy()
    if "icc_profile" in image.info:
        picture = as_profiled(picture)
        picture.thumbnail(size)  # first: the conversion takes long for large pictures
    reduced = convert_to_srgb(picture).convert("RGBA")
    reduced.thumbnail(size)
    return reduced


def read_pdf(data: bytes) -> Document:
    """Read a PDF document: the number of pages, and the first page."""
    import pypdfium2  # noqa: PLC0415 - only documents need it

    library: Any = pypdfium2
    try:
        document = library.PdfDocument(data)
        pages = len(document)
        if not pages:
            raise RefusedError("the document has no pages")
        page = document[0]
        width, height = page.get_size()
        if not (0 < width < 1e6 and 0 < height < 1e6):
            raise RefusedError("the first page has no valid size")
        scale = limits.THUMBNAIL_PIXELS / max(width, height)
        picture = page.render(scale=scale).to_pil().convert("RGBA")
    except library.PdfiumError as error:
        reason = str(error)
        if "assword" in reason:
            raise RefusedError("the document is protected by a password") from None
        raise RefusedError(f"not a readable PDF document: {reason}") from None
    unit = user_unit(data, pages)
    width, height = width * unit, height * unit
    facts = {"format": "PDF", "pages": pages, "width": round(width, 2), "height": round(height, 2)}
    return Document(facts, picture)
