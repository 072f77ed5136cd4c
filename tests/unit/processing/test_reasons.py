"""Reasons of refusals say what a file has, in words: never its bytes."""

import random

from tests.unit.processing.samples import facts_without_pictures

_TEXTS = (
    *("ac", "ase", "bvh", "csm", "dae", "enff", "gltf", "ifc", "iges", "irr", "irrmesh", "lws"),
    *("md5anim", "md5camera", "md5mesh", "nff", "obj", "off", "ogex", "raw", "smd", "step", "vta"),
    *("x3d", "xgl", "dxf", "igs", "stp", "amf", "xml", "ac3d", "acc"),
)


def _dxf(*entities: str) -> bytes:
    body = "".join(f"0\n{kind}\n8\n0\n10\n0.0\n20\n0.0\n40\n1.0\n" for kind in entities)
    return f"0\nSECTION\n2\nENTITIES\n{body}0\nENDSEC\n0\nEOF\n".encode()


def test_bytes_that_are_no_text_are_refused_so_in_every_text_format() -> None:
    garbage = [random.Random(seed).randbytes(size) for seed, size in ((1, 60), (2, 5000))]

    wrong: dict[str, object] = {}
    for extension in _TEXTS:
        for data in garbage:
            facts = facts_without_pictures(f"a.{extension}", data)
            if facts.get("refused") != f"is not a text file, as {extension.upper()} files are":
                wrong[extension] = facts
    assert wrong == {}


def test_bytes_within_a_text_are_not_repeated() -> None:
    noise = random.Random(3).randbytes(300)
    header = b"ply\nformat ascii 1.0\nelement vertex 9\nproperty float x\nproperty float y\n"
    for name, data in {
        "a.ply": header + b"property float z\nend_header\n" + noise,
        "a.stl": b"solid a\nfacet normal 0 0 0\nouter loop\nvertex " + noise + b"\nendsolid\n",
    }.items():
        reason = str(facts_without_pictures(name, data).get("refused"))
        assert "not a text file" in reason, (name, reason)


def test_texts_in_other_encodings_are_texts() -> None:
    lines = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
    for encoding in ("latin-1", "shift-jis", "utf-16", "utf-8"):
        comment = "# größe\n" if encoding == "latin-1" else "# 立方体の形\n"
        facts = facts_without_pictures("a.obj", (comment + lines).encode(encoding))
        assert facts.get("triangles") == 1, (encoding, facts)


def test_a_drawing_of_curves_is_refused_with_their_names() -> None:
    reason = facts_without_pictures("a.dxf", _dxf("CIRCLE", "ARC", "CIRCLE")).get("refused")
    assert reason == (
        "this drawing has only 1 ARC and 2 CIRCLE, which are not read: "
        "convert curves and LWPOLYLINE to lines or POLYLINE, solids to 3DFACE"
    )
    reason = str(facts_without_pictures("a.dxf", _dxf("LWPOLYLINE", "TEXT")).get("refused"))
    assert "only 1 LWPOLYLINE and 1 TEXT, which are not read" in reason
    assert facts_without_pictures("a.dxf", _dxf()).get("refused") == (
        "this drawing has no lines, polylines or 3D faces"
    )


def test_curves_beside_lines_are_left_out_by_name() -> None:
    line = b"0\nLINE\n8\n0\n10\n0.0\n20\n0.0\n30\n0.0\n11\n1.0\n21\n1.0\n31\n0.0\n"
    data = _dxf("CIRCLE").replace(b"0\nENDSEC", line + b"0\nENDSEC")
    facts = facts_without_pictures("a.dxf", data)
    assert (facts.get("lines"), facts.get("leftOut")) == (1, "1 CIRCLE, which are not read"), facts
