"""A cube as STEP: a faceted solid of one product, in millimetres."""

import numpy as np

from tests.unit.processing.samples import CORNERS, SIDES

_HEAD = """ISO-10303-21;
HEADER;
FILE_DESCRIPTION((''),'2;1');
FILE_NAME('cube','2026-01-01T00:00:00',('author'),('organization'),'writer','the tests','');
FILE_SCHEMA(('AUTOMOTIVE_DESIGN { 1 0 10303 214 1 1 1 1 }'));
ENDSEC;
DATA;
"""
_CONTEXT = (
    "(GEOMETRIC_REPRESENTATION_CONTEXT(3)GLOBAL_UNCERTAINTY_ASSIGNED_CONTEXT((#11))"
    "GLOBAL_UNIT_ASSIGNED_CONTEXT((#8,#9,#10))REPRESENTATION_CONTEXT('',''))"
)
_PRODUCT = (
    "APPLICATION_CONTEXT('automotive design')",
    "PRODUCT_CONTEXT('',#1,'mechanical')",
    "PRODUCT_DEFINITION_CONTEXT('part definition',#1,'design')",
    "PRODUCT('cube','cube','',(#2))",
    "PRODUCT_DEFINITION_FORMATION('','',#4)",
    "PRODUCT_DEFINITION('design','',#5,#3)",
    "PRODUCT_DEFINITION_SHAPE('','',#6)",
    "(LENGTH_UNIT()NAMED_UNIT(*)SI_UNIT(.MILLI.,.METRE.))",
    "(NAMED_UNIT(*)PLANE_ANGLE_UNIT()SI_UNIT($,.RADIAN.))",
    "(NAMED_UNIT(*)SI_UNIT($,.STERADIAN.)SOLID_ANGLE_UNIT())",
    "UNCERTAINTY_MEASURE_WITH_UNIT(LENGTH_MEASURE(1.E-05),#8,'accuracy','')",
    _CONTEXT,
)


def cube_step(size: float = 1000.0) -> bytes:
    """Return a cube of `size` millimetres."""
    lines: list[str] = [*_PRODUCT]
    points: list[int] = []
    for corner in CORNERS:
        x, y, z = (f"{float(item) * size:.1f}" for item in corner)
        lines.append(f"CARTESIAN_POINT('',({x},{y},{z}))")
        points.append(len(lines))
    faces: list[str] = []
    for side in SIDES:
        lines.append(f"POLY_LOOP('',({','.join(f'#{points[corner]}' for corner in side)}))")
        lines.append(f"FACE_OUTER_BOUND('',#{len(lines)},.T.)")
        bound = len(lines)
        first, second, *_, last = (CORNERS[corner] for corner in side)
        for direction in (np.cross(second - first, last - first), second - first):
            x, y, z = (f"{float(item):.1f}" for item in direction)
            lines.append(f"DIRECTION('',({x},{y},{z}))")
        place = f"#{points[side[0]]},#{len(lines) - 1},#{len(lines)}"
        lines.append(f"AXIS2_PLACEMENT_3D('',{place})")
        lines.append(f"PLANE('',#{len(lines)})")
        lines.append(f"FACE_SURFACE('',(#{bound}),#{len(lines)},.T.)")
        faces.append(f"#{len(lines)}")
    lines.append(f"CLOSED_SHELL('',({','.join(faces)}))")
    lines.append(f"FACETED_BREP('cube',#{len(lines)})")
    lines.append(f"FACETED_BREP_SHAPE_REPRESENTATION('',(#{len(lines)}),#12)")
    lines.append(f"SHAPE_DEFINITION_REPRESENTATION(#7,#{len(lines)})")
    body = "".join(f"#{number}={line};\n" for number, line in enumerate(lines, 1))
    return f"{_HEAD}{body}ENDSEC;\nEND-ISO-10303-21;\n".encode()


def sheet_iges() -> bytes:
    """Return a ruled surface between two lines of 10 mm, 10 mm apart."""
    entities = (
        (110, "110,0.,0.,0.,10.,0.,0.;"),
        (110, "110,0.,10.,0.,10.,10.,0.;"),
        (118, "118,1,3,0,0;"),
    )
    start = [_record("a sheet", "S", 1)]
    head = "1H,,1H;,4Hcube,8Hcube.igs,5Htests,5Htests,32,38,6,308,15,4Hcube,1.,2,2HMM,1,0.01,"
    head += "15H20260101.000000,1.E-06,10.,6Hauthor,4Hcorp,11,0,15H20260101.000000;"
    global_lines = [head[at : at + 72] for at in range(0, len(head), 72)]
    directory: list[str] = []
    parameters: list[str] = []
    for number, (kind, values) in enumerate(entities, 1):
        at, status = 2 * number - 1, "00010000" if kind == 110 else "00000000"
        first = f"{kind:8}{number:8}{0:8}{1:8}{0:8}{0:8}{0:8}{0:8}{status}"
        second = f"{kind:8}{0:8}{0:8}{1:8}{0:8}{'':8}{'':8}{'':8}{0:8}"
        directory += [f"{first}D{at:7}", f"{second}D{at + 1:7}"]
        parameters.append(f"{values:64}{at:8}P{number:7}")
    counts = (("S", 1), ("G", len(global_lines)), ("D", len(directory)), ("P", len(parameters)))
    end = "".join(f"{name}{count:7}" for name, count in counts)
    lines = [
        *start,
        *(_record(line, "G", number) for number, line in enumerate(global_lines, 1)),
        *directory,
        *parameters,
        _record(end, "T", 1),
    ]
    return ("\n".join(lines) + "\n").encode()


def _record(text: str, section: str, number: int) -> str:
    return f"{text:72}{section}{number:7}"


def sphere_step(radius: float) -> bytes:
    """Return a sphere of `radius` millimetres: one face without edges."""
    lines = [
        *_PRODUCT,
        "CARTESIAN_POINT('',(0.,0.,0.))",
        "DIRECTION('',(0.,0.,1.))",
        "DIRECTION('',(1.,0.,0.))",
        "AXIS2_PLACEMENT_3D('',#13,#14,#15)",
        f"SPHERICAL_SURFACE('',#16,{radius:.1f})",
        f"CARTESIAN_POINT('',(0.,0.,{-radius:.1f}))",
        "VERTEX_POINT('',#18)",
        "VERTEX_LOOP('',#19)",
        "FACE_BOUND('',#20,.T.)",
        "ADVANCED_FACE('',(#21),#17,.T.)",
        "CLOSED_SHELL('',(#22))",
        "MANIFOLD_SOLID_BREP('',#23)",
        "ADVANCED_BREP_SHAPE_REPRESENTATION('',(#24),#12)",
        "SHAPE_DEFINITION_REPRESENTATION(#7,#25)",
    ]
    body = "".join(f"#{number}={line};\n" for number, line in enumerate(lines, 1))
    return f"{_HEAD}{body}ENDSEC;\nEND-ISO-10303-21;\n".encode()
