"""STEP and IGES: OpenCASCADE triangulates the solids, as a GLB in memory."""

import functools
from dataclasses import replace
from typing import Any

import numpy as np

from backend.processing.files import Files
from backend.processing.readers import gltf
from backend.processing.readers.step_header import originating_system
from backend.processing.readers.text import BYTE_ORDER_MARK
from backend.processing.readers.units import unit_named
from backend.processing.scene import RefusedError, Scene
from backend.spec.formats import FORMAT_OF, extension_of

# How far triangles may be from the solid: 0.1 mm, and 0.5 radians between neighbours. A sphere of 1
# km would have gigabytes of triangles, so it is 1/2000 of the size of models above 200 mm. Larger
# files, which have many small faces, are read once.
_LINEAR, _ANGULAR, _OF_SIZE = 0.1, 0.5, 1 / 2000
_COARSE, _MEASURED_BYTES = 0.1, 8 << 20


@functools.cache
def library() -> Any:
    """Return the library. Loading it opens files: a confined child has it loaded before."""
    import cascadio  # noqa: PLC0415 - the function `Inspect` does not have it

    return cascadio


def _scene(data: bytes, kind: str, files: Files, **tolerance: float) -> Scene:
    converted: bytes = library().load(
        data,
        file_type=kind,
        tol_angular=_ANGULAR,
        use_parallel=False,  # a confined process starts no threads
        **tolerance,
    )
    if not converted:
        raise RefusedError("OpenCASCADE cannot read it")
    scene = gltf.read(converted, files)
    if not scene.parts:
        raise RefusedError("holds no solids")
    return scene


def _size(scene: Scene) -> float:
    """Return the largest extent of a scene; 0 if it is not finite."""
    lowest = np.min([part.positions.min(0) for part in scene.parts], axis=0)
    highest = np.max([part.positions.max(0) for part in scene.parts], axis=0)
    size = float((highest - lowest).max())
    return size if np.isfinite(size) else 0.0


def read(data: bytes, name: str, files: Files) -> Scene:
    """Read a STEP or an IGES file."""
    kind = FORMAT_OF[extension_of(name)].name.lower()
    data = data.removeprefix(BYTE_ORDER_MARK)
    # OpenCASCADE converts STEP to metres, IGES to millimetres.
    unit = unit_named("metre" if kind == "step" else "millimeter")
    millimetres = 1000 if kind == "step" else 1
    tolerance = _LINEAR
    if len(data) <= _MEASURED_BYTES:
        coarse = _scene(data, kind, files, tol_linear=_COARSE, tol_relative=True)
        tolerance = max(_LINEAR, _size(coarse) * millimetres * _OF_SIZE)
    scene = _scene(data, kind, files, tol_linear=tolerance)
    generator = originating_system(data)
    return replace(scene, format=kind.upper(), generator=generator, unit=unit, defines_up=False)
