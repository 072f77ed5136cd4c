"""Pictures of light in floating point: OpenEXR by its library, and Radiance."""

import io
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from backend.processing import limits
from backend.processing.colors import linear_to_srgb
from backend.processing.readers.soundness import Bools
from backend.processing.scene import Bytes, RefusedError, words_of
from backend.spec.formats import FORMAT_OF

_Light = NDArray[np.floating[Any]]
_EXR, _HDR = (re.compile(FORMAT_OF[extension].start) for extension in ("exr", "hdr"))
_HEAD = 1 << 16
_RESOLUTION = re.compile(rb"\n\n([-+])Y (\d{1,9}) ([-+])X (\d{1,9})\n")
_NO_DATA = 1e30  # programs write the largest number where there is no light
# The share of pixels that may be too bright to see, such as the sun.
_BRIGHTEST = 99.5


def is_exr(data: bytes) -> bool:
    """Return whether an image is OpenEXR, which Pillow does not read."""
    return _EXR.match(data) is not None


def read_light(data: bytes) -> tuple[dict[str, str | int | float | bool], Image.Image] | None:
    """Return facts and the picture, None for other images.

    Raises:
        RefusedError: the image is broken or too large.
    """
    if is_exr(data):
        size, mode, light = _read_exr(data)
    elif _HDR.match(data):
        size, mode, light = _read_hdr(data)
    else:
        return None
    facts: dict[str, str | int | float | bool] = {
        "format": "EXR" if is_exr(data) else "HDR",
        "width": size[0],
        "height": size[1],
        "colorMode": mode,
    }
    return facts, _tone_mapped(light)


def _require_size(width: int, height: int, channels: int = 1) -> None:
    if width <= 0 or height <= 0:
        raise RefusedError(f"the image has {width} x {height} pixels")
    if width * height * channels > limits.PIXELS:
        size = f"{width} x {height} pixels" + (f" of {channels} channels" if channels > 1 else "")
        raise RefusedError(f"the image has {size}, more than 100 million numbers")


def _read_exr(data: bytes) -> tuple[tuple[int, int], str, _Light]:
    import OpenEXR  # noqa: PLC0415 - only these images need it

    library: Any = OpenEXR
    try:
        # One thread: a confined process starts no others.
        header: Any = library.File(io.BytesIO(data), True, True, 0)
        for part in header.parts:
            low, high = part.header["dataWindow"]
            width, height = (int(high[axis]) - int(low[axis]) + 1 for axis in range(2))
            _require_size(width, height, max(1, len(part.header["channels"])))
        file: Any = library.File(io.BytesIO(data), True, False, 0)
        channels: dict[str, Any] = file.parts[0].channels if file.parts else {}
        pixels = {name: np.asarray(channel.pixels) for name, channel in channels.items()}
    except (RuntimeError, ValueError, TypeError, KeyError, IndexError) as error:
        raise RefusedError(f"OpenEXR cannot read it: {words_of(error)}") from None
    usable = {name: array for name, array in pixels.items() if array.dtype.kind in "fu"}
    if not usable:
        raise RefusedError("truncated, or an OpenEXR image without flat pixels")
    names = _shown_channels(list(usable))
    height, width = usable[names[0]].shape
    every = max(1, max(width, height) // (2 * limits.THUMBNAIL_PIXELS))
    shown = np.stack([usable[name][::every, ::every].astype(np.float32) for name in names], 2)
    return (width, height), " ".join(sorted(pixels))[:200], shown


def _shown_channels(names: list[str]) -> list[str]:
    """Return red, green and blue of the first layer that has them, else one channel."""
    for name in names:
        layer = name[:-1]
        if name.endswith("R") and {f"{layer}G", f"{layer}B"} <= set(names):
            return [f"{layer}{channel}" for channel in "RGB"]
    return ["Y" if "Y" in names else names[0]]


def _read_hdr(data: bytes) -> tuple[tuple[int, int], str, _Light]:
    head = _RESOLUTION.search(data, 0, _HEAD)
    if head is None:
        raise RefusedError("the Radiance image has no resolution with rows from top or bottom")
    height, width = int(head[2]), int(head[4])
    _require_size(width, height)
    if b"FORMAT=32-bit_rle_xyze" in data[: head.start()]:
        raise RefusedError("the Radiance image has colours of XYZ, which are not read")
    content = data[head.end() :]
    mark = bytes((2, 2, width >> 8 & 255, width & 255))
    if 8 <= width < 1 << 15 and content.startswith(mark):
        rows = _decompress_rows(content, width, height, mark)
    elif len(content) >= 4 * width * height:
        rows = np.frombuffer(content, np.uint8, 4 * width * height).reshape(height, width, 4)
    else:
        held = len(content) // 4
        raise RefusedError(f"truncated: {width * height} pixels declared, the file has {held}")
    rows = rows[:: -1 if head[1] == b"+" else 1, :: -1 if head[3] == b"-" else 1]
    every = max(1, max(width, height) // (2 * limits.THUMBNAIL_PIXELS))
    shown = rows[::every, ::every].astype(np.float32)
    light = shown[..., :3] * np.exp2(shown[..., 3:] - 136)
    return (width, height), "RGBE", np.where(shown[..., 3:] > 0, light, 0)


def _decompress_rows(content: bytes, width: int, height: int, mark: bytes) -> Bytes:
    """Return the pixels of rows whose channels are stored one after another, in runs."""
    out, at = bytearray(), 0
    for row in range(height):
        if content[at : at + 4] != mark:
            raise RefusedError(f"truncated: the Radiance image ends before row {row + 1}")
        at, end = at + 4, len(out) + 4 * width
        while len(out) < end and at + 1 < len(content):
            count = content[at]
            if count > 128:
                out += content[at + 1 : at + 2] * (count - 128)
                at += 2
            else:
                out += content[at + 1 : at + 1 + count]
                at += 1 + count
        if len(out) != end:
            raise RefusedError(f"truncated or damaged: row {row + 1} of the Radiance image")
    return np.frombuffer(bytes(out), np.uint8).reshape(height, 4, width).swapaxes(1, 2)


def _tone_mapped(light: _Light) -> Image.Image:
    """Return the picture; pixels without a number are transparent."""
    known: Bools = np.all(np.abs(np.nan_to_num(light, nan=np.inf)) < _NO_DATA, axis=2)
    if not known.any():
        raise RefusedError("the image has no pixel that is a finite number")
    values = np.where(known[..., None], light, 0).astype(np.float64)
    bright = float(np.percentile(values[known], _BRIGHTEST))
    if light.shape[2] == 1:  # a depth or a height: by its range
        low = float(np.percentile(values[known], 100 - _BRIGHTEST))
        shares = (values - low) / ((bright - low) or 1)
    else:
        shares = linear_to_srgb(values / max(bright, 1.0))
    picture = np.empty((*known.shape, 4), np.uint8)
    picture[..., :3] = np.round(np.clip(shares, 0, 1) * 255)
    picture[..., 3] = known * 255
    image = Image.fromarray(picture)
    image.thumbnail((limits.THUMBNAIL_PIXELS, limits.THUMBNAIL_PIXELS))
    return image
