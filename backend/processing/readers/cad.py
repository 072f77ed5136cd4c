"""STEP and IGES: OpenCASCADE triangulates the solids, as a GLB in memory."""

import functools
import re
from dataclasses import replace
from typing import Any

from backend.processing.files import Files
from backend.processing.readers import gltf
from backend.processing.readers.endings import require_end
from backend.processing.readers.step_header import originating_system
from backend.processing.readers.text import BYTE_ORDER_MARK
from backend.processing.readers.text_elements import require_elements
from backend.processing.readers.units import unit_named
from backend.processing.scene import RefusedError, Scene

# How far triangles may be from the solid: 0.1 mm, and 0.5 radians between neighbours.
_LINEAR, _ANGULAR = 0.1, 0.5
_HEADER = re.compile(rb"(?<!END-)ISO-10303-21;")


@functools.cache
def library() -> Any:
    """Return the library. Loading it opens files: a confined child has it loaded before."""
    import cascadio  # noqa: PLC0415 - the function `Inspect` does not have it

    return cascadio


def read(data: bytes, extension: str, files: Files) -> Scene:
    """Read a STEP or an IGES file."""
    kind = "step" if extension in {"step", "stp"} else "iges"
    data = data.removeprefix(BYTE_ORDER_MARK)
    if kind == "step" and b"ISO-10303-21" not in data[:1024]:
        raise RefusedError("not a STEP file: it has no header")
    if kind == "step" and len(_HEADER.findall(data[:4096])) > 1:
        raise RefusedError("the STEP file has two headers")
    require_end(extension, data)
    require_elements(kind, data)
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
