"""Robots and worlds: URDF, SDF and MJCF with shapes and meshes, and broken or hostile ones."""

import json
from typing import Any

import pytest

from backend.processing import limits
from backend.processing.references import Resolver
from tests.unit.processing.samples import cube_obj, cube_stl, facts_without_pictures

ARM = """<robot name="arm">
<material name="red"><color rgba="1 0 0 1"/></material>
<link name="base"><visual><origin xyz="0 0 1"/><geometry><box size="2 2 2"/></geometry>
<material name="red"/></visual></link>
<link name="腕"><visual><geometry><mesh filename="package://arm/meshes/cube.stl" scale="1 1 3"/>
</geometry></visual></link>
<link name="рука"><visual><origin rpy="0 1.5707963267948966 0"/>
<geometry><cylinder radius="0.5" length="4"/></geometry></visual></link>
<joint name="a" type="revolute"><parent link="base"/><child link="腕"/>
<origin xyz="10 0 0" rpy="0 0 1.5707963267948966"/></joint>
<joint name="b" type="fixed"><parent link="腕"/><child link="рука"/><origin xyz="5 0 0"/></joint>
</robot>"""
WORLD = """<sdf version="1.9"><world name="w">
<model name="shelf"><pose>1 0 0 0 0 0</pose>
<frame name="top"><pose>0 0 5 0 0 0</pose></frame>
<link name="a"><pose relative_to="top">0 1 0 0 0 1.5707963267948966</pose>
<visual name="v"><geometry><box><size>2 4 6</size></box></geometry>
<material><diffuse>0 1 0</diffuse></material></visual></link>
<link name="b"><visual name="v"><geometry><mesh><uri>model://shelf/meshes/cube.obj</uri>
<scale>2 2 2</scale></mesh></geometry></visual></link>
<joint name="j" type="fixed"><parent>a</parent><child>b</child></joint></model>
<include><uri>model://лампа</uri><pose>0 0 20 0 0 0</pose></include>
<model name="ground"><link name="l"><visual name="v"><geometry><plane><size>9 9</size></plane>
</geometry></visual></link></model></world></sdf>"""
LAMP = """<sdf version="1.6"><model name="m"><link name="l"><visual name="v"><geometry>
<mesh><uri>parts/cube.stl</uri></mesh></geometry></visual></link></model></sdf>"""
CHEETAH = """<mujoco model="cheetah"><compiler angle="radian" meshdir="parts"/>
<default><geom rgba="0 0 1 1"/><default class="leg"><geom type="capsule" size="0.5"/></default>
</default>
<asset><mesh file="cube.stl" scale="1 2 3"/><material name="skin" rgba="1 1 0 1"/></asset>
<include file="body.xml"/>
<worldbody><geom type="plane" size="0 0 1"/>
<body pos="0 0 4" childclass="leg"><freejoint/><geom fromto="0 0 0 3 0 0"/>
<body euler="0 0 1.5707963267948966"><joint name="j"/><geom fromto="0 0 0 5 0 0"/></body></body>
<body pos="7 0 0"><geom type="mesh" mesh="cube" material="skin"/></body></worldbody></mujoco>"""
BODY = """<mujocoinclude><worldbody><body><geom size="1" pos="-9 0 0"/></body></worldbody>
</mujocoinclude>"""
FILES: dict[str, tuple[str, dict[str, bytes]]] = {
    "arm.urdf": (ARM, {"package://arm/meshes/cube__stl": cube_stl()}),
    "world.sdf": (
        WORLD,
        {
            "model://shelf/meshes/cube__obj": cube_obj(),
            "model://лампа/model__sdf": LAMP.encode(),
            "model://лампа/parts/cube__stl": cube_stl(),
        },
    ),
    "cheetah.xml": (CHEETAH, {"parts/cube__stl": cube_stl(), "body__xml": BODY.encode()}),
}


def facts_of(name: str, text: str | bytes | None = None, **files: bytes) -> dict[str, Any]:
    content = FILES[name][0] if text is None else text
    data = content if isinstance(content, bytes) else content.encode()
    beside = files or FILES.get(name, ("", {}))[1]
    return dict(facts_without_pictures(name, data, **beside))


def _bounds(facts: dict[str, Any]) -> list[list[float]]:
    return [[round(n, 4) for n in json.loads(facts[name])] for name in ("boundsMin", "boundsMax")]


@pytest.mark.parametrize(
    ("name", "counts", "bounds", "left_out"),
    [
        # The cylinder, turned to y by the joints, ends at 5 + 4 / 2.
        ("arm.urdf", ("URDF", 3, 2, 3, 1), [[-1, -1, -0.5], [10.5, 7, 3]], None),
        (
            "world.sdf",
            ("SDF", 4, 1, 3, 1),
            [[-1, 0, 0], [3, 2, 21]],
            "1 shapes of a kind that is not drawn (first: plane)",
        ),
        (
            "cheetah.xml",
            ("MJCF", 4, 2, 4, 2),
            [[-10, -1, -1], [8, 5.5, 4.5]],
            "1 geoms of a kind that is not drawn (first: plane)",
        ),
    ],
)
def test_shapes_are_at_the_places_of_their_links(
    name: str, counts: tuple[object, ...], bounds: list[list[float]], left_out: str | None
) -> None:
    facts = facts_of(name)
    keys = ("format", "links", "joints", "meshes", "materials")
    assert tuple(facts.get(key) for key in keys) == counts
    assert _bounds(facts) == bounds
    assert facts.get("leftOut") == left_out
    assert (facts["unit"], facts["upAxis"]) == ("metre", "z")


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_cut_or_doubled_is_refused(name: str) -> None:
    data = FILES[name][0].encode()
    for part in range(20):
        refused = str(facts_of(name, data[: len(data) * part // 20])["refused"])
        assert "not valid XML" in refused or "needs more" in refused or not part
    assert "not valid XML" in facts_of(name, data * 2)["refused"]


def _link(geometry: str) -> str:
    shape = f"<visual><geometry>{geometry}</geometry></visual>"
    return f'<robot><link name="l">{shape}</link></robot>'


_CYCLE = """<link name="b"/><link name="c"/>
<joint name="j"><parent link="b"/><child link="c"/></joint>
<joint name="k"><parent link="c"/><child link="b"/></joint>"""
_FRAMES = """<sdf><model name="m"><frame name="f"><pose relative_to="g"/></frame>
<frame name="g"><pose relative_to="f"/></frame>
<link name="l"><pose relative_to="f"/></link></model></sdf>"""
_SHORT = "truncated: an STL file has at least 84 bytes"
_SPHERE = '<link name="a"><visual><geometry><sphere radius="1"/></geometry></visual></link>'


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.urdf", "<sdf/>", "its first element is sdf, not robot"),
        ("a.sdf", "<robot/>", "its first element is robot, not sdf"),
        ("a.mjcf", "<mujoco/>", "contains no links and no shapes"),
        ("a.xml", "<mujocoinclude/>", "its first element is mujocoinclude, not mujoco"),
        (
            "a.mjcf",
            '<mujoco><compiler coordinate="global"/></mujoco>',
            "its coordinates are global, which MuJoCo 2.3.4 and later refuse",
        ),
        ("a.urdf", "<robot/>", "contains no links and no shapes"),
        (
            "a.urdf",
            _link('<box size="1 nan 1"/>'),
            "a shape of link 'l': 'nan' is not finite",
        ),
        (
            "a.urdf",
            _link('<box size="1 1"/>'),
            "a shape of link 'l': has 2 numbers instead of 3",
        ),
        (
            "a.urdf",
            _link('<sphere radius="${r}"/>'),
            "a shape of link 'l': macros of xacro are not expanded: run xacro first",
        ),
        (
            "a.sdf",
            '<sdf><model name="m"><link name="l"><pose>0 0 x 0 0 0</pose></link></model></sdf>',
            "the pose of link 'l': 'x' is not a number",
        ),
        (
            "a.mjcf",
            '<mujoco><worldbody><geom name="g" size="1e999"/></worldbody></mujoco>',
            "geom 'g': '1e999' is not finite",
        ),
        ("a.urdf", "<robot>" + "<a>" * 200, "its elements are nested more than 200 times"),
    ],
)
def test_a_broken_file_is_refused_with_its_fact(name: str, text: str, reason: str) -> None:
    assert facts_of(name, text) == {"refused": reason}


@pytest.mark.parametrize(
    ("name", "text", "left_out"),
    [
        (
            "a.urdf",
            f"<robot>{_SPHERE}{_CYCLE}</robot>",
            "2 links in a cycle of joints (first: b)",
        ),
        (
            "a.urdf",
            f'<robot>{_SPHERE}<joint name="j"><parent link="a"/><child link="q"/></joint></robot>',
            "1 joints of links that do not exist, or have another parent (first: j)",
        ),
        (
            "a.urdf",
            _link('<mesh filename="../../up.stl"/>'),
            "1 meshes that are missing (first: ../../up.stl)",
        ),
        (
            "a.urdf",
            _link('<mesh filename="broken.stl"/>'),
            f"1 meshes that cannot be read (first: broken.stl: {_SHORT})",
        ),
        (
            "a.urdf",
            _link('<mesh filename="a.urdf"/>'),
            "1 meshes in a format that is not read here (first: a.urdf)",
        ),
        (
            "a.urdf",
            f"<robot>{_SPHERE}<xacro:wheel/></robot>",
            "1 macros of xacro, which are not expanded (first: xacro:wheel)",
        ),
        (
            "a.sdf",
            _FRAMES,
            None,
        ),
        (
            "a.sdf",
            "<sdf><include><uri>a.sdf</uri></include></sdf>",
            "1 models that are nested too deep (first: a.sdf)",
        ),
        (
            "a.mjcf",
            '<mujoco><include file="a.mjcf"/><worldbody><body/></worldbody></mujoco>',
            "1 files that are included twice (first: a.mjcf)",
        ),
    ],
)
def test_cycles_and_what_is_missing_are_named(name: str, text: str, left_out: str | None) -> None:
    included = (
        b'<sdf><model name="m"><include><uri>a.sdf</uri></include><link name="l"/></model></sdf>'
    )
    files = {"a__sdf": included, "a__mjcf": text.encode(), "broken__stl": b"x", "a__urdf": b"x"}
    assert facts_of(name, text, **files).get("leftOut") == left_out


def test_robots_beyond_a_limit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "ELEMENTS", 20)
    assert facts_of("arm.urdf") == {"refused": "it has more than 20 elements"}
    monkeypatch.setattr(limits, "ELEMENTS", 1000)
    monkeypatch.setattr(limits, "VERTICES", 50)
    assert facts_of("arm.urdf") == {"refused": "has more than 50 vertices"}


def test_a_robot_without_visual_shapes_has_those_of_collisions() -> None:
    collisions = ARM.replace("visual>", "collision>")
    assert facts_of("arm.urdf", collisions)["triangles"] == facts_of("arm.urdf")["triangles"]


def test_textures_of_a_mesh_are_beside_it() -> None:
    mesh = cube_obj("mtllib a.mtl\nusemtl m\n")
    material = b"newmtl m\nmap_Kd ../skins/red.png\n"
    robot = _link('<mesh filename="parts/a.obj"/>')
    files = {"parts/a__obj": mesh, "parts/a__mtl": material}
    facts = facts_of("a.urdf", robot, **files)
    assert (facts["textures"], facts["texturesMissing"], facts["materials"]) == (1, 1, 1)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("package://arm/meshes/a.stl", "robots/arm/meshes/a.stl"),
        ("package://other/meshes/a.stl", "robots/arm/meshes/a.stl"),
        ("package://hand/meshes/b.stl", "robots/hand/meshes/b.stl"),
        ("model://лампа/l.dae", "лампа/l.dae"),
        ("package://arm/../../../etc/passwd", None),
        ("package://../a.stl", None),
        ("package://", None),
        ("package://arm/none.stl", None),
    ],
)
def test_files_of_packages_are_found_in_the_asset(written: str, expected: str | None) -> None:
    paths = ("robots/arm/meshes/a.stl", "robots/hand/meshes/b.stl", "лампа/l.dae")
    resolver = Resolver("robots/arm/urdf/arm.urdf", dict.fromkeys(paths, 1))
    path, state, target = resolver.resolve(written)
    assert target == expected
    assert (path, state) == ((expected, "found") if expected else (written, "missing"))
