"""Entities of drawings that are not read, counted without copies of the file."""

import tracemalloc

from backend.processing.readers import dxf

_BEGIN = b"  0\nSECTION\n  2\nHEADER\n  0\nCIRCLE\n  0\nENDSEC\n  0\nSECTION\n  2\nENTITIES\n"
_END = b"  0\nENDSEC\n  0\nSECTION\n  2\nBLOCKS\n  0\nARC\n  0\nENDSEC\n  0\nEOF\n"


def test_only_entities_that_are_not_read_are_named() -> None:
    entities = b"  0\nLINE\n 10\n0\n  0\nARC\n 40\n0\n 50\n0\n  0\nCIRCLE\n  0\nARC\n  0\n3DSOLID\n"
    assert dxf.not_read(_BEGIN + entities + _END) == "1 3DSOLID and 2 ARC and 1 CIRCLE"
    assert dxf.not_read((_BEGIN + entities + _END).replace(b"\n", b"\r\n")).startswith("1 3DSOLID")
    assert dxf.not_read(b"") == ""


def test_a_large_drawing_takes_less_memory_than_its_size() -> None:
    line = b"  0\nLINE\n  8\n0\n 10\n0.0\n 20\n0.0\n 30\n0.0\n 11\n1.0\n 21\n1.0\n 31\n1.0\n"
    drawing = _BEGIN + line * 50_000 + b"  0\nTEXT\n" + _END
    tracemalloc.start()
    found = dxf.not_read(drawing)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found == "1 TEXT"
    assert peak < len(drawing)
