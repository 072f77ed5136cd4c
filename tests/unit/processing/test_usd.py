"""USD: composition, shapes, materials, skeletons, and files that are broken or hostile."""

import io
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backend.processing.files import Files
from backend.processing.inspection import inspect
from backend.processing.readers.models import read_model
from backend.processing.readers.usd import library
from backend.processing.scene import Scene
from tests.unit.processing.samples import (
    CORNERS,
    SIDES,
    Asset,
    facts_without_pictures,
    png,
)

HEAD = """#usda 1.0
(
    upAxis = "Z"
    metersPerUnit = 0.01
    customLayerData = {
        string creator = "tests"
    }
)
"""
LAYER = "#usda 1.0\n"
BOUND = '(prepend apiSchemas = ["MaterialBindingAPI", "SkelBindingAPI"])'


def lines(text: str) -> bytes:
    """A layer, in which a statement ends with its line."""
    return text.replace("}", "\n}").encode()


def moved(x: float, y: float = 0, z: float = 0) -> str:
    """The lines that move a prim."""
    return (
        f"double3 xformOp:translate = ({x}, {y}, {z})\n"
        'uniform token[] xformOpOrder = ["xformOp:translate"]\n'
    )


def mesh(more: str = "", *, times: float = 1, corners: Any = None, sides: Any = SIDES) -> str:
    """A mesh, by default a box of 1 x 2 x 3."""
    places = CORNERS * [1, 2, 3] if corners is None else corners
    points = ", ".join("({:g}, {:g}, {:g})".format(*place) for place in np.array(places) * times)
    return (
        f'def Mesh "box" {BOUND} {{\npoint3f[] points = [{points}]\n'
        f"int[] faceVertexCounts = {[len(side) for side in sides]}\n"
        f"int[] faceVertexIndices = {[int(corner) for side in sides for corner in side]}\n"
        f"{more}}}\n"
    )


def binary(text: str) -> bytes:
    """A layer in the binary form."""
    with tempfile.TemporaryDirectory() as folder:
        layer = library().Sdf.Layer.CreateAnonymous(".usda")
        layer.ImportFromString(lines(text).decode())
        path = Path(folder, "a.usdc")
        layer.Export(str(path))
        return path.read_bytes()


def package(*files: tuple[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as written:
        for name, content in files:
            written.writestr(name, content)
    return out.getvalue()


def facts_of(text: str, **files: str | bytes) -> dict[str, Any]:
    contents = {
        name: content if isinstance(content, bytes) else lines(content)
        for name, content in files.items()
    }
    return dict(facts_without_pictures("a.usda", lines(text), **contents))


def scene_of(text: str, **files: bytes) -> Scene:
    return read_model(lines(text), "a.usda", "usda", Files(Asset(**files)))


TEXTURED = """
rel material:binding = </Stein>
texCoord2f[] primvars:uv = [(0, 0), (0, 1), (1, 0), (1, 1), (0, 0), (0, 1), (1, 0), (1, 1)] (
    interpolation = "vertex"
)
"""
MATERIAL = """
def Material "Stein" {
    asset inputs:image = @textures/stone.png@
    token outputs:surface.connect = </Stein/Surface.outputs:surface>
    def Shader "Surface" {
        uniform token info:id = "UsdPreviewSurface"
        color3f inputs:diffuseColor.connect = </Stein/Image.outputs:rgb>
        float inputs:opacity = 0.5
        token outputs:surface
    }
    def Shader "Image" {
        uniform token info:id = "UsdUVTexture"
        asset inputs:file.connect = </Stein.inputs:image>
        float2 inputs:st.connect = </Stein/Turned.outputs:result>
        float3 outputs:rgb
    }
    def Shader "Turned" {
        uniform token info:id = "UsdTransform2d"
        float2 inputs:in.connect = </Stein/Reader.outputs:result>
        float inputs:rotation = 90
        float2 inputs:scale = (2, 1)
        float2 inputs:translation = (0.5, 0)
        float2 outputs:result
    }
    def Shader "Reader" {
        uniform token info:id = "UsdPrimvarReader_float2"
        string inputs:varname = "uv"
        float2 outputs:result
    }
}
"""
PAINTED = HEAD + mesh(TEXTURED) + MATERIAL
FILES = {
    "text.usda": lines(HEAD + mesh()),
    "binary.usdc": binary(HEAD + mesh()),
    "text.usd": lines(HEAD + mesh()),
    "package.usdz": package(
        ("../Käfig/a.usdc", binary(PAINTED)), ("../Käfig/textures/stone.png", png())
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_a_box_has_its_counts_bounds_and_unit_in_each_form(name: str) -> None:
    inspection = inspect(name, FILES[name], Asset())
    facts = inspection.facts
    assert inspection.refused is None
    assert [facts[f"size{axis}"] for axis in "XYZ"] == [1, 2, 3]
    assert (facts["volume"], facts["watertight"]) == (pytest.approx(6), True)
    assert (facts["triangles"], facts["vertices"], facts["meshes"]) == (12, 8, 1)
    assert (facts["unit"], facts["upAxis"], facts["layers"]) == ("centimeter", "z", 1)
    assert (facts["format"], facts["generator"]) == ("USD", "tests")
    assert facts["texturesEmbedded"] == (name == "package.usdz")
    assert inspection.thumbnail
    assert inspection.glb


_PLACED = f'def "b" (references = @parts/a.usda@</box>) {{ {moved(10)} }}\n'
_TWICE = _PLACED + _PLACED.replace('"b"', '"c"').replace("(10,", "(-5,")
_PART = {"parts/a__usda": LAYER + mesh()}
_INSTANCER = f"""
def PointInstancer "p" {{
    rel prototypes = [</p/box>, </other>]
    int[] protoIndices = [0, 0, 1, 0]
    int64[] ids = [1, 2, 3, 4]
    int64[] invisibleIds = [4]
    point3f[] positions = [(0, 0, 0), (10, 0, 0), (0, 0, 20), (99, 0, 0)]
    float3[] scales = [(1, 1, 1), (1, 2, 1), (1, 1, 1), (1, 1, 1)]
    {mesh()}
}}
class Cube "other" {{ double size = 4 }}
"""
COMPOSED: dict[str, tuple[Any, ...]] = {
    "sublayers": ("#usda 1.0\n(subLayers = [@parts/a.usda@])\n", _PART, [1, 2, 3], 12),
    "a layer over another": (
        '#usda 1.0\n(subLayers = [@parts/a.usda@])\nover "c" { ' + moved(5) + "}\n" + mesh(),
        {"parts/a__usda": LAYER + mesh().replace('"box"', '"c"')},
        *([6, 2, 3], 24),
    ),
    "references": (LAYER + _TWICE, _PART, [16, 2, 3], 24),
    "references in a folder": (
        LAYER + 'def "b" (references = @parts/b.usda@</b>) {}\n',
        {"parts/b__usda": LAYER + _PLACED.replace("parts/a", "../c"), "c__usda": LAYER + mesh()},
        *([1, 2, 3], 12),
    ),
    "payloads of a default prim": (
        LAYER + 'def "b" (payload = @parts/a.usdc@) {}\n',
        {"parts/a__usdc": binary('#usda 1.0\n(defaultPrim = "box")\n' + mesh())},
        *([1, 2, 3], 12),
    ),
    "packages": (
        LAYER
        + 'def "b" (references = @p.usdz@</box>) {}\n'
        + 'def "c" (references = @p.usdz[x/b.usda]@</box>) { '
        + moved(5)
        + "}\n",
        {
            "p__usdz": package(
                ("a.usda", lines(LAYER + mesh())), ("x/b.usda", lines(LAYER + mesh()))
            )
        },
        *([6, 2, 3], 24),
    ),
    "variants": (
        LAYER
        + 'def "b" (variants = { string size = "large" }\nprepend variantSets = "size") {\n'
        + f'variantSet "size" = {{ "small" {{ {mesh()} }} "large" {{ {mesh(times=2)} }} }} }}\n',
        *({}, [2, 4, 6], 12),
    ),
    "instances": (
        LAYER + _TWICE.replace("</box>", "").replace(" (ref", " (instanceable = true\nref"),
        {"parts/a__usda": '#usda 1.0\n(defaultPrim = "p")\ndef Xform "p" {\n' + mesh() + "}\n"},
        *([16, 2, 3], 24),
    ),
    "point instancers": (LAYER + _INSTANCER, {}, [13, 6, 22], 36),
    "purposes": (
        LAYER
        + "".join(
            mesh(f'uniform token purpose = "{purpose}"', times=times).replace("box", purpose)
            for times, purpose in enumerate(("render", "proxy", "guide"), 1)
        ),
        *({}, [1, 2, 3], 12),
    ),
    "hidden prims": (
        LAYER + mesh() + 'def Xform "b" { token visibility = "invisible"\n' + mesh(times=2) + "}\n",
        *({}, [1, 2, 3], 12),
    ),
    "classes and inactive prims": (
        LAYER
        + 'class "k" { '
        + mesh()
        + '}\ndef "b" (inherits = </k>) {}\n'
        + 'def "c" (active = false\ninherits = </k>) { '
        + moved(9)
        + "}\n",
        *({}, [1, 2, 3], 12),
    ),
    "matrices that are reset": (
        LAYER
        + 'def Xform "b" { '
        + moved(100)
        + mesh(
            "double3 xformOp:scale = (2, 1, 1)\n"
            'uniform token[] xformOpOrder = ["!resetXformStack!", "xformOp:scale"]\n'
        )
        + "}\n"
        + mesh(),
        *({}, [2, 2, 3], 24),
    ),
    "the first time": (
        LAYER
        + 'def Xform "b" { double3 xformOp:translate.timeSamples = '
        + "{ 1: (5, 0, 0), 9: (50, 0, 0) }\n"
        + 'uniform token[] xformOpOrder = ["xformOp:translate"]\n'
        + mesh()
        + "}\n"
        + mesh(),
        *({}, [6, 2, 3], 24),
    ),
}


@pytest.mark.parametrize("case", COMPOSED)
def test_a_stage_is_composed(case: str) -> None:
    text, files, size, triangles = COMPOSED[case]
    facts = facts_of(text, **files)
    assert "refused" not in facts
    assert [facts[f"size{axis}"] for axis in "XYZ"] == size
    assert facts["triangles"] == triangles
    assert facts.get("leftOut") == {
        "purposes": "1 prims of the purpose proxy (first: /proxy); "
        "1 prims of the purpose guide (first: /guide)",
        "hidden prims": "1 hidden prims (first: /b)",
    }.get(case)


_CURVES = """token type = "linear"
int[] curveVertexCounts = [2, 2]
point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 2, 0), (1, 2, 3)]"""


@pytest.mark.parametrize(
    ("prim", "size", "volume"),
    [
        ('Cube "a" { double size = 2 }', [2, 2, 2], 8),
        ('Sphere "a" { double radius = 2 }', [4, 4, 4], 33.5),
        (
            'Cylinder "a" { double radius = 1\ndouble height = 4\ntoken axis = "X" }',
            [4, 2, 2],
            12.6,
        ),
        ('Cone "a" { double radius = 1\ndouble height = 3\ntoken axis = "Y" }', [2, 3, 2], 3.14),
        ('Capsule "a" { double radius = 1\ndouble height = 2 }', [2, 2, 4], 10.5),
        ('Plane "a" { double width = 2\ndouble length = 3\ntoken axis = "Y" }', [2, 0, 3], None),
        ('Plane "a" { double width = 2\ndouble length = 3\ntoken axis = "X" }', [0, 3, 2], None),
        ('Points "a" { point3f[] points = [(0, 0, 0), (1, 2, 3)] }', [1, 2, 3], None),
        (f'BasisCurves "a" {{ {_CURVES} }}', [1, 2, 3], None),
    ],
)
def test_shapes_have_their_size(prim: str, size: list[float], volume: float | None) -> None:
    facts = facts_of(f"{LAYER}def {prim}")
    assert [facts[f"size{axis}"] for axis in "XYZ"] == pytest.approx(size)
    assert facts.get("volume") == (volume and pytest.approx(volume, rel=0.03))
    assert facts.get("watertight", volume) == (True if volume else facts.get("watertight"))
    assert "leftOut" not in facts


def test_materials_have_their_colour_texture_and_coordinates() -> None:
    subset = (
        'def GeomSubset "top" (prepend apiSchemas = ["MaterialBindingAPI"]) {\n'
        'uniform token elementType = "face"\nuniform token familyName = "materialBind"\n'
        "int[] indices = [0, 1]\nrel material:binding = </Rot> }\n"
    )
    red = (
        'def Material "Rot" { token outputs:surface.connect = </Rot/S.outputs:surface>\n'
        'def Shader "S" { uniform token info:id = "UsdPreviewSurface"\n'
        "color3f inputs:diffuseColor = (1, 0, 0)\ntoken outputs:surface } }\n"
    )
    text = HEAD + mesh(TEXTURED + subset) + MATERIAL + red
    scene = scene_of(text, **{"textures/stone__png": png()})
    stone, other = scene.materials
    assert (stone.name, stone.color, stone.texture) == ("Stein", (1, 1, 1, 0.5), png())
    assert (other.name, other.color, other.texture) == ("Rot", pytest.approx((1, 0, 0, 1)), None)
    assert [len(part.triangles) for part in scene.parts if part.triangles is not None] == [8, 4]
    # Scaled by 2 along u, rotated by 90 degrees, moved by 0.5; then from the top of the image.
    assert scene.parts[0].uv is not None
    assert np.allclose(scene.parts[0].uv[:4], [(0.5, 1), (-0.5, 1), (0.5, -1), (-0.5, -1)])
    facts = facts_of(text)
    assert (facts["texturesMissing"], facts["materials"]) == (1, 2)


def test_a_texture_is_beside_the_layer_that_names_it() -> None:
    text = LAYER + 'def "b" (references = @parts/a.usda@</box>) {}\n'
    part = LAYER + 'def "box" {\n' + mesh(TEXTURED.replace("</", "</box/"))
    part += MATERIAL.replace("</", "</box/") + "}\n"
    files = {"parts/a__usda": part, "parts/textures/stone__png": png()}
    facts = facts_of(text, **files)
    assert (facts["texturesFound"], facts["layers"]) == (1, 2)


def test_corners_with_values_of_their_own_are_vertices() -> None:
    normals = ", ".join(f"({x}, 0, 0)" for x in range(24))
    more = f'normal3f[] primvars:normals = [{normals}] (interpolation = "faceVarying")\n'
    colors = "color3f[] primvars:displayColor = [" + ", ".join(["(1, 0, 0)", "(0, 1, 0)"] * 3)
    colored = colors + '] (interpolation = "uniform")\n'
    assert facts_of(LAYER + mesh(more))["vertices"] == 24
    assert facts_of(LAYER + mesh(colored))["vertices"] == 14
    (part,) = scene_of(LAYER + mesh(colored)).parts
    assert part.colors is not None
    assert np.unique(part.colors.round(6), axis=0).tolist() == [[0, 1, 0, 1], [1, 0, 0, 1]]
    (plain,) = scene_of(LAYER + mesh("color3f[] primvars:displayColor = [(0, 0, 1)]\n")).materials
    assert (plain.color, plain.declared) == (pytest.approx((0, 0, 1, 1)), False)
    mirrored = facts_of(LAYER + mesh('uniform token orientation = "leftHanded"\n'))
    assert mirrored["volume"] == pytest.approx(6)
    assert facts_of(LAYER + mesh("int[] holeIndices = [0]\n"))["triangles"] == 10


_UNIT = "(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0)"


def test_a_skeleton_moves_its_mesh_to_the_rest_pose() -> None:
    def at(x: float) -> str:
        return f"({_UNIT}, ({x}, 0, 0, 1))"

    joints = (
        'int[] primvars:skel:jointIndices = [1] (elementSize = 1\ninterpolation = "constant")\n'
    )
    joints += (
        'float[] primvars:skel:jointWeights = [1] (elementSize = 1\ninterpolation = "constant")\n'
    )
    text = (
        LAYER
        + 'def SkelRoot "r" {\n'
        + (
            'def Skeleton "s" {\nuniform token[] joints = ["a", "a/b"]\n'
            f"uniform matrix4d[] bindTransforms = [{at(0)}, {at(1)}]\n"
            f"uniform matrix4d[] restTransforms = [{at(2)}, {at(3)}]\n}}\n"
        )
        + mesh(joints + "rel skel:skeleton = </r/s>\n" + moved(50))
        + "}\n"
    )
    facts = facts_of(text)
    # The mesh's own place does not count: its joint is moved from 1 to 2 + 3.
    assert facts["boundsMin"] == "[4.0, 0.0, 0.0]"
    assert facts["bones"] == 2
    assert "leftOut" not in facts
    broken = facts_of(text.replace(f"[{at(2)}, {at(3)}]", f"[{at(2)}]"))
    assert "1 skeletons without a bind and a rest pose" in broken["leftOut"]


_WRONG_TYPE = """def Mesh "box" {
string[] points = ["a"]
int[] faceVertexCounts = [3]
int[] faceVertexIndices = [0, 1, 2]
}
"""


_CLIPS = """clips = {
        dictionary default = {
            string templateAssetPath = "./clip.#.usda"
            double templateStartTime = 0
            double templateEndTime = 1e9
            double templateStride = 1
            string primPath = "/box"
        }
    }
"""


@pytest.mark.parametrize(
    ("text", "files", "left_out"),
    [
        (_PLACED, {}, "1 layers that are missing (first: parts/a.usda)"),
        (_PLACED.replace("parts/a", "../../../etc/geheim"), {}, "1 layers that are missing"),
        (_PLACED, {"parts/a__usda": "{"}, "1 layers that are not valid or too large (f"),
        (_PLACED, {"parts/a__usda": LAYER + _PLACED.replace("parts/", "").replace("</box>", "</b>")
                   .replace('"b"', '"box"')}, "errors of composition"),
        ('def "b" (references = </b/c>) { def "c" {} }\n', {}, "errors of composition"),
        (mesh(sides=[(0, 1, 2), (3, 4, 99)]), {}, "1 meshes with faces whose vertices"),
        (mesh().replace("Counts = [4, ", "Counts = [2147483647, "), {},
         "1 meshes whose faces have another number"),
        (mesh().replace("(0, 0, 0)", "(nan, 0, 0)"), {}, "1 of 16 vertices are not finite"),
        (mesh("normal3f[] normals = [(0, 0, 1)]\n").replace("[0, 1, 3", "[-121, 1, 3"), {},
         "1 meshes with faces whose vertices"),
        (_WRONG_TYPE, {}, "1 meshes with faces whose vertices"),
        ('def NurbsPatch "n" {}\n', {}, "1 prims of the type NurbsPatch, which is not read"),
        # Templates of a name for each of a billion times.
        (mesh().replace("(prepend", f"({_CLIPS} prepend"), {}, "1 value clips (first: /box)"),
        (f'def "c" ({_CLIPS}) {{}}\n', {}, "1 value clips (first: /c)"),
        (_PLACED, {"parts/a__usda": LAYER + _PLACED.replace("parts/a", "../a")
                   .replace("</box>", "</b>").replace('"b"', '"box"')},
         "references: parts/a.usda</box> which references: a.usda</b>"),
        (_INSTANCER.replace("</other>", "</p>"), {}, "1 point instancers that are not valid"),
        ('def PointInstancer "p" { int[] protoIndices = [7]\npoint3f[] positions = [(0, 0, 0)] }\n',
         {}, "1 point instancers that are not valid"),
    ],
)  # fmt: skip
def test_what_is_missing_is_named(text: str, files: dict[str, str], left_out: str) -> None:
    facts = facts_of(LAYER + text + 'def Cube "Würfel_立方体_куб" {}\n', **files)
    assert "refused" not in facts
    assert facts["triangles"] >= 12
    assert left_out in facts["leftOut"]
