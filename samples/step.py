"""A STEP file (AP214) of bodies that are stacks of round steps, such as a flange with a hub.

Written as boundary representation: planes with circular edges, and cylinders with a seam.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

Place = tuple[float, float, float]
_UP, _RIGHT = (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)


class Flange(NamedTuple):
    """Lengths in millimetres."""

    radius: float = 60.0
    thickness: float = 14.0
    hub: float = 34.0
    height: float = 42.0
    bore: float = 20.0
    holes: int = 6
    hole: float = 5.5
    pitch: float = 46.0


class _Ring(NamedTuple):
    """A circular edge: its number, and the number of the vertex where it begins."""

    edge: int
    vertex: int


class _File:
    def __init__(self) -> None:
        self.lines = list[str]()

    def add(self, text: str) -> int:
        self.lines.append(f"#{len(self.lines) + 1}={text};")
        return len(self.lines)

    def point(self, place: Place) -> int:
        return self.add(f"CARTESIAN_POINT('',({','.join(map(_number, place))}))")

    def direction(self, way: Place) -> int:
        return self.add(f"DIRECTION('',({','.join(map(_number, way))}))")

    def axes(self, place: Place) -> int:
        parts = self.point(place), self.direction(_UP), self.direction(_RIGHT)
        return self.add("AXIS2_PLACEMENT_3D('',#{},#{},#{})".format(*parts))

    def ring(self, radius: float, place: Place) -> _Ring:
        x, y, z = place
        vertex = self.add(f"VERTEX_POINT('',#{self.point((x + radius, y, z))})")
        circle = self.add(f"CIRCLE('',#{self.axes(place)},{_number(radius)})")
        return _Ring(self.add(f"EDGE_CURVE('',#{vertex},#{vertex},#{circle},.T.)"), vertex)

    def bound(self, edges: Sequence[tuple[int, bool]], *, outer: bool = True) -> int:
        turned = [self.add(f"ORIENTED_EDGE('',*,*,#{edge},{_flag(same)})") for edge, same in edges]
        loop = self.add(f"EDGE_LOOP('',({_references(turned)}))")
        return self.add(f"FACE_{'OUTER_' if outer else ''}BOUND('',#{loop},.T.)")

    def plane(self, height: float, outer: _Ring, inner: Sequence[_Ring], *, up: bool) -> int:
        """A face between circles, seen from above or below."""
        bounds = [self.bound([(outer.edge, up)])]
        bounds += [self.bound([(ring.edge, not up)], outer=False) for ring in inner]
        plane = self.add(f"PLANE('',#{self.axes((0, 0, height))})")
        return self.add(f"ADVANCED_FACE('',({_references(bounds)}),#{plane},{_flag(up)})")

    def wall(self, radius: float, place: Place, low: _Ring, high: _Ring, *, outside: bool) -> int:
        """A cylinder between two circles; its seam is the line between their vertices."""
        along = self.add(f"VECTOR('',#{self.direction(_UP)},1.)")
        start = self.point((place[0] + radius, *place[1:]))
        line = self.add(f"LINE('',#{start},#{along})")
        seam = self.add(f"EDGE_CURVE('',#{low.vertex},#{high.vertex},#{line},.T.)")
        bound = self.bound([(low.edge, True), (seam, True), (high.edge, False), (seam, False)])
        cylinder = self.add(f"CYLINDRICAL_SURFACE('',#{self.axes(place)},{_number(radius)})")
        return self.add(f"ADVANCED_FACE('',(#{bound}),#{cylinder},{_flag(outside)})")


def flange(part: Flange, *, name: str, color: tuple[float, float, float]) -> bytes:
    """Return a flange with a hub, a bore, and holes for screws around it, in millimetres."""
    file = _File()
    top, end = part.thickness, part.height
    low, high = file.ring(part.radius, (0, 0, 0)), file.ring(part.radius, (0, 0, top))
    hub_low, hub_high = file.ring(part.hub, (0, 0, top)), file.ring(part.hub, (0, 0, end))
    bore_low, bore_high = file.ring(part.bore, (0, 0, 0)), file.ring(part.bore, (0, 0, end))
    places = [_around(part.pitch, 2 * math.pi * n / part.holes) for n in range(part.holes)]
    holes = [
        (place, file.ring(part.hole, place), file.ring(part.hole, (*place[:2], top)))
        for place in places
    ]
    faces = [
        file.plane(0.0, low, [bore_low, *(ring for _, ring, _ in holes)], up=False),
        file.plane(top, high, [hub_low, *(ring for _, _, ring in holes)], up=True),
        file.plane(end, hub_high, [bore_high], up=True),
        file.wall(part.radius, (0, 0, 0), low, high, outside=True),
        file.wall(part.hub, (0, 0, top), hub_low, hub_high, outside=True),
        file.wall(part.bore, (0, 0, 0), bore_low, bore_high, outside=False),
        *(
            file.wall(part.hole, place, below, above, outside=False)
            for place, below, above in holes
        ),
    ]
    shell = file.add(f"CLOSED_SHELL('',({_references(faces)}))")
    solid = file.add(f"MANIFOLD_SOLID_BREP('{name}',#{shell})")
    _product(file, name, solid, color)
    return (
        "\n".join([*_HEADER, *file.lines, "ENDSEC;", "END-ISO-10303-21;", ""])
        .replace("NAME", name)
        .encode()
    )


def _around(radius: float, angle: float) -> Place:
    return radius * math.cos(angle), radius * math.sin(angle), 0.0


def _product(file: _File, name: str, solid: int, color: tuple[float, float, float]) -> None:
    """Add what names the part, its unit and its colour."""
    millimetre = file.add("(LENGTH_UNIT()NAMED_UNIT(*)SI_UNIT(.MILLI.,.METRE.))")
    radian = file.add("(NAMED_UNIT(*)PLANE_ANGLE_UNIT()SI_UNIT($,.RADIAN.))")
    steradian = file.add("(NAMED_UNIT(*)SI_UNIT($,.STERADIAN.)SOLID_ANGLE_UNIT())")
    accuracy = file.add(
        f"UNCERTAINTY_MEASURE_WITH_UNIT(LENGTH_MEASURE(1.E-05),#{millimetre},'distance_accuracy_value','')"
    )
    context = file.add(
        f"(GEOMETRIC_REPRESENTATION_CONTEXT(3)GLOBAL_UNCERTAINTY_ASSIGNED_CONTEXT((#{accuracy}))"
        f"GLOBAL_UNIT_ASSIGNED_CONTEXT((#{millimetre},#{radian},#{steradian}))REPRESENTATION_CONTEXT('',''))"
    )
    shape = file.add(
        f"ADVANCED_BREP_SHAPE_REPRESENTATION('',(#{file.axes((0, 0, 0))},#{solid}),#{context})"
    )
    application = file.add("APPLICATION_CONTEXT('automotive design')")
    protocol = "'international standard','automotive_design',2000"
    file.add(f"APPLICATION_PROTOCOL_DEFINITION({protocol},#{application})")
    product_context = file.add(f"PRODUCT_CONTEXT('',#{application},'mechanical')")
    product = file.add(f"PRODUCT('{name}','{name}','',(#{product_context}))")
    file.add(f"PRODUCT_RELATED_PRODUCT_CATEGORY('part',$,(#{product}))")
    formation = file.add(f"PRODUCT_DEFINITION_FORMATION('','',#{product})")
    design = file.add(f"PRODUCT_DEFINITION_CONTEXT('part definition',#{application},'design')")
    definition = file.add(f"PRODUCT_DEFINITION('design','',#{formation},#{design})")
    described = file.add(f"PRODUCT_DEFINITION_SHAPE('','',#{definition})")
    file.add(f"SHAPE_DEFINITION_REPRESENTATION(#{described},#{shape})")
    red, green, blue = map(_number, color)
    paint = file.add(f"COLOUR_RGB('',{red},{green},{blue})")
    filled = file.add(f"FILL_AREA_STYLE_COLOUR('',#{paint})")
    fill = file.add(f"FILL_AREA_STYLE('',(#{filled}))")
    area = file.add(f"SURFACE_STYLE_FILL_AREA(#{fill})")
    side = file.add(f"SURFACE_SIDE_STYLE('',(#{area}))")
    usage = file.add(f"SURFACE_STYLE_USAGE(.BOTH.,#{side})")
    style = file.add(f"PRESENTATION_STYLE_ASSIGNMENT((#{usage}))")
    item = file.add(f"STYLED_ITEM('color',(#{style}),#{solid})")
    file.add(f"MECHANICAL_DESIGN_GEOMETRIC_PRESENTATION_REPRESENTATION('',(#{item}),#{context})")


_HEADER = (
    "ISO-10303-21;",
    "HEADER;",
    "FILE_DESCRIPTION(('NAME'),'2;1');",
    "FILE_NAME('NAME.step','2024-05-17T08:00:00',(''),(''),'samples/step.py','samples','');",
    "FILE_SCHEMA(('AUTOMOTIVE_DESIGN { 1 0 10303 214 1 1 1 1 }'));",
    "ENDSEC;",
    "DATA;",
)


def _number(value: float) -> str:
    """Return a number as STEP writes it: with a point."""
    return f"{round(value, 6) + 0.0:.6f}".rstrip("0")


def _references(numbers: Sequence[int]) -> str:
    return ",".join(f"#{number}" for number in numbers)


def _flag(value: bool) -> str:
    return ".T." if value else ".F."
