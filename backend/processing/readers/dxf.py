"""What assimp does not read of a drawing: it skips most kinds of entities."""

import re
from collections import Counter

from backend.processing.readers.text import plain

_READ = frozenset({"3DFACE", "3DLINE", "INSERT", "LINE", "POLYLINE", "SEQEND", "VERTEX"})
_ENTITIES = re.compile(rb"(?m)^[ \t]*2[ \t]*\n[ \t]*ENTITIES[ \t]*$")
# A value of 0 is followed by a group code, which has no letters.
_ENTITY = re.compile(rb"(?m)^[ \t]*0[ \t]*\n(?=[ \t]*(\w*[A-Za-z_]\w*))")


def not_read(data: bytes) -> str:
    """Return the entities of a drawing as text that are not read, with their numbers."""
    text, found = plain(data), Counter[str]()
    section = _ENTITIES.search(text)
    for entity in _ENTITY.finditer(text, section.end()) if section else ():
        kind = entity[1][:40].decode().upper()
        if kind == "ENDSEC":
            break
        found[kind] += 1
    kinds = sorted(found.keys() - _READ - {"EOF"})
    return " and ".join(f"{found[kind]} {kind}" for kind in kinds[:20])


def reason(data: bytes) -> str:
    """Return why a drawing without lines and faces cannot be read."""
    kinds = not_read(data)
    if not kinds:
        return "this drawing has no lines, polylines or 3D faces"
    return (
        f"this drawing has only {kinds}, which are not read: convert curves and LWPOLYLINE to "
        "lines or POLYLINE, solids to 3DFACE"
    )
