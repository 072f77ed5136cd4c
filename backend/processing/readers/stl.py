"""STL, binary and as text."""

import re
import struct
from dataclasses import replace
from itertools import islice

import numpy as np

from backend.processing import limits
from backend.processing.readers.soundness import finite_rows, line_at
from backend.processing.readers.text import coordinates, require_text, utf8_lines
from backend.processing.scene import Floats, Material, Part, RefusedError, Scene, UnsupportedError

_HEADER, _FACET = 84, 50
# A name ends with its line, or at the first facet: a file may be a single line.
_NAME = re.compile(rb"\b(?:end)?solid[^\n]*?(?=\n|\bfacet\s+normal\b|\Z)", re.IGNORECASE)
_END = re.compile(rb"\bend[ \t]?solid", re.IGNORECASE)
_VERTEX = re.compile(rb"\bvertex\s+(\S+\s+\S+\s+\S+)", re.IGNORECASE)


def read(data: bytes) -> Scene:
    """Read an STL file."""
    count = struct.unpack_from("<I", data, 80)[0] if len(data) >= _HEADER else 0
    # Binary files may begin with `solid` too: their size decides.
    if len(data) >= _HEADER and len(data) == _HEADER + _FACET * count:
        return _binary(data, count)
    text = utf8_lines(data[:4000]).lstrip().lower()
    if text.startswith(b"solid") and b"facet" in text:
        return _text(utf8_lines(data))
    if len(data) < _HEADER:
        raise UnsupportedError("truncated: an STL file has at least 84 bytes")
    held = (len(data) - _HEADER) // _FACET
    if held < count:
        raise RefusedError(f"truncated: {_surplus(count, held)}")
    if held > count == 0:
        raise RefusedError(_surplus(count, held))
    scene = _binary(data, count)
    if held == count:  # a few bytes may follow
        return scene
    return replace(scene, left_out=(_surplus(count, held), *scene.left_out))


def _surplus(count: int, held: int) -> str:
    return f"the header declares {count} triangles, the file has {held}"


def _binary(data: bytes, count: int) -> Scene:
    if count > limits.TRIANGLES or count * 3 > limits.VERTICES:
        raise RefusedError(f"{count} triangles are too many")
    facet = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")])
    facets = np.frombuffer(data, facet, count, _HEADER)
    corners = facets["corners"].reshape(-1, 3).astype(np.float64)
    name = data[:80].split(b"\0")[0].decode("ascii", "replace").strip()
    return _scene(corners, "" if name.lower().startswith("solid") else name)


def _text(data: bytes) -> Scene:
    require_text(data, "these STL")
    lines = _VERTEX.findall(_NAME.sub(b"", data))
    ends = [end.start() for end in _END.finditer(data)]
    if not ends or ends[-1] < data.lower().rfind(b"facet normal"):
        raise RefusedError("truncated: the text STL file does not end with endsolid")
    if len(lines) % 3:
        raise RefusedError(f"the STL file has {len(lines)} corners, which are no triangles")
    if len(lines) > limits.VERTICES:
        raise RefusedError(f"{len(lines) // 3} triangles are too many")
    return _scene(coordinates(lines, (3,), lambda nth: _place(data, nth)), "")


def _place(data: bytes, nth: int) -> str:
    vertex = next(islice(_VERTEX.finditer(_NAME.sub(b"", data)), nth, None))
    return line_at(_NAME.sub(b"", data), vertex.start())


def _scene(corners: Floats, generator: str) -> Scene:
    """Return the facets as stored, without shared vertices: STL files have sharp edges."""
    if not len(corners):
        raise UnsupportedError("contains no geometry")
    printable = generator if generator.isprintable() else ""
    finite = finite_rows(corners)
    whole = finite_rows(corners.reshape(-1, 9))
    said: tuple[str, ...] = ()
    if not whole.all():
        vertices = f"{int((~finite).sum())} of {len(corners)} vertices are not finite"
        said = (f"{vertices}, in {int((~whole).sum())} of {len(whole)} triangles",)
        corners = corners.reshape(-1, 3, 3)[whole].reshape(-1, 3)
    parts = [Part(corners, np.arange(len(corners)).reshape(-1, 3))]
    return Scene(
        "STL",
        parts,
        [Material(declared=False)],
        meshes=1,
        generator=printable[:80],
        up="z",
        left_out=said,
    )
