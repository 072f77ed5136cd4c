"""Texts that assimp reads wrongly, written as it reads them."""

import re

from backend.processing.readers.amf import with_placed_objects
from backend.processing.readers.text import utf8_lines
from backend.processing.readers.x3d import plain_x3d

_ROOT = re.compile(
    rb"(?:\s++|(?><\?.*?\?>)|(?><!--.*?-->)|(?><!DOCTYPE[^>\[]*+>))*+<([\w.-]+):\w", re.DOTALL
)


def without_prefix(data: bytes) -> bytes:
    """Return XML without the namespace prefix of its root, which assimp takes for names' part."""
    root = _ROOT.match(data[:4096])
    return re.sub(rb"(</?)" + re.escape(root[1]) + rb":", rb"\1", data) if root else data


_VECTORS = re.compile(rb">[^<>]*+<")


def with_plain_lists(data: bytes) -> bytes:
    """Return XML with the lists that assimp reads as the format defines them.

    XGL requires a comma between numbers, which assimp takes for a decimal comma.
    """
    start = data[:4096]
    if b"<X3D" in start:
        return plain_x3d(data)
    if b"<amf" in start:
        return with_placed_objects(data)
    if b"<WORLD" in start:
        return _VECTORS.sub(lambda vector: vector[0].replace(b",", b" ,"), data)
    return data


def off_rows(data: bytes) -> bytes:
    """Return a text OFF with a line for each vertex and face, which may share or span lines.

    Texts with a line for each are returned as they are: more than coordinates may be in them.
    """
    lines = [
        line for row in utf8_lines(data).split(b"\n") if (line := row.split(b"#", 1)[0].strip())
    ]
    head = b" ".join(lines[:2]).split()[:4]
    if len(head) < 4 or head[0] != b"OFF" or not all(count.isdigit() for count in head[1:]):
        return data
    vertices, faces = (int(count[:10]) for count in head[1:3])
    counts_at = 1 if len(lines[0].split()) > 1 else 2
    if len(lines) == counts_at + vertices + faces:
        return data
    tokens = b" ".join(lines).split()[4:]
    rows = [tokens[at : at + 3] for at in range(0, min(3 * vertices, len(tokens)), 3)]
    at = 3 * vertices
    while at < len(tokens) and tokens[at].isdigit():
        size = 1 + int(tokens[at][:10])
        rows.append(tokens[at : at + size])
        at += size
    if at != len(tokens) or len(rows) != vertices + faces:
        return data
    return b"\n".join([b"OFF", b" ".join(head[1:]), *(b" ".join(row) for row in rows), b""])
