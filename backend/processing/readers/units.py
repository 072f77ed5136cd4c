"""The unit of length of a file, as the file or its format defines it."""

import io
import re
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any

from backend.processing.scene import METRE, Unit

_UNITS = {
    unit.name: unit
    for unit in (
        Unit("micron", 1e-6),
        Unit("millimeter", 1e-3),
        Unit("centimeter", 1e-2),
        Unit("inch", 0.0254),
        Unit("foot", 0.3048),
        Unit("yard", 0.9144),
        METRE,
    )
}
_ALIASES = {"feet": "foot", "meter": "metre", "micrometer": "micron"}
_COLLADA = re.compile(rb'<unit\b[^>]*?\bmeter="([0-9.eE+-]{1,30})"')
_AMF = re.compile(rb'<amf\b[^>]*?\bunit="(\w{1,20})"')
_3MF = re.compile(rb'<model\b[^>]*?\bunit="(\w{1,20})"')


def unit_of(extension: str, data: bytes, metadata: Mapping[str, Any]) -> Unit | None:
    """Return the unit, None if neither the file nor its format defines one."""
    match extension:
        case "gltf" | "glb" | "vrm":
            return METRE
        case "fbx":
            scale = metadata.get("UnitScaleFactor")  # centimetres of a unit
            return _of_length(scale / 100) if isinstance(scale, float) else None
        case "dae":
            found = _COLLADA.search(data[:65536])
            return _of_length(_number(found[1])) if found else METRE
        case "amf":
            found = _AMF.search(data[:4096])
            return named(found[1].decode()) if found else _UNITS["millimeter"]
        case "3mf":
            found = _3MF.search(_model_of_3mf(data))
            return named(found[1].decode()) if found else _UNITS["millimeter"]
        case _:
            return None


def named(name: str) -> Unit | None:
    """Return a unit by its English name, in the singular."""
    lower = name.lower()
    return _UNITS.get(_ALIASES.get(lower, lower))


def _of_length(metres: float) -> Unit | None:
    if not 0 < metres < float("inf"):
        return None
    for unit in _UNITS.values():
        if abs(unit.metres - metres) < 1e-6 * metres:
            return unit
    return Unit(f"{metres:g} metres", metres)


def _number(text: bytes) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _model_of_3mf(data: bytes) -> bytes:
    """Return the first bytes of the model in the archive. Nothing is extracted to a file."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = [name for name in archive.namelist() if name.endswith(".model")]
            if not names:
                return b""
            with archive.open(names[0]) as model:
                return model.read(4096)
    except (zipfile.BadZipFile, zlib.error, OSError, NotImplementedError, RuntimeError):
        return b""
