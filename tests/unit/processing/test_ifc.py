"""IFC: boxes of known size in each schema and unit, and files that are broken on purpose."""

from unittest.mock import Mock

import pytest

from backend.processing import limits
from backend.processing.files import Files
from backend.processing.readers.models import read_model
from tests.unit.processing.samples import Asset, archive, facts_without_pictures
from tests.unit.processing.test_units import glb_extents

METRES = "#4=IFCSIUNIT(*,.LENGTHUNIT.,$,.METRE.);"
INCHES = """#4=IFCCONVERSIONBASEDUNIT(#41,.LENGTHUNIT.,'INCH',#42);
#41=IFCDIMENSIONALEXPONENTS(1,0,0,0,0,0,0);
#42=IFCMEASUREWITHUNIT(IFCLENGTHMEASURE(25.4),#43);
#43=IFCSIUNIT(*,.LENGTHUNIT.,.MILLI.,.METRE.);"""
FEET = INCHES.replace("'INCH'", "'FOOT'").replace("25.4", "304.8")
SOLID = "#24=IFCEXTRUDEDAREASOLID(#22,#8,#23,3.);"


def box(schema: str = "IFC4", unit: str = METRES) -> str:
    """Return a box of 1 x 2 x 3 on a storey, with an opening of 0.5 x 0.5 through its height."""
    last, styled = ",$", "#40=IFCSTYLEDITEM(#24,(#38),$);"
    if schema.startswith("IFC2"):
        last = ""
        styled = "#39=IFCPRESENTATIONSTYLEASSIGNMENT((#38));#40=IFCSTYLEDITEM(#24,(#39),$);"
    return f"""ISO-10303-21;
HEADER;
FILE_DESCRIPTION((''),'2;1');
FILE_NAME('a.ifc','2026-01-01T00:00:00',(''),(''),'','Büro \\X2\\00E9\\X0\\ #999','');
FILE_SCHEMA(('{schema}'));
ENDSEC;
DATA;
{unit}
#5=IFCUNITASSIGNMENT((#4));
#1=IFCPROJECT('2VlJ7nwF5FGfn2zOoF8pUa',$,'p',$,$,$,$,(#6),#5);
#6=IFCGEOMETRICREPRESENTATIONCONTEXT($,'Model',3,1.E-05,#8,$);
#7=IFCCARTESIANPOINT((0.,0.,0.));
#8=IFCAXIS2PLACEMENT3D(#7,$,$);
#9=IFCLOCALPLACEMENT($,#8);
#10=IFCBUILDINGSTOREY('4VlJ7nwF5FGfn2zOoF8pUb',$,'',$,$,#9,$,$,.ELEMENT.,0.);
#11=IFCRELCONTAINEDINSPATIALSTRUCTURE('5VlJ7nwF5FGfn2zOoF8pUb',$,$,$,(#27),#10);
#20=IFCCARTESIANPOINT((0.,0.));
#21=IFCAXIS2PLACEMENT2D(#20,$);
#22=IFCRECTANGLEPROFILEDEF(.AREA.,$,#21,1.,2.);
#23=IFCDIRECTION((0.,0.,1.));
{SOLID}
#25=IFCSHAPEREPRESENTATION(#6,'Body','SweptSolid',(#24));
#26=IFCPRODUCTDEFINITIONSHAPE($,$,(#25));
#27=IFCBUILDINGELEMENTPROXY('1VlJ7nwF5FGfn2zOoF8pUb',$,'#998',$,$,#9,#26,$,$);
#30=IFCRECTANGLEPROFILEDEF(.AREA.,$,#21,0.5,0.5);
#31=IFCEXTRUDEDAREASOLID(#30,#8,#23,3.);
#32=IFCSHAPEREPRESENTATION(#6,'Body','SweptSolid',(#31));
#33=IFCPRODUCTDEFINITIONSHAPE($,$,(#32));
#34=IFCOPENINGELEMENT('3VlJ7nwF5FGfn2zOoF8pUb',$,'',$,$,#9,#33,${last});
#35=IFCRELVOIDSELEMENT('0VlJ7nwF5FGfn2zOoF8pUb',$,$,$,#27,#34);
#36=IFCCOLOURRGB('red',1.,0.,0.);
#37=IFCSURFACESTYLERENDERING(#36,0.25,$,$,$,$,$,$,.FLAT.);
#38=IFCSURFACESTYLE('glass',.BOTH.,(#37));
{styled}
ENDSEC;
END-ISO-10303-21;
"""


FILES = {
    "a.ifc": box("IFC2X3").encode(),
    "b.ifc": box("IFC4X3_ADD2").encode(),
    "a.ifczip": archive(("../b.txt", b"x"), ("../Büro.IFC", box().encode())),
}


@pytest.mark.parametrize(
    ("schema", "unit", "name", "metres"),
    [
        ("IFC2X3", METRES, "metre", 1),
        ("IFC4", METRES.replace("$", ".MILLI."), "millimeter", 0.001),
        ("IFC4", METRES.replace("$", ".HECTO."), "100 metres", 100),
        ("IFC4X3", INCHES, "inch", 0.0254),
        ("IFC4X3_ADD2", FEET, "foot", 0.3048),
        ("IFC4_ADD2", "", "metre", 1),
    ],
)
def test_a_box_has_its_size_in_its_unit_and_its_opening_is_cut(
    schema: str, unit: str, name: str, metres: float
) -> None:
    data = box(schema, unit).encode("latin-1")
    scene = read_model(data, "a.ifc", "ifc", Files(Asset()))
    assert glb_extents(scene) == pytest.approx([metres, 3 * metres, 2 * metres])
    (glass,) = scene.materials
    assert (glass.name, glass.color) == ("glass", (1, 0, 0, 0.75))
    facts = facts_without_pictures("a.ifc", data)
    assert facts.pop("leftOut", "1 entity that is referred to does not exist (first: #4)") == (
        "1 entity that is referred to does not exist (first: #4)"
    )
    assert facts["generator"] == "Büro é #999"
    assert [facts[f"size{axis}"] for axis in "XYZ"] == pytest.approx([1, 2, 3])
    assert (facts["volume"], facts["watertight"]) == (pytest.approx(6 - 0.75), True)
    assert (facts["elements"], facts["storeys"], facts["meshes"]) == (1, 1, 1)
    assert (facts["unit"], facts["metresPerUnit"]) == (name, pytest.approx(metres))
    assert (facts["format"], facts["upAxis"]) == ("IFC", "z")


def test_an_archive_has_the_facts_of_its_file() -> None:
    text = box().encode()
    assert facts_without_pictures("a.ifczip", FILES["a.ifczip"]) == facts_without_pictures(
        "a.ifc", text
    )
    for data, reason in (
        (archive(("a.txt", text)), "the archive contains no IFC file"),
        (text, "not a ZIP archive that can be read"),
    ):
        assert facts_without_pictures("a.ifczip", data) == {"refused": reason}


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("'IFC4'", "'IFC4X1'", "its schema is IFC4X1: only IFC2X3, IFC4 and IFC4X3 are read"),
        ("('IFC4')", "()", "it names no schema: only IFC2X3, IFC4 and IFC4X3 are read"),
        (",1.,2.)", ",NaN,2.)", "line 19: 'NaN' is not a number"),
        (
            "LOCALPLACEMENT($,#8)",
            "LOCALPLACEMENT(#9,#8)",
            "its entities refer to each other in a circle (first: #9)",
        ),
        (
            SOLID,
            "#24=IFCMAPPEDITEM(#50,$);#50=IFCREPRESENTATIONMAP(#8,#25);",
            "its entities refer to each other in a circle (first: #24)",
        ),
        (
            SOLID,
            "".join(f"#{n}=IFCBOOLEANRESULT(.UNION.,#{n + 1},#31);" for n in range(100, 700))
            + "#24=IFCBOOLEANRESULT(.UNION.,#100,#31);#700=IFCSPHERE(#8,1.);",
            "its entities refer to each other in more than 500 steps in a row",
        ),
        (",#27,#34)", ",#27,#27)", "its elements are parts of each other in a circle (first: #27)"),
        (
            "(#27),#10)",
            "(#10),#10)",
            "its elements are parts of each other in a circle (first: #10)",
        ),
        ("#7=", "#99999999999999999999=", "not valid: token 99999999999999999999 at offset"),
        ("IFCBUILDINGELEMENTPROXY", "IFCNONE", "holds no elements"),
        ("END-ISO-10303-21;\n", "", "truncated: the STEP file does not end with END-ISO-10303-21"),
    ],
)
def test_a_broken_file_is_refused_with_its_fact(old: str, new: str, reason: str) -> None:
    refused = facts_without_pictures("a.ifc", box().replace(old, new).encode())
    assert str(refused["refused"]).startswith(reason)


@pytest.mark.parametrize(
    ("old", "new", "left_out"),
    [
        ("(#24)", "(#9999)", "1 entity that is referred to does not exist (first: #9999)"),
        ("#23=", "#7=", "1 entities are defined more than once (first: #7)"),
        *(
            (
                *change,
                "1 of 1 elements cannot be shaped by OpenCASCADE (first: #27, IfcBuildingElement",
            )
            for change in ((",1.,2.)", ",1.E308,2.)"), (",1.,2.)", ",-1.,0.)"), ("(#24)", "(#5)"))
        ),
    ],
)
def test_what_cannot_be_shaped_is_named_and_counted(old: str, new: str, left_out: str) -> None:
    facts = facts_without_pictures("a.ifc", box().replace(old, new).encode())
    assert left_out in str(facts["leftOut"])
    assert facts["elements"] == 1


def test_elements_beyond_their_processor_time_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "cpu_seconds_for", Mock(return_value=0))
    second = "#50=IFCWALL('1VlJ7nwF5FGfn2zOoF8pUc',$,'',$,$,#9,#26,$,$);ENDSEC;\nEND-ISO"
    facts = facts_without_pictures("a.ifc", box().replace("ENDSEC;\nEND-ISO", second).encode())
    assert facts["leftOut"] == (
        "1 of 2 elements were not shaped within 0 seconds of processor time (first: #50, IfcWall)"
    )


def test_a_file_that_is_cut_off_is_refused() -> None:
    data = box().encode()
    for length in range(1, len(data) - 8, len(data) // 20):
        assert "refused" in facts_without_pictures("a.ifc", data[:length])
