"""Images of materials, decoded within bounds. A texture that cannot be decoded is left out."""

import io

import numpy as np
from PIL import AvifImagePlugin, Image

from backend.processing import limits
from backend.processing.scene import Bytes

# A confined process starts no threads.
AvifImagePlugin.DEFAULT_MAX_THREADS = 1
Image.MAX_IMAGE_PIXELS = limits.PIXELS
FORMATS = (
    *("AVIF", "BMP", "DDS", "GIF", "ICO", "JPEG", "JPEG2000", "PCX", "PNG", "PSD", "TGA"),
    *("TIFF", "WEBP"),
)
"""The formats of Pillow that are decoded; others run programs (EPS) or are rare."""

_ERRORS = (OSError, ValueError, SyntaxError, EOFError, TypeError, Image.DecompressionBombError)


def decoded(texture: bytes | Bytes, size: int) -> Image.Image | None:
    """Return a texture as RGB or RGBA, reduced to at most `size` pixels."""
    try:
        image = _opened(texture)
        if image.width * image.height > limits.PIXELS:
            return None
        image.draft("RGB", (size, size))
        transparent = "A" in image.getbands() or "transparency" in image.info
        image = image.convert("RGBA" if transparent else "RGB")
        image.thumbnail((size, size))
    except _ERRORS:
        return None
    return image


def encoded(texture: bytes | Bytes, size: int) -> tuple[bytes, str] | None:
    """Return a texture as PNG or JPEG with its media type, as it is if it is small enough."""
    kept = _kept(texture, size) if isinstance(texture, bytes) else None
    if kept:
        return kept
    image = decoded(texture, size)
    if image is None:
        return None
    out = io.BytesIO()
    kind = "PNG" if image.mode == "RGBA" else "JPEG"
    image.save(out, kind, quality=88)
    return out.getvalue(), f"image/{kind.lower()}"


def _opened(texture: bytes | Bytes) -> Image.Image:
    if isinstance(texture, np.ndarray):
        return Image.fromarray(texture)
    return Image.open(io.BytesIO(texture), formats=FORMATS)


def _kept(texture: bytes, size: int) -> tuple[bytes, str] | None:
    try:
        with Image.open(io.BytesIO(texture), formats=FORMATS) as image:
            fits = image.format in {"PNG", "JPEG"} and max(image.size) <= size
            image.load()  # a broken image would be an error of every viewer
            kind = str(image.format).lower()
    except _ERRORS:
        return None
    # Khronos' validator accepts only these two colour layouts of JPEG.
    if not fits or image.mode not in {"RGB", "RGBA", "L", "LA", "P"}:
        return None
    return texture, f"image/{kind}"
