"""Images of materials, decoded within bounds. A texture that cannot be decoded is left out."""

import io

import numpy as np
from PIL import AvifImagePlugin, Image

from backend.processing import limits
from backend.processing.colors import as_profiled, convert_to_srgb
from backend.processing.picture_files import is_only_picture
from backend.processing.scene import Bytes

# A confined process starts no threads.
AvifImagePlugin.DEFAULT_MAX_THREADS = 1
Image.MAX_IMAGE_PIXELS = limits.PIXELS
# Image formats of Pillow that are decoded. The others run programs (EPS) or are rare.
FORMATS = (
    *("AVIF", "BMP", "DDS", "GIF", "ICO", "JPEG", "JPEG2000", "PCX", "PNG", "PSD", "TGA"),
    *("TIFF", "WEBP"),
)

# Khronos' validator accepts only the first two colour layouts of JPEG.
_KEPT_MODES = frozenset({"L", "RGB", "LA", "P", "RGBA"})
_ERRORS = (OSError, ValueError, SyntaxError, EOFError, TypeError, Image.DecompressionBombError)


def decode_texture(texture: bytes | Bytes, size: int) -> Image.Image | None:
    """Return a texture as RGB or RGBA, reduced to at most `size` pixels."""
    try:
        image = _open(texture)
        if image.width * image.height > limits.PIXELS:
            return None
        image.draft("RGB", (size, size))
        if "icc_profile" in image.info:
            image = as_profiled(image)
            image.thumbnail((size, size))  # first: the conversion takes long for large pictures
        image = convert_to_srgb(image)
        transparent = "A" in image.getbands() or "transparency" in image.info
        image = image.convert("RGBA" if transparent else "RGB")
        image.thumbnail((size, size))
    except _ERRORS:
        return None
    image.info = {}
    return image


def encode_texture(texture: bytes | Bytes, size: int) -> tuple[bytes, str] | None:
    """Return a texture as PNG or JPEG with its media type, without metadata.

    It is kept as it is if it is small enough and has none.
    """
    kept = _kept(texture, size) if isinstance(texture, bytes) else None
    if kept:
        return kept
    image = decode_texture(texture, size)
    if image is None:
        return None
    out = io.BytesIO()
    kind = "PNG" if image.mode == "RGBA" else "JPEG"
    image.save(out, kind, quality=88)
    return out.getvalue(), f"image/{kind.lower()}"


def _open(texture: bytes | Bytes) -> Image.Image:
    if isinstance(texture, np.ndarray):
        return Image.fromarray(texture)
    return Image.open(io.BytesIO(texture), formats=FORMATS)


def _kept(texture: bytes, size: int) -> tuple[bytes, str] | None:
    try:
        with Image.open(io.BytesIO(texture), formats=FORMATS) as image:
            fits = image.format in {"PNG", "JPEG"} and max(image.size) <= size
            image.load()  # a broken image would be an error of every viewer
            kind = str(image.format)
            fits = fits and image.mode in _KEPT_MODES
            kept = not fits or is_only_picture(texture)
            cleaned = texture if kept else _clean(image, kind)
    except _ERRORS:
        return None
    return (cleaned, f"image/{kind.lower()}") if fits else None


def _clean(image: Image.Image, kind: str) -> bytes:
    """Return the picture in sRGB in the same format, without metadata."""
    image = convert_to_srgb(image)
    out = io.BytesIO()
    image.save(out, kind, quality=95)
    return out.getvalue()
