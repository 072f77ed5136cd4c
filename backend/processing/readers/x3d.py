"""X3D as XML, written as assimp reads it.

Between numbers of X3D, commas are spaces; assimp takes them for decimal commas.
"""

import re

from backend.processing.readers.soundness import line_at
from backend.processing.scene import RefusedError

_END = b"-1"
_VALUE = rb"\s*=\s*(?:\"([^\"]*)\"|'([^']*)')"
_LISTS = re.compile(rb"\b(?:point|vector|color|index)\s*=\s*(?:\"[^\"]*\"|'[^']*')")
_LINE_SET = re.compile(rb"<(/?)LineSet\b([^<>]*>)")
_VERTEX_COUNT = re.compile(rb"\bvertexCount" + _VALUE)


def _with_indexed_lines(data: bytes) -> bytes:
    """Return X3D whose lines name their vertices: assimp fills lines of more than two.

    Raises:
        RefusedError: lines have more vertices than the file can hold.
    """
    left = len(data)  # of all lines together

    def index_lines(tag: re.Match[bytes]) -> bytes:
        def list_vertices(counts: re.Match[bytes]) -> bytes:
            nonlocal left
            indices, at = list[str](), 0
            for count in _values(counts[1], counts[2]):
                size = int(count[:10]) if count.isdigit() else 0
                left -= size
                if left < 0:
                    place = line_at(data, tag.start())
                    raise RefusedError(f"{place}: the lines have too many vertices")
                indices.extend((*map(str, range(at, at + size)), "-1"))
                at += size
            return f'coordIndex="{" ".join(indices)}"'.encode()

        return b"<" + tag[1] + b"IndexedLineSet" + _VERTEX_COUNT.sub(list_vertices, tag[2])

    return _LINE_SET.sub(index_lines, data) if b"<LineSet" in data else data


_INDICES = re.compile(
    rb"(<IndexedLineSet\b[^<>]*?\bcoordIndex|\b(?:coord|texCoord|normal|color)Index)" + _VALUE
)


def plain_x3d(data: bytes) -> bytes:
    """Return X3D with the lists that assimp reads as the format defines them."""

    def whole(attribute: re.Match[bytes]) -> bytes:
        # Faces without vertices and lines of a single one draw nothing, and assimp would crash on
        # them.
        least = 2 if attribute[1].startswith(b"<") else 1
        runs: list[list[bytes]] = [[]]
        for index in _values(attribute[2], attribute[3]):
            if index == _END:
                runs.append([])
            else:
                runs[-1].append(index)
        kept = (b" ".join([*run, _END]) for run in runs if len(run) >= least)
        return attribute[1] + b'="' + b" ".join(kept) + b'"'

    data = _LISTS.sub(lambda attribute: attribute[0].replace(b",", b" "), data)
    return _INDICES.sub(whole, _with_indexed_lines(data))


def _values(*quoted: bytes | None) -> list[bytes]:
    return next((text for text in quoted if text), b"").replace(b",", b" ").split()
