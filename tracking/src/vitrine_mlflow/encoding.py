"""Encodings of values inside keys. DynamoDB compares keys by their UTF-8 bytes."""

import hashlib
import math
import struct
from datetime import UTC, datetime, timedelta

# DynamoDB's limits for the values of keys.
SORT_KEY_BYTES = 1024
PARTITION_KEY_BYTES = 2048
# The sign bit of an IEEE double: inverted for positive numbers, and all bits of negative ones,
# texts of their bits sort as the numbers do.
_SIGN = 1 << 63
_ALL_ONES = (1 << 64) - 1
_NAN_RANK = "~"  # sorts after every hexadecimal digit
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_MS = -62_135_596_800_000  # 0001-01-01, the first year that ISO 8601 text can hold
# The end of the year 9999, the last that `datetime` has.
_LAST_MS = 253_402_300_799_999
# 128 bits in base 16.
_DIGEST_LENGTH = 32


def escape(text: str) -> str:
    """Percent-encode `#`, which separates the segments of a key, and `%` itself."""
    return text.replace("%", "%25").replace("#", "%23")


def unescape(text: str) -> str:
    """Return what `escape` encoded."""
    return text.replace("%23", "#").replace("%25", "%")


def ordered_text(text: str) -> str:
    """Percent-encode every character below `&`, so that `#` after a value sorts first.

    Two values compare as their encodings do, also when one is a prefix of the other.
    """
    return "".join(f"%{ord(char):02X}" if char < "&" else char for char in text)


def clip(text: str, limit: int) -> str:
    """Text of at most `limit` bytes: a longer one keeps its start and gets a digest of all of it.

    Keys that share the start are no longer ordered among themselves; callers compare full values.
    """
    encoded = text.encode()
    if len(encoded) <= limit:
        return text
    start = encoded[: limit - _DIGEST_LENGTH - 1].decode(errors="ignore")
    return f"{start}~{digest(text)}"


def digest(*texts: str) -> str:
    """A hexadecimal name for texts of any length; different lists have different names."""
    joined = "\0".join(f"{len(text)}:{text}" for text in texts)
    return hashlib.sha256(joined.encode()).hexdigest()[:_DIGEST_LENGTH]


def ordered_double(value: float) -> str:
    """16 hexadecimal digits that sort as IEEE doubles do; NaN sorts last.

    Zero and negative zero are equal and have one encoding.
    """
    if math.isnan(value):
        return _NAN_RANK
    return f"{_ordered_bits(value):016x}"


def inverted_double(value: float) -> str:
    """The same for descending order; NaN sorts last here too."""
    if math.isnan(value):
        return _NAN_RANK
    return f"{_ALL_ONES - _ordered_bits(value):016x}"


def invert(encoded: str) -> str:
    """Return the encoding that sorts in the other direction; its inverse is the first one."""
    return encoded if encoded == _NAN_RANK else f"{_ALL_ONES - int(encoded, 16):016x}"


def _ordered_bits(value: float) -> int:
    (bits,) = struct.unpack(">Q", struct.pack(">d", value + 0.0))
    return int(bits ^ _ALL_ONES if bits & _SIGN else bits | _SIGN)


def double_of(encoded: str) -> float:
    """Return the value of `ordered_double`."""
    if encoded == _NAN_RANK:
        return math.nan
    bits = int(encoded, 16)
    raw = bits & ~_SIGN if bits & _SIGN else bits ^ _ALL_ONES
    (value,) = struct.unpack(">d", struct.pack(">Q", raw))
    return float(value)


def ordered_integer(number: int) -> str:
    """16 hexadecimal digits that sort as signed 64-bit integers do."""
    return f"{number + _SIGN:016x}"


def iso_time(milliseconds: int | None) -> str:
    """ISO 8601 text that sorts as time does; no time sorts first.

    Times outside the years 1 to 9999 get the nearest one: readers compare the full number too.
    """
    if milliseconds is None:
        return "-"
    bounded = min(max(milliseconds, _FIRST_MS), _LAST_MS)
    moment = _EPOCH + timedelta(milliseconds=bounded)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
