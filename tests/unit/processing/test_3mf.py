"""3MF packages whose objects are in several parts, as the production extension has them."""

import pytest

from backend.processing.files import Files
from backend.processing.readers.models import read_model
from tests.unit.processing.samples import RELATIONS, Asset, archive, facts_without_pictures

CORE = "http://schemas.microsoft.com/3dmanufacturing/core/2015/02"
PRODUCTION = "http://schemas.microsoft.com/3dmanufacturing/production/2015/06"
_MESH = (
    "<mesh><vertices>"
    '<vertex x="0" y="0" z="0"/><vertex x="10" y="0" z="0"/>'
    '<vertex x="0" y="20" z="0"/><vertex x="0" y="0" z="30"/>'
    "</vertices><triangles>"
    '<triangle v1="0" v2="2" v3="1"/><triangle v1="0" v2="1" v3="3"/>'
    '<triangle v1="0" v2="3" v3="2"/><triangle v1="1" v2="2" v3="3"/>'
    "</triangles></mesh>"
)
_MOVED = 'transform="1 0 0 0 1 0 0 0 1 100 0 0"'
_SCALED = 'transform="2 0 0 0 2 0 0 0 2 0 0 0"'


def model(resources: str, build: str, *, prefix: str = "p", unit: str = "millimeter") -> bytes:
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><model unit="{unit}" xmlns="{CORE}" '
        f'xmlns:{prefix}="{PRODUCTION}" requiredextensions="{prefix}">'
        f"<resources>{resources}</resources>{build}</model>"
    ).encode()


def mesh(number: int, extra: str = "") -> str:
    return f'<object id="{number}" type="model"{extra}>{_MESH}</object>'


def components(number: int, *refs: str) -> str:
    inside = "".join(f"<component {ref}/>" for ref in refs)
    return f'<object id="{number}" type="model"><components>{inside}</components></object>'


def build(*refs: str) -> str:
    return f"<build>{''.join(f'<item {ref}/>' for ref in refs)}</build>" if refs else "<build/>"


def package(root: bytes, **parts: bytes) -> bytes:
    named = [(f"3D/Objects/{name}.model", content) for name, content in parts.items()]
    return archive(("_rels/.rels", RELATIONS), ("3D/m.model", root), *named)


OTHER = 'p:path="/3D/Objects/a.model"'


@pytest.mark.parametrize(
    ("root", "triangles", "width", "height"),
    [
        (model(components(2, f'{OTHER} objectid="1"'), build('objectid="2"')), 4, 10, 30),
        (model("", build(f'{OTHER} objectid="1"')), 4, 10, 30),
        (
            model(
                components(2, f'{OTHER} objectid="1"', f'{OTHER} objectid="1" {_MOVED}'),
                build(f'objectid="2" {_SCALED}'),
            ),
            8,
            220,
            60,
        ),
        (
            model(
                mesh(1) + components(2, 'objectid="1"', f'{OTHER} objectid="1" {_MOVED}'),
                build('objectid="2"'),
            ),
            8,
            110,
            30,
        ),
        (
            model(
                components(2, f'{OTHER.replace("p:", "production:")} objectid="1"'),
                build('objectid="2"'),
                prefix="production",
            ),
            4,
            10,
            30,
        ),
    ],
    ids=["component", "item", "transforms", "beside a mesh of the root", "another prefix"],
)
def test_objects_of_another_part_are_read(
    root: bytes, triangles: int, width: float, height: float
) -> None:  # fmt: skip
    # the build of a part that is not the root is ignored, and ids count in their part only
    other = model(mesh(1) + mesh(7), build('objectid="7"'))
    facts = facts_without_pictures("m.3mf", package(root, a=other))
    assert (facts.get("refused"), facts["triangles"]) == (None, triangles)
    assert (facts["sizeX"], facts["sizeZ"]) == (width, height)


def test_components_are_followed_and_colours_are_those_of_their_part() -> None:
    b, c = ('p:path="/3D/Objects/b.model"', 'p:path="/3D/Objects/c.model"')
    root = model("", build(f'{b} objectid="5" {_MOVED}'))
    middle = model(components(5, f'{c} objectid="1"', f'{c} objectid="1" {_SCALED}'), build())
    facts = facts_without_pictures("m.3mf", package(root, b=middle, c=model(mesh(1), build())))
    assert (facts["triangles"], facts["boundsMin"], facts["boundsMax"]) == (
        8, "[100.0, 0.0, 0.0]", "[120.0, 40.0, 60.0]",
    )  # fmt: skip
    base = (
        '<basematerials id="3"><base name="red" displaycolor="#FF0000FF"/>'
        '<base name="blue" displaycolor="#0000FF"/></basematerials>'
    )
    root = model(components(2, f'{OTHER} objectid="1"'), build('objectid="2"'), unit="inch")
    other = model(base + mesh(1, ' pid="3" pindex="1"'), build())
    plain = facts_without_pictures("m.3mf", package(root, a=other))
    assert (plain["unit"], plain["sizeX"], plain["triangles"]) == ("inch", 10, 4)
    scene = read_model(package(root, a=other), "m.3mf", "3mf", Files(Asset()))
    used = {scene.materials[part.material].color[:3] for part in scene.parts}
    assert used == {(0.0, 0.0, 1.0)}


def test_parts_are_found_by_their_names_in_any_form_and_with_a_byte_order_mark() -> None:
    for stored, named in (
        ("3D/Objects/A.Model", "/3D/objects/a.model"),
        ("3D/Objects/a b.model", "/3D/Objects/a%20b.model"),
        ("3D/Objects/ü.model", "/3D/Objects/u\u0308.model"),
        ("3D/Objects/u\u0308.model", "/3D/Objects/ü.model"),
    ):
        root = model(components(2, f'p:path="{named}" objectid="1"'), build('objectid="2"'))
        data = archive(
            ("_rels/.rels", RELATIONS), ("3D/m.model", root), (stored, model(mesh(1), build()))
        )
        assert facts_without_pictures("m.3mf", data).get("triangles") == 4
    for encoding in ("utf-8-sig", "utf-16"):
        root = model(components(2, f'{OTHER} objectid="1"'), build('objectid="2"'))
        text = model(mesh(1), build()).decode().replace("UTF-8", encoding[:6].upper().rstrip("-"))
        facts = facts_without_pictures("m.3mf", package(root, a=text.encode(encoding)))
        assert facts.get("triangles") == 4


_ROOT = model(components(2, f'{OTHER} objectid="1"'), build('objectid="2"'))
_CIRCLE = 'p:path="/3D/m.model" objectid="2"'
_BOMB = "".join(
    components(number, *[f'objectid="{number + 1}"'] * 10) for number in range(1, 20)
) + mesh(20)


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"b": model(mesh(1), build())}, "the part /3d/objects/a.model, which it does not contain"),
        ({"a": model(mesh(9), build())}, "places object 1 of /3d/objects/a.model: there is none"),
        ({"a": model(components(1, _CIRCLE), build())}, "places too many components"),
        ({"a": model(_BOMB, build())}, "places too many components"),
        ({"a": model(mesh(1), build())[:300]}, "the part /3d/objects/a.model is no XML"),
        ({"a": b"\0" * 400}, "the part /3d/objects/a.model is no XML"),
        ({"a": b'<!DOCTYPE x [<!ENTITY a "b">]><x/>'}, "declares entities"),
        (
            {"a": model(components(1, 'objectid="3" transform="1 2 3"') + mesh(3), build())},
            "the transform '1 2 3' is not twelve numbers",
        ),
        (
            {"a": model(components(1, f'objectid="3" transform="{"nan " * 12}"'), build())},
            "is not finite",
        ),
    ],
)
def test_a_package_that_cannot_be_placed_has_a_reason(parts: dict[str, bytes], reason: str) -> None:
    assert reason in str(facts_without_pictures("m.3mf", package(_ROOT, **parts)).get("refused"))


def test_objects_that_contain_themselves_are_refused_with_the_reason_also_in_one_part() -> None:
    itself = components(1, 'objectid="1"')
    each_other = components(1, 'objectid="2"') + components(2, 'objectid="1"')
    for resources in (itself, each_other):
        for parts in (dict[str, bytes](), {"a": model(mesh(9), build())}):
            data = package(model(resources, build('objectid="1"')), **parts)
            reason = str(facts_without_pictures("a.3mf", data).get("refused"))
            assert "nests or places too many components" in reason
    nested = model(mesh(1) + components(2, 'objectid="1"'), build('objectid="2"'))
    assert facts_without_pictures("a.3mf", package(nested))["triangles"] == 4
