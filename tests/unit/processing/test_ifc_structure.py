"""The elements of an IFC model: nodes of its GLB, with types and properties beside it."""

import gzip
import json
import re
import struct
from typing import Any

import pytest

from backend.processing import limits
from backend.processing.inspection import Inspection, inspect
from tests.unit.processing.samples import Asset
from tests.unit.processing.test_ifc import box

PROPERTIES = """
#2=IFCBUILDING('8VlJ7nwF5FGfn2zOoF8pUb',$,'\\X2\\697C\\X0\\ 1',$,$,#9,$,$,.ELEMENT.,$,$,$);
#3=IFCRELAGGREGATES('9VlJ7nwF5FGfn2zOoF8pUb',$,$,$,#2,(#10));
#50=IFCWALL('1VlJ7nwF5FGfn2zOoF8pUc',$,'Wand',$,$,#9,#26,$LAST);
#51=IFCRELCONTAINEDINSPATIALSTRUCTURE('5VlJ7nwF5FGfn2zOoF8pUc',$,$,$,(#50),#10);
#60=IFCPROPERTYSINGLEVALUE('External',$,IFCBOOLEAN(.T.),$);
#61=IFCPROPERTYSINGLEVALUE('Load',$,IFCREAL(2.5),$);
#62=IFCPROPERTYENUMERATEDVALUE('Status',$,(IFCLABEL('new'),IFCLABEL('old')),$);
#63=IFCPROPERTYBOUNDEDVALUE('Range',$,IFCREAL(4.5),IFCREAL(1.),$);
#64=IFCCOMPLEXPROPERTY('Outer',$,'',(#66,#61));
#65=IFCPROPERTYREFERENCEVALUE('Reference',$,$,#2);
#66=IFCPROPERTYLISTVALUE('List',$,(IFCINTEGER(7)),$);
#70=IFCPROPERTYSET('6VlJ7nwF5FGfn2zOoF8pUb',$,'Common',$,(#60,#62,#63,#64,#65));
#71=IFCRELDEFINESBYPROPERTIES('7VlJ7nwF5FGfn2zOoF8pUb',$,$,$,(#27,#50),#70);
#72=IFCQUANTITYLENGTH('Length',$,$,3.);
#73=IFCELEMENTQUANTITY('8VlJ7nwF5FGfn2zOoF8pUc',$,'Quantities',$,$,(#72));
#74=IFCWALLTYPE('aVlJ7nwF5FGfn2zOoF8pUb',$,'Type A',$,$,(#73,#70),$,$,$,.SOLIDWALL.);
#76=IFCRELDEFINESBYTYPE('bVlJ7nwF5FGfn2zOoF8pUb',$,$,$,(#50),#74);
"""


def building(schema: str = "IFC4") -> Inspection:
    """Two elements on a storey of a building, of which one has a type."""
    text = PROPERTIES
    if schema == "IFC2X3":
        text = text.replace("$LAST", "$")
    else:
        text = text.replace("$LAST", "$,$").replace("IFCREAL(1.),$)", "IFCREAL(1.),$,$)")
        text = text.replace("$,3.)", "$,3.,$)")
    data = box(schema).replace("ENDSEC;\nEND-ISO", f"{text}ENDSEC;\nEND-ISO")
    data = data.replace("pUb',$,'',$,$,#9,$,$,.ELE", "pUb',$,'Storey',$,$,#9,$,$,.ELE")
    return inspect("a.ifc", data.encode(), Asset())


def structure(inspection: Inspection) -> dict[str, Any]:
    assert inspection.structure is not None, inspection
    return json.loads(gzip.decompress(inspection.structure))


def nodes(inspection: Inspection) -> list[dict[str, Any]]:
    assert inspection.glb is not None
    (length,) = struct.unpack_from("<I", inspection.glb, 12)
    return json.loads(inspection.glb[20 : 20 + length])["nodes"]


@pytest.mark.parametrize("schema", ["IFC2X3", "IFC4", "IFC4X3"])
def test_each_element_is_a_node_with_its_type_storey_and_properties(schema: str) -> None:
    inspection = building(schema)
    assert "leftOut" not in inspection.facts
    assert nodes(inspection) == [
        {"translation": [0, 0, 0], "children": [1]},
        {"name": "楼 1", "extras": {"ifcId": 2}, "children": [2]},
        {"name": "Storey", "extras": {"ifcId": 10}, "children": [3, 4]},
        {"name": "#998", "extras": {"ifcId": 27}, "mesh": 0},
        {"name": "Wand", "extras": {"ifcId": 50}, "mesh": 1},
    ]
    parts = structure(inspection)
    elements = parts["elements"]
    assert elements.keys() == {"2", "10", "27", "50"}
    assert elements["50"] == {
        "type": "IfcWall",
        "typeName": "Type A",
        "globalId": "1VlJ7nwF5FGfn2zOoF8pUc",
        "storey": "Storey",
        "sets": [0, 1],
    }
    assert elements["27"]["sets"] == [0]
    common = {
        "External": True,
        "Status": "new, old",
        "Range": "1.0 to 4.5",
        "Outer / List": 7,
        "Outer / Load": 2.5,
    }
    assert parts["sets"] == [
        {"name": "Common", "values": common},
        {"name": "Quantities", "values": {"Length": 3}},
    ]


# Each of 40 properties contains the next one twice.
_TWICE = "".join(f"#{n}=IFCCOMPLEXPROPERTY('p',$,'',(#{n + 1},#{n + 1}));" for n in range(100, 140))


@pytest.mark.parametrize(
    "broken",
    [
        "#70=IFCPROPERTYSET($,$,$,$,(#10,IFCBOOLEAN(.T.),'a'));",
        "#70=IFCPROPERTYSET('a');",
        "#70=IFCCARTESIANPOINT((0.,0.));",
        "#71=IFCRELDEFINESBYPROPERTIES($,$,$,$,'a','b');",
        "#76=IFCRELDEFINESBYTYPE($,$,$,$,$,#70);",
        "#61=IFCPROPERTYSINGLEVALUE(1.,$,(((1))),$);",
        f"#64=IFCCOMPLEXPROPERTY('p',$,'',(#100));{_TWICE}#140=IFCPROPERTYLISTVALUE('',$,$,$);",
    ],
)
def test_broken_properties_take_nothing_else_with_them(
    monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    number = broken.partition("=")[0]
    monkeypatch.setattr(
        f"{__name__}.PROPERTIES", re.sub(rf"{number}=.*;", lambda _: broken, PROPERTIES)
    )
    elements = structure(building())["elements"]
    assert (elements["50"]["type"], elements["50"]["storey"]) == ("IfcWall", "Storey")


@pytest.mark.parametrize(
    ("limit", "value", "left_out"),
    [
        ("STRUCTURE_BYTES", 1000, "some properties, which take more than 0 MiB"),
        ("STRUCTURE_BYTES", 200, "properties, which take more than 0 MiB"),
        ("GLB_NODES", 3, "properties, as more than 3 elements are drawn"),
    ],
)
def test_larger_buildings_are_drawn_without_all_properties(
    monkeypatch: pytest.MonkeyPatch, limit: str, value: int, left_out: str
) -> None:
    monkeypatch.setattr(limits, limit, value)
    monkeypatch.setattr(f"{__name__}.PROPERTIES", PROPERTIES.replace("new", "new" * 200))
    inspection = building()
    assert inspection.facts["leftOut"] == left_out
    assert (inspection.structure is None) == left_out.startswith("properties")
    assert (len(nodes(inspection)) == 1) == (limit == "GLB_NODES")
