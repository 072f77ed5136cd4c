"""Digital negatives (DNG): TIFF files of what the sensor saw, with previews that are shown."""

import io
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from PIL import ExifTags, Image, TiffImagePlugin

from backend.processing.scene import RefusedError

_BASE = ExifTags.Base
# Values of tags of TIFF: a reduced picture, its colours, its compression.
_OF_REDUCED_SIZE, _RGB, _YCBCR, _JPEG = 1, 2, 6, 7
_START_OF_JPEG = b"\xff\xd8\xff"
_MOST_DIRECTORIES = 32
_MOST = 1 << 63
_BIG = b"+"  # the version of a TIFF whose places have 8 bytes


class Shown(NamedTuple):
    """The picture that is shown of an image, and the size and the format of that image."""

    picture: Image.Image
    size: tuple[int, int]
    format: str


def shown_of(data: bytes, image: Image.Image) -> Shown:
    """Return the image itself; of a negative, the largest preview and the size of the negative.

    Raises:
        RefusedError: a tag of the negative has another type than TIFF declares.
    """
    tags: Any = getattr(image, "tag_v2", {})
    size = image.width, image.height
    if _BASE.DNGVersion not in tags:
        return Shown(image, size, image.format or "")
    directories = [tags]
    header = data[: 16 if _BIG in data[2:4] else 8]
    for place in _numbers(tags, _BASE.SubIFDs)[:_MOST_DIRECTORIES]:
        directory: Any = TiffImagePlugin.ImageFileDirectory_v2(header)
        file = io.BytesIO(data)
        file.seek(place)
        directory.load(file)
        directories.append(directory)
    previews = dict[int, bytes]()
    for directory in directories:
        sides = _size(directory)
        kinds = _numbers(directory, _BASE.NewSubfileType)
        if sides and not any(kind & _OF_REDUCED_SIZE for kind in kinds):
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
    cropped = _whole(directory.get(_BASE.DefaultCropSize, ()))
    if cropped and len(cropped) == 2 and all(cropped):
        return cropped[0], cropped[1]
    sides = [*_numbers(directory, _BASE.ImageWidth), *_numbers(directory, _BASE.ImageLength)]
    return (sides[0], sides[1]) if len(sides) == 2 and all(sides) else None


def _numbers(directory: Any, tag: ExifTags.Base) -> list[int]:
    numbers = _whole(directory.get(tag, ()))
    if numbers is None:
        raise RefusedError(f"the tag {tag.name} of the DNG image is not a number from 0")
    return numbers


def _whole(value: object) -> list[int] | None:
    """Return the numbers of a tag; None if one is a text, negative or, as 0/0, no number."""
    values = np.atleast_1d(np.array(value, np.object_)).tolist()
    if not all(isinstance(number, Real) and 0 <= float(number) < _MOST for number in values):
        return None
    return [int(number) for number in values]
