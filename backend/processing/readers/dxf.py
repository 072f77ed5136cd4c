"""What assimp does not read of a drawing: it skips most kinds of entities."""

from collections import Counter

from backend.processing.readers.text import plain

_READ = frozenset({"3DFACE", "3DLINE", "INSERT", "LINE", "POLYLINE", "SEQEND", "VERTEX"})


def not_read(data: bytes) -> str:
    """Return the entities of a drawing as text that are not read, with their numbers."""
    lines = plain(data).split(b"\n")
    found, section, before = Counter[str](), b"", b""
    for code, value in zip(lines[::2], lines[1::2], strict=False):
        tag, word = code.strip(), value.strip().upper()
        if tag == b"2" and before == b"SECTION":
            section = word
        elif tag == b"0" and section == b"ENTITIES":
            found[word[:40].decode("ascii", "replace")] += 1
        before = word if tag == b"0" else b""
    kinds = sorted(found.keys() - _READ - {"ENDSEC", "SECTION", "EOF"})
    return " and ".join(f"{found[kind]} {kind}" for kind in kinds[:20])


def reason(data: bytes) -> str:
    """Return why a drawing without lines and faces cannot be read."""
    kinds = not_read(data)
    if not kinds:
        return "this drawing has no lines, polylines or 3D faces"
    return (
        f"this drawing has only {kinds}, which are not read: convert curves to lines or "
        "polylines, solids to 3D faces"
    )
