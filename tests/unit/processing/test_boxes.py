"""A box of 1 x 2 x 3 in every format: facts in the numbers, unit and axes of the file.

The GLB is in metres with y up.
"""

import io
import struct
from collections.abc import Iterable, Sequence

import laspy
import numpy as np

from backend.processing.files import Files
from backend.processing.readers.models import read_model
from backend.spec.formats import FORMAT_OF, extension_of
from tests.unit.processing.samples import SIDES as _SIDES
from tests.unit.processing.samples import Asset, cube_gltf, facts_without_pictures, glb
from tests.unit.processing.test_e57 import FILES as E57
from tests.unit.processing.test_headers import WHOLE, broken_headers
from tests.unit.processing.test_rhino import FILES as RHINO
from tests.unit.processing.test_splats import ply_splats, splat, spz
from tests.unit.processing.test_units import amf_of, collada_of, fbx_of, glb_extents, threemf_of
from tests.unit.processing.test_usd import mesh as usd_mesh

CORNERS = [(x, y, z) for x in (0, 1) for y in (0, 2) for z in (0, 3)]
TRIANGLES = [t for s in _SIDES for t in ((s[0], s[1], s[2]), (s[0], s[2], s[3]))]


def joined(rows: Iterable[Sequence[object]], form: str = "{} {} {}", end: str = "\n") -> str:
    return "".join(form.format(*row) + end for row in rows)


def of_corners(form: str) -> str:
    return joined(
        [[n for corner in triangle for n in CORNERS[corner]] for triangle in TRIANGLES], form
    )


def obj() -> str:
    return joined(CORNERS, "v {} {} {}") + joined(
        [[c + 1 for c in triangle] for triangle in TRIANGLES], "f {} {} {}"
    )


def ply() -> str:
    properties = "".join(f"property float {axis}\n" for axis in "xyz")
    return (
        f"ply\nformat ascii 1.0\nelement vertex 8\n{properties}element face 12\n"
        "property list uchar int vertex_indices\nend_header\n"
        + joined(CORNERS)
        + joined(TRIANGLES, "3 {} {} {}")
    )


def stl() -> str:
    corner = "vertex {} {} {}\n"
    facet = f"facet normal 0 0 0\nouter loop\n{corner * 3}endloop\nendfacet"
    return f"solid box\n{of_corners(facet)}endsolid box\n"


def binary_stl() -> bytes:
    facets = b"".join(
        struct.pack("<12fH", 0, 0, 0, *(n for c in triangle for n in CORNERS[c]), 0)
        for triangle in TRIANGLES
    )
    return bytes(80) + struct.pack("<I", 12) + facets


def dxf(units: int | None) -> str:
    header = f"0\nSECTION\n2\nHEADER\n9\n$INSUNITS\n70\n     {units}\n0\nENDSEC\n"
    group = "".join(f"{10 * (1 + axis) + n}\n{{}}\n" for n in range(3) for axis in range(3))
    last = "13\n{6}\n23\n{7}\n33\n{8}"
    rows = [[n for corner in triangle for n in CORNERS[corner]] for triangle in TRIANGLES]
    faces = "".join(
        "0\n3DFACE\n8\n0\n" + group.format(*row) + last.format(*row) + "\n" for row in rows
    )
    entities = f"0\nSECTION\n2\nENTITIES\n{faces}0\nENDSEC\n0\nEOF\n"
    return (header if units is not None else "") + entities


def threemf() -> bytes:
    return threemf_of(CORNERS, TRIANGLES, 'unit="inch"')


def x3d(head: str) -> str:
    faces, points = joined(TRIANGLES, "{} {} {} -1", " "), joined(CORNERS, end=" ")
    return (
        f'<?xml version="1.0"?><X3D version="3.3">{head}<Scene><Shape>'
        f'<IndexedFaceSet coordIndex="{faces}"><Coordinate point="{points}"/></IndexedFaceSet>'
        "</Shape></Scene></X3D>"
    )


def ase() -> str:
    corners = joined([(n, *corner) for n, corner in enumerate(CORNERS)], "*MESH_VERTEX {} {} {} {}")
    faces = joined(
        [(n, *triangle) for n, triangle in enumerate(TRIANGLES)],
        "*MESH_FACE {}: A: {} B: {} C: {} AB: 1 BC: 1 CA: 1 *MESH_SMOOTHING 1 *MESH_MTLID 0",
    )
    return (
        '*3DSMAX_ASCIIEXPORT 200\n*GEOMOBJECT {\n*NODE_NAME "a"\n*MESH {\n*MESH_NUMVERTEX 8\n'
        f"*MESH_NUMFACES 12\n*MESH_VERTEX_LIST {{\n{corners}}}\n"
        f"*MESH_FACE_LIST {{\n{faces}}}\n}}\n}}\n"
    )


def threeds() -> bytes:
    def chunk(kind: int, *parts: bytes) -> bytes:
        content = b"".join(parts)
        return struct.pack("<HI", kind, 6 + len(content)) + content

    corners = b"".join(struct.pack("<3f", *corner) for corner in CORNERS)
    faces = b"".join(struct.pack("<4H", *triangle, 7) for triangle in TRIANGLES)
    mesh = chunk(
        0x4100,
        chunk(0x4110, struct.pack("<H", 8), corners),
        chunk(0x4120, struct.pack("<H", 12), faces),
    )
    return chunk(0x4D4D, chunk(0x3D3D, chunk(0x4000, b"box\0", mesh)))


def ac() -> str:
    surfaces = joined(TRIANGLES, "SURF 0x10\nmat 0\nrefs 3\n{} 0 0\n{} 0 0\n{} 0 0")
    material = 'MATERIAL "m" rgb 1 1 1 amb 0 0 0 emis 0 0 0 spec 0 0 0 shi 10 trans 0'
    return (
        f"AC3Db\n{material}\nOBJECT world\nkids 1\nOBJECT poly\nnumvert 8\n{joined(CORNERS)}"
        f"numsurf 12\n{surfaces}kids 0\n"
    )


def directx() -> str:
    corners, faces = joined(CORNERS, "{};{};{};", ",")[:-1], joined(TRIANGLES, "3;{},{},{};", ",")
    return f"xof 0303txt 0032\nMesh m {{\n 8;\n{corners};\n 12;\n{faces[:-1]};\n}}\n"


def gltf_binary() -> bytes:
    binary = np.array(CORNERS, "<f4").tobytes() + np.array(TRIANGLES, "<u4").tobytes()
    return glb(cube_gltf(), binary)


def las() -> bytes:
    cloud = laspy.create()
    cloud.x, cloud.y, cloud.z = np.array(CORNERS, np.float64).T
    out = io.BytesIO()
    cloud.write(out)
    return out.getvalue()


def usda(axis: str) -> bytes:
    head = f'#usda 1.0\n(upAxis = "{axis.upper()}"\nmetersPerUnit = 0.0254)\n'
    return (head + usd_mesh(corners=CORNERS, sides=TRIANGLES)).encode()


_INCH, _UNIT = 0.0254, '<unit meter="0.0254"/>'
_MILLIMETRES = '<head><unit category="length" name="mm" conversionFactor="0.001"/></head>'
BOXES: dict[str, tuple[str, str | bytes, str, float | None]] = {
    "obj": ("a.obj", obj(), "y", None),
    "ply": ("a.ply", ply(), "y", None),
    "stl": ("a.stl", stl(), "z", None),
    "binary stl": ("a.stl", binary_stl(), "z", None),
    "off": ("a.off", f"OFF\n8 12 0\n{joined(CORNERS)}{joined(TRIANGLES, '3 {} {} {}')}", "y", None),
    "nff": ("a.nff", of_corners("p 3" + "\n{} {} {}" * 3), "y", None),
    "raw": ("a.raw", of_corners("{} {} {} " * 3), "y", None),
    "glb": ("a.glb", gltf_binary(), "y", 1.0),
    "dxf without a header": ("a.dxf", dxf(None), "z", None),
    "dxf without a unit": ("a.dxf", dxf(0), "z", None),
    "dxf of inches": ("a.dxf", dxf(1), "z", _INCH),
    "dxf of millimetres": ("a.dxf", dxf(4), "z", 0.001),
    "dxf of survey feet": ("a.dxf", dxf(21), "z", 1200 / 3937),
    "dxf of an unknown unit": ("a.dxf", dxf(99), "z", None),
    "3mf of inches": ("a.3mf", threemf(), "z", _INCH),
    "amf of feet": ("a.amf", amf_of(CORNERS, TRIANGLES, 'unit="feet"'), "z", 0.3048),
    "x3d": ("a.x3d", x3d(""), "y", 1.0),
    "x3d of millimetres": ("a.x3d", x3d(_MILLIMETRES), "y", 0.001),
    "ase": ("a.ase", ase(), "z", None),
    "3ds": ("a.3ds", threeds(), "z", None),
    "ac": ("a.ac", ac(), "y", None),
    "x": ("a.x", directx(), "y", None),
    "las": ("a.las", las(), "z", None),
    "splats as ply": ("a.ply", ply_splats(), "y", None),
    "splat": ("a.splat", splat(), "y", None),
    "e57": ("a.e57", E57["13.e57"], "z", 1.0),
    "3dm of inches": ("a.3dm", RHINO["mesh.3dm"], "z", _INCH),
    "spz": ("a.spz", spz(), "y", None),
    **{f"usd with {axis} up": ("a.usda", usda(axis), axis, _INCH) for axis in "yz"},
    **{
        f"collada with {axis} up": (
            "a.dae",
            collada_of(CORNERS, TRIANGLES, nth, _UNIT),
            axis,
            _INCH,
        )
        for nth, axis in enumerate("xyz")
    },
    **{
        f"fbx with {axis} up": ("a.fbx", fbx_of(CORNERS, TRIANGLES, nth, 1), axis, 0.01)
        for nth, axis in enumerate("xyz")
    },
}
_UPRIGHT = {"x": [2, 1, 3], "y": [1, 2, 3], "z": [1, 3, 2]}
"""The extents of a GLB with y up, in units of the file."""


def test_an_axis_points_up_only_where_the_file_or_its_format_defines_it() -> None:
    named = {
        "3dm",
        "3ds",
        "3mf",
        "amf",
        "ase",
        "dae",
        "dxf",
        "fbx",
        "glb",
        "las",
        "spz",
        "usda",
        "x3d",
    }
    stated = {
        case: "upAxis" in facts_without_pictures(BOXES[case][0], data)
        for case, data in _CONTENTS.items()
    }
    assert stated == {case: extension_of(BOXES[case][0]) in named for case in BOXES}


def test_a_box_has_its_extents_unit_and_axes_in_every_format() -> None:
    wrong: dict[str, object] = {}
    for case, (name, _, up, metres) in BOXES.items():
        data = _CONTENTS[case]
        facts = facts_without_pictures(name, data)
        if "refused" in facts:
            wrong[case] = facts
            continue
        scene = read_model(data, name, extension_of(name), Files(Asset()))
        extents = np.array(glb_extents(scene)) / (metres or 1)
        sizes = [float(str(facts[f"size{axis}"])) for axis in "XYZ"]
        stated = facts.get("metresPerUnit")
        unit = stated is None if metres is None else np.isclose(float(str(stated)), metres)
        exact = np.allclose(sizes, [1, 2, 3], 1e-5) and np.allclose(extents, _UPRIGHT[up], 1e-5)
        if not (exact and unit and facts.get("upAxis") in {up, None}):
            wrong[case] = (facts, extents.tolist())
    assert wrong == {}


_CONTENTS = {
    case: data if isinstance(data, bytes) else data.encode()
    for case, (_, data, _, _) in BOXES.items()
}
_TEXTS = {
    case: _CONTENTS[case].decode()
    for case, (name, data, _, _) in BOXES.items()
    if isinstance(data, str) or name.endswith(("amf", "dae", "fbx"))
}


def test_byte_order_marks_and_line_ends_change_nothing_in_any_text() -> None:
    wrong: dict[str, object] = {}
    for case, text in _TEXTS.items():
        name = BOXES[case][0]
        whole = facts_without_pictures(name, text.encode())
        for end in ("\n", "\r\n", "\r"):
            for mark in ("", "\ufeff"):
                facts = facts_without_pictures(name, (mark + text.replace("\n", end)).encode())
                if facts != whole:
                    wrong[f"{case} {end!r} {mark!r}"] = dict(facts.items() - whole.items())
    assert wrong == {}


def test_a_broken_header_is_refused_or_changes_nothing_in_promised_formats() -> None:
    wrong: dict[str, object] = {}
    for case, (name, _, _, _) in BOXES.items():
        if FORMAT_OF[extension_of(name)].tier == "Read":
            continue
        whole = facts_without_pictures(name, _CONTENTS[case])
        for kind, broken in broken_headers(_CONTENTS[case]).items():
            facts = facts_without_pictures(name, broken)
            error = {"refused", "endsWithinLine", "leftOut"} & facts.keys()
            if not error and facts != whole and kind not in WHOLE.get(name, ()):
                wrong[f"{case} {kind}"] = facts
    assert wrong == {}
