"""STEP and IGES: OpenCASCADE triangulates the solids, as a GLB in memory."""

import functools
from dataclasses import replace
from typing import Any

from backend.processing.files import Files
from backend.processing.readers import gltf
from backend.processing.readers.step_header import originating_system
from backend.processing.readers.text import BYTE_ORDER_MARK
from backend.processing.readers.units import unit_named
from backend.processing.scene import RefusedError, Scene
from backend.spec.formats import FORMAT_OF, extension_of

# How far triangles may be from the solid: 0.1 mm, and 0.5 radians between neighbours.
_LINEAR, _ANGULAR = 0.1, 0.5


@functools.cache
def library() -> Any:
    """Return the library. Loading it opens files: a confined child has it loaded before."""
    import cascadio  # noqa: PLC0415 - the function `Inspect` does not have it

    return cascadio


def read(data: bytes, name: str, files: Files) -> Scene:
    """Read a STEP or an IGES file."""
    kind = FORMAT_OF[extension_of(name)].name.lower()
    data = data.removeprefix(BYTE_ORDER_MARK)
    converted: bytes = library().load(
        data,
        file_type=kind,
        tol_linear=_LINEAR,
        tol_angular=_ANGULAR,
        use_parallel=False,  # a confined process starts no threads
    )
    if not converted:
        raise RefusedError("OpenCASCADE cannot read it")
    scene = gltf.read(converted, files)
    if not scene.parts:
        raise RefusedError("holds no solids")
    # OpenCASCADE converts STEP to metres, IGES to millimetres.
    unit = unit_named("metre" if kind == "step" else "millimeter")
    generator = originating_system(data)
    return replace(scene, format=kind.upper(), generator=generator, unit=unit, defines_up=False)
