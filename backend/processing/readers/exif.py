"""Facts of EXIF: the camera, when and where a picture was taken, and how it was exposed.

Every value is taken by itself: one that is invalid is left out, and the others remain. Pillow reads
a folder of values up to the first one that is outside the EXIF.
"""

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from numbers import Real
from typing import cast

from PIL import ExifTags, Image

from backend.processing import limits
from backend.processing.texts import printable_line
from backend.spec.facts import YEARS

Tags = Mapping[int, object]
_DATE = re.compile(r"(\d{4}):(\d\d):(\d\d) (\d\d):(\d\d):(\d\d)", re.ASCII)
_SECONDS_OF_A_DAY = 86_400
_BASE, _GPS = ExifTags.Base, ExifTags.GPS


def exif_of(image: Image.Image) -> Image.Exif | None:
    """Return the EXIF of an image; None without one, or if it is too large."""
    if image.format == "PNG" and "exif" not in image.info:
        image.load()  # its chunk may follow the pixels
    for name in ("exif", "Raw profile type exif"):
        # Up to 65,536 entries may each name almost all of it.
        if len(image.info.get(name, b"")) > limits.EXIF_BYTES:
            return None
    return image.getexif()


def facts_of_exif(exif: Image.Exif, broken: tuple[type[Exception], ...]) -> dict[str, str | float]:
    """Return the facts of EXIF. `broken` are the errors that Pillow raises on broken data."""

    def part(tag: ExifTags.IFD) -> Tags:
        try:
            return exif.get_ifd(tag)
        except (*broken, MemoryError):
            return {}

    details, place = part(ExifTags.IFD.Exif), part(ExifTags.IFD.GPSInfo)
    readers: dict[str, Callable[[], str | float | None]] = {
        "camera": lambda: _device(exif.get(_BASE.Make), exif.get(_BASE.Model)),
        "lens": lambda: _device(details.get(_BASE.LensMake), details.get(_BASE.LensModel)),
        "taken": lambda: _date_taken(details.get(_BASE.DateTimeOriginal)),
        "exposureTime": lambda: _number(details.get(_BASE.ExposureTime), _SECONDS_OF_A_DAY),
        "fNumber": lambda: _number(details.get(_BASE.FNumber), 1000),
        # 65535 means any larger sensitivity.
        "iso": lambda: _number(details.get(_BASE.ISOSpeedRatings), 65_534),
        "focalLength": lambda: _number(details.get(_BASE.FocalLength), 100_000),
        "latitude": lambda: _degrees(
            place.get(_GPS.GPSLatitude), place.get(_GPS.GPSLatitudeRef), "NS", 90
        ),
        "longitude": lambda: _degrees(
            place.get(_GPS.GPSLongitude), place.get(_GPS.GPSLongitudeRef), "EW", 180
        ),
    }
    facts: dict[str, str | float] = {}
    for name, read in readers.items():
        try:
            value = read()
        except broken:
            continue
        if value is not None:
            facts[name] = value
    if not {"latitude", "longitude"} <= facts.keys():
        facts.pop("latitude", None)
        facts.pop("longitude", None)
    return facts


def _text(value: object) -> str:
    """Return a text on one line; '' if it is none, or longer than any name."""
    if isinstance(value, str):
        value = value.encode("latin-1", "replace")  # as which Pillow reads every text
    if not isinstance(value, bytes):
        return ""
    text = value[: 4 * limits.EXIF_CHARACTERS + 1].split(b"\0", 1)[0]
    try:
        line = printable_line(text.decode())
    except UnicodeDecodeError:
        line = printable_line(text.decode("latin-1"))
    return line if len(line) <= limits.EXIF_CHARACTERS else ""


def _device(make: object, model: object) -> str | None:
    """Return a maker and a model as one name, without the maker if the model begins with it."""
    maker, name = _text(make), _text(model)
    first = maker.split(" ", 1)[0].casefold()
    if first and name.casefold().startswith(first):
        return name
    return f"{maker} {name}".strip() or None


def _date_taken(value: object) -> str | None:
    """Return a date and time as ISO 8601. It is local time: EXIF had no time zones for long."""
    date = _DATE.fullmatch(_text(value))
    if not date:
        return None
    year, month, day, hour, minute, second = map(int, date.groups())
    if year not in YEARS:
        return None
    taken = datetime(year, month, day, hour, minute, second)  # noqa: DTZ001 - of no known time zone
    return taken.isoformat()


def _number(value: object, most: float) -> float | None:
    """Return a number up to `most`. Zero means an unknown one."""
    if isinstance(value, tuple):
        value = next(iter(cast("tuple[object, ...]", value)), None)
    if not isinstance(value, Real):
        return None
    number = float(value)
    if not 0 < number <= most:  # false for NaN as well
        return None
    return int(number) if number.is_integer() else number


def _degrees(value: object, side: object, sides: str, most: int) -> float | None:
    """Return degrees, minutes and seconds as degrees; negative ones are south or west."""
    reference = _text(side).upper()
    if not (isinstance(value, tuple) and reference in tuple(sides)):
        return None
    parts = cast("tuple[object, ...]", value)
    numbers = [float(part) for part in parts if isinstance(part, Real)]
    if len(parts) != 3 or len(numbers) != 3 or not all(number >= 0 for number in numbers):
        return None
    degrees = numbers[0] + numbers[1] / 60 + numbers[2] / 3600
    if not degrees <= most:
        return None
    return round(degrees if reference == sides[0] else -degrees, 6)
