"""The unit of the pages of PDF (`UserUnit`, ISO 32000-1, 14.11.2), which PDFium does not return."""

import re
import zlib

from backend.processing import limits

_UNIT = re.compile(rb"/UserUnit\s*(\d*\.?\d+)")
# Page objects may be in compressed streams of objects.
_OBJECTS = re.compile(rb"/Type\s*/ObjStm\b[^>]*>>\s*stream\r?\n")


def user_unit(data: bytes, pages: int) -> float:
    """Return how many points of 1/72 inch a unit of the pages is; 1 unless all pages state one."""
    texts, left = [data], limits.JSON_BYTES
    for start in _OBJECTS.finditer(data):
        try:
            texts.append(zlib.decompressobj().decompress(data[start.end() :], left))
        except zlib.error:
            continue
        left -= len(texts[-1])
        if left <= 0:
            break
    units = [float(unit[1]) for text in texts for unit in _UNIT.finditer(text)]
    is_stated = len(units) >= pages and len(set(units)) == 1
    return units[0] if is_stated else 1.0
