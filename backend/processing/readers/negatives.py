"""Digital negatives (DNG): TIFF files of what the sensor saw, with previews that are shown."""

import io
from typing import Any, NamedTuple

import numpy as np
from PIL import ExifTags, Image, TiffImagePlugin

_BASE = ExifTags.Base
# Values of tags of TIFF: a reduced picture, its colours, its compression.
_OF_REDUCED_SIZE, _RGB, _YCBCR, _JPEG = 1, 2, 6, 7
_START_OF_JPEG = b"\xff\xd8\xff"
_MOST_DIRECTORIES = 32


class Shown(NamedTuple):
    """The picture that is shown of an image, and the size and the format of that image."""

    picture: Image.Image
    size: tuple[int, int]
    format: str


def shown_of(data: bytes, image: Image.Image) -> Shown:
    """Return the image itself; of a negative, the largest preview and the size of the negative."""
    tags: Any = getattr(image, "tag_v2", {})
    size = image.width, image.height
    if _BASE.DNGVersion not in tags:
        return Shown(image, size, image.format or "")
    directories = [tags]
    for place in _numbers(tags, _BASE.SubIFDs)[:_MOST_DIRECTORIES]:
        directory: Any = TiffImagePlugin.ImageFileDirectory_v2(data[:8])
        file = io.BytesIO(data)
        file.seek(place)
        directory.load(file)
        directories.append(directory)
    previews = dict[int, bytes]()
    for directory in directories:
        sides = _size(directory)
        if not directory.get(_BASE.NewSubfileType, 0) & _OF_REDUCED_SIZE and sides:
            size = sides
        is_picture = directory.get(_BASE.PhotometricInterpretation) in {_RGB, _YCBCR}
        offsets, lengths = (
            _numbers(directory, tag) for tag in (_BASE.StripOffsets, _BASE.StripByteCounts)
        )
        if is_picture and sides and directory.get(_BASE.Compression) == _JPEG and len(offsets) == 1:
            previews[sides[0]] = data[offsets[0] : offsets[0] + sum(lengths)]
    for _, content in sorted(previews.items(), reverse=True):
        if content.startswith(_START_OF_JPEG):
            return Shown(Image.open(io.BytesIO(content), formats=("JPEG",)), size, "DNG")
    return Shown(image, size, "DNG")


def _size(directory: Any) -> tuple[int, int] | None:
    cropped = _numbers(directory, _BASE.DefaultCropSize)
    if len(cropped) == 2:
        return cropped[0], cropped[1]
    width, height = directory.get(_BASE.ImageWidth), directory.get(_BASE.ImageLength)
    return (int(width), int(height)) if width and height else None


def _numbers(directory: Any, tag: int) -> list[int]:
    value: Any = directory.get(tag, ())
    return [int(number) for number in np.ravel(value)]
