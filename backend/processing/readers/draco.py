"""Meshes of glTF that are compressed with Draco."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from backend.processing import limits
from backend.processing.readers.accessors import Accessors, Array
from backend.processing.readers.json_values import mapping
from backend.processing.scene import RefusedError

EXTENSION = "KHR_draco_mesh_compression"


class Draco:
    """Decodes the compressed primitives of one document."""

    def __init__(self, accessors: Accessors) -> None:
        self._accessors = accessors

    def attributes(self, primitive: Mapping[str, Any]) -> dict[str, Array]:
        """Return the attributes and the indices; nothing if the primitive is not compressed."""
        extensions = mapping(primitive.get("extensions"))
        if EXTENSION not in extensions:
            return {}
        compressed = mapping(extensions[EXTENSION])
        data, _ = self._accessors.view(compressed.get("bufferView"))
        return _decode(bytes(data), mapping(compressed.get("attributes")))


def _decode(data: bytes, names: Mapping[str, Any]) -> dict[str, Array]:
    import DracoPy  # noqa: PLC0415 - few files are compressed with Draco

    draco: Any = DracoPy
    try:
        mesh = draco.decode(data)
    except (draco.FileTypeException, ValueError, RuntimeError):
        raise RefusedError("a Draco-compressed mesh cannot be decoded") from None
    read: dict[str, Array] = {}
    for attribute in mesh.attributes:
        for name, identifier in names.items():
            if identifier == attribute["unique_id"]:
                read[str(name)] = _rows(np.asarray(attribute["data"]), str(name))
    faces = getattr(mesh, "faces", None)
    if faces is not None:
        read["indices"] = np.asarray(faces).reshape(-1, 1)
    if sum(len(values) for values in read.values()) > 8 * limits.VERTICES:
        raise RefusedError(f"more than {limits.VERTICES} vertices")
    return read


def _rows(values: Array, name: str) -> Array:
    if name.startswith("COLOR") and values.dtype.kind == "u":
        return values / np.iinfo(values.dtype).max
    return values
