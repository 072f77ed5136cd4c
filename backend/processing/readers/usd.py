"""USD: OpenUSD composes a stage of its layers, whose prims are read as a scene."""

import functools
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from backend.processing import limits
from backend.processing.files import Files, NoFiles
from backend.processing.readers.transforms import UNMOVED, repeat, transform
from backend.processing.readers.units import unit_of_length
from backend.processing.readers.usd_layers import Layers
from backend.processing.readers.usd_materials import Materials
from backend.processing.readers.usd_shapes import Shapes, whole
from backend.processing.readers.usd_skeletons import Skeletons
from backend.processing.scene import Floats, Part, RefusedError, Scene

_MODULES = ("Sdf", "Tf", "Usd", "UsdGeom", "UsdShade", "UsdSkel")
_DEPTH = 16  # of point instancers in prototypes of others, which may contain themselves
_NOT_DRAWN = ("proxy", "guide")
# Read before confinement: OpenUSD loads its plug-ins, and what a stage needs, at the first use.
_STAGE = b"""#usda 1.0
def Cube "a" (prepend apiSchemas = ["MaterialBindingAPI"]) {
    rel material:binding = </b>
    double3 xformOp:translate = (1, 2, 3)
    uniform token[] xformOpOrder = ["xformOp:translate"]
}
def Material "b" {
    token outputs:surface.connect = </b/c.outputs:surface>
    def Shader "c" {
        uniform token info:id = "UsdPreviewSurface"
        color3f inputs:diffuseColor = (1, 1, 1)
        token outputs:surface
    }
}
def PointInstancer "d" {
    rel prototypes = </a>
    int[] protoIndices = [0]
    point3f[] positions = [(0, 0, 0)]
}
def Skeleton "e" {
    uniform token[] joints = ["f"]
}
"""


@functools.cache
def library() -> Any:
    """Return the modules of OpenUSD, which have read a stage as text and as binary."""
    # Only the function `InspectUsd` has them.
    modules = {name: import_module(f"pxr.{name}") for name in _MODULES}
    pxr: Any = SimpleNamespace(**modules)
    with tempfile.TemporaryDirectory() as folder:
        binary = Path(folder, "a.usdc")
        layer = pxr.Sdf.Layer.CreateAnonymous(".usda")
        layer.ImportFromString(_STAGE.decode())
        layer.Export(str(binary))
        for data in (_STAGE, binary.read_bytes()):
            if len(_scene(pxr, data, "a.usd", Files(NoFiles())).parts) != 2:
                raise ImportError("OpenUSD cannot compose a stage")
    return pxr


def read(data: bytes, name: str, files: Files) -> Scene:
    """Read a USD stage, as text, binary or package.

    Raises:
        RefusedError: it is not valid, or has more than is read.
    """
    return _scene(library(), data, name, files)


def _scene(pxr: Any, data: bytes, name: str, files: Files) -> Scene:
    with Layers(pxr, files, data, name) as layers:
        try:
            root = layers.open_all()
            stage = _Stage(pxr, pxr.Usd.Stage.Open(root), layers)
            return stage.scene(root, layers)
        except pxr.Tf.ErrorException as error:
            raise RefusedError(f"not valid: {layers.reason_of(error)}") from None


class _Stage:
    """A composed stage, at the first time at which it has values."""

    def __init__(self, pxr: Any, stage: Any, layers: Layers) -> None:
        self._pxr, self._stage = pxr, stage
        self._time = time = pxr.Usd.TimeCode.EarliestTime()
        self._worlds = pxr.UsdGeom.XformCache(time)
        self._materials = Materials(pxr, time, layers)
        self._skeletons = Skeletons(pxr, time, self._worlds, self.leave_out)
        self._shapes = Shapes(
            pxr, time, self._materials.surface_of, self._skeletons.posed, self.leave_out
        )
        self._parts: dict[object, list[Part]] = {}
        self._left_out: dict[str, tuple[int, str]] = {}
        self._placed = self._animations = 0

    def leave_out(self, what: str, place: object) -> None:
        count, first = self._left_out.get(what, (0, str(place)))
        self._left_out[what] = count + 1, first

    def scene(self, root: Any, layers: Layers) -> Scene:
        pxr, stage = self._pxr, self._stage
        parts = self.parts_of(stage.GetPseudoRoot(), UNMOVED)
        for what, names in (("missing", layers.missing), ("not valid or too large", layers.broken)):
            for name in names:
                self.leave_out(f"layers that are {what}", name)
        for prim in layers.clipped:
            self.leave_out("value clips", prim)
        # A cycle of sublayers causes other errors: references to its layers cannot be opened.
        errors = stage.GetCompositionErrors()
        for error in sorted(errors, key=lambda error: "Cycle" not in type(error).__name__):
            self.leave_out("errors of composition", layers.reason_of(error))
        up = str(pxr.UsdGeom.GetStageUpAxis(stage)).lower()
        if stage.HasAuthoredTimeCodeRange() and stage.GetEndTimeCode() > stage.GetStartTimeCode():
            self._animations = max(self._animations, 1)
        return Scene(
            "USD",
            parts,
            self._materials.materials,
            len(self._parts),
            generator=str(root.customLayerData.get("creator", root.documentation))[:200],
            up=up if up in {"x", "y", "z"} else "y",
            defines_up=True,
            unit=unit_of_length(float(pxr.UsdGeom.GetStageMetersPerUnit(stage))),
            animations=self._animations,
            bones=self._skeletons.bones,
            embedded_textures=self._materials.embedded_textures,
            left_out=tuple(
                f"{count} {what} (first: {first})"
                for what, (count, first) in self._left_out.items()
            ),
            facts={"layers": len(layers)},
        )

    def parts_of(self, root: Any, matrix: Floats, depth: int = 0) -> list[Part]:
        """Return the parts of a prim and those below it; `matrix` is that of the prim above."""
        usd, geom = self._pxr.Usd, self._pxr.UsdGeom
        # Prototypes of point instancers may be abstract.
        known = usd.PrimIsActive & usd.PrimIsLoaded & usd.PrimIsDefined
        shown = usd.TraverseInstanceProxies(known if depth else usd.PrimDefaultPredicate)
        parts, vertices = list[Part](), 0
        waiting = [(root, matrix, "default")]
        while waiting:
            prim, world, purpose = waiting.pop()
            self.count(1)
            if prim.IsA(usd.Typed) and not prim.IsA(geom.Imageable):
                self._animations += prim.IsA(self._pxr.UsdSkel.Animation)
                continue
            if prim.IsA(geom.Imageable):
                imageable = geom.Imageable(prim)
                if imageable.GetVisibilityAttr().Get(self._time) == "invisible":
                    self.leave_out("hidden prims", prim.GetPath())
                    continue
                authored = imageable.GetPurposeAttr()
                purpose = str(authored.Get()) if authored.HasAuthoredValue() else purpose
            if prim.IsA(geom.Xformable):
                local, resets = self._worlds.GetLocalTransformation(prim)
                world = (matrix if resets else world) @ np.array(local, np.float64).T
            if prim.IsA(geom.Gprim) or prim.IsA(geom.PointInstancer):
                for part in self.placed(prim, world, purpose, depth):
                    parts.append(part)
                    vertices += len(part.positions)
                    if vertices > limits.VERTICES:
                        raise RefusedError(f"more than {limits.VERTICES} vertices")
            if not prim.IsA(geom.PointInstancer):
                children = reversed(prim.GetFilteredChildren(shown))
                waiting += [(child, world, purpose) for child in children]
        return parts

    def count(self, placed: int) -> None:
        """Count prims and instances, each of which takes time."""
        self._placed += placed
        if self._placed > limits.NODES:
            raise RefusedError(f"places more than {limits.NODES} prims")

    def placed(self, prim: Any, world: Floats, purpose: str, depth: int) -> Iterator[Part]:
        """Return the parts of one prim, or of the instances that it places."""
        if purpose in _NOT_DRAWN:
            self.leave_out(f"prims of the purpose {purpose}", prim.GetPath())
            return
        if prim.IsA(self._pxr.UsdGeom.PointInstancer):
            yield from self.instances(prim, world, depth)
            return
        source = prim.GetPrimInPrototype() if prim.IsInstanceProxy() else prim
        key = source.GetPath(), self._materials.surface_of(prim)
        if key not in self._parts:
            self._parts[key] = self._shapes.read(prim)
        for part in self._parts[key]:
            yield transform(part, world)

    def instances(self, prim: Any, world: Floats, depth: int) -> Iterator[Part]:
        """Return the prototypes of a point instancer, moved to its places."""
        instancer, time = self._pxr.UsdGeom.PointInstancer(prim), self._time
        indices = whole(instancer.GetProtoIndicesAttr(), time)
        self.count(len(indices))
        places = instancer.ComputeInstanceTransformsAtTime(
            time, time, instancer.ExcludeProtoXform, instancer.IgnoreMask
        )
        matrices = np.array(places, np.float64).reshape(-1, 4, 4).swapaxes(1, 2)
        shown = np.array(instancer.ComputeMaskAtTime(time) or [True] * len(indices), np.bool_)
        targets = instancer.GetPrototypesRel().GetForwardedTargets()
        wrong = (indices < 0) | (indices >= len(targets))
        if not len(indices) == len(matrices) == len(shown) or wrong.any() or depth >= _DEPTH:
            self.leave_out("point instancers that are not valid", prim.GetPath())
            return
        for number, target in enumerate(targets):
            chosen = world @ matrices[shown & (indices == number)]
            prototype = self._stage.GetPrimAtPath(target)
            if not prototype:
                self.leave_out("prototypes that are missing", target)
            for part in self.parts_of(prototype, UNMOVED, depth + 1) if prototype else ():
                if len(chosen) * len(part.positions) > limits.VERTICES:
                    raise RefusedError(f"more than {limits.VERTICES} vertices")
                yield repeat(part, chosen)
