"""X3D as XML: what assimp reads wrongly is refused, or written as it reads it.

Between numbers of X3D, commas are spaces; assimp takes them for decimal commas.
"""

import re

from backend.processing.readers.soundness import line_at, no_number
from backend.processing.readers.text_lines import coordinate
from backend.processing.scene import RefusedError

_END = b"-1"
_VALUE = rb"\s*=\s*(?:\"([^\"]*)\"|'([^']*)')"
_POINTS = re.compile(rb"<(?:\w+:)?(\w+)[^<>]*?\bpoint" + _VALUE)
_FLAT = frozenset({b"Polypoint2D", b"TextureCoordinate"})
_TRIANGLES = re.compile(rb"<(?:\w+:)?IndexedTriangle(Strip|Fan)?Set\b[^<>]*?\bindex" + _VALUE)
_DECIMAL = re.compile(rb"[-+]?\d+,\d+")
_PLACES = re.compile(
    rb"\b(?:translation|rotation|scale|scaleOrientation|center|crossSection|spine|orientation|height"
    rb"|radius|bottomRadius|size|[xz]Spacing|[xz]Dimension)" + _VALUE
)


def require_x3d(data: bytes) -> None:
    """Check points, shapes, transformations and triangles of X3D.

    Raises:
        RefusedError: the line, and what is in it.
    """
    for found in _PLACES.finditer(data):
        for token in _values(found[1], found[2]):
            coordinate(data, found.start(), token)
    for found in _POINTS.finditer(data):
        text, size = found[2] or found[3] or b"", 2 if found[1] in _FLAT else 3
        words = text.split()
        if words and len(words) % size == 0 and all(map(_DECIMAL.fullmatch, words)):
            raise no_number(line_at(data, found.start()), words[0])
        tokens = text.replace(b",", b" ").split()
        for token in tokens:
            coordinate(data, found.start(), token)
        if len(tokens) % size:
            place = line_at(data, found.start())
            raise RefusedError(f"{place}: {len(tokens)} numbers are no whole points")
    for found in _TRIANGLES.finditer(data):
        indices = _values(found[2], found[3])
        used = sum(index != _END for index in indices)
        if used < 3 or (not found[1] and used % 3):  # assimp would crash
            place = line_at(data, found.start())
            raise RefusedError(f"{place}: {len(indices)} indices are no whole triangles")


_LISTS = re.compile(rb"\b(?:point|vector|color|index)\s*=\s*(?:\"[^\"]*\"|'[^']*')")
_LINE_SET = re.compile(rb"<(/?)LineSet\b([^<>]*>)")
_VERTEX_COUNT = re.compile(rb"\bvertexCount" + _VALUE)


def _with_indexed_lines(data: bytes) -> bytes:
    """Return X3D whose lines name their vertices: assimp fills lines of more than two.

    Raises:
        RefusedError: lines have more vertices than the file can hold.
    """
    left = len(data)  # of all lines together

    def indexed(found: re.Match[bytes]) -> bytes:
        def listed(counts: re.Match[bytes]) -> bytes:
            nonlocal left
            indices, at = list[str](), 0
            for count in _values(counts[1], counts[2]):
                size = int(count[:10]) if count.isdigit() else 0
                left -= size
                if left < 0:
                    place = line_at(data, found.start())
                    raise RefusedError(f"{place}: the lines have too many vertices")
                indices.extend((*map(str, range(at, at + size)), "-1"))
                at += size
            return f'coordIndex="{" ".join(indices)}"'.encode()

        return b"<" + found[1] + b"IndexedLineSet" + _VERTEX_COUNT.sub(listed, found[2])

    return _LINE_SET.sub(indexed, data) if b"<LineSet" in data else data


_INDICES = re.compile(
    rb"(<IndexedLineSet\b[^<>]*?\bcoordIndex|\b(?:coord|texCoord|normal|color)Index)" + _VALUE
)


def plain_x3d(data: bytes) -> bytes:
    """Return X3D with the lists that assimp reads as the format defines them."""

    def whole(found: re.Match[bytes]) -> bytes:
        # Faces without vertices and lines of a single one draw nothing, and assimp would crash on
        # them.
        least = 2 if found[1].startswith(b"<") else 1
        runs: list[list[bytes]] = [[]]
        for index in _values(found[2], found[3]):
            if index == _END:
                runs.append([])
            else:
                runs[-1].append(index)
        kept = (b" ".join([*run, _END]) for run in runs if len(run) >= least)
        return found[1] + b'="' + b" ".join(kept) + b'"'

    data = _LISTS.sub(lambda found: found[0].replace(b",", b" "), data)
    return _INDICES.sub(whole, _with_indexed_lines(data))


def _values(*quoted: bytes | None) -> list[bytes]:
    return next((text for text in quoted if text), b"").replace(b",", b" ").split()
