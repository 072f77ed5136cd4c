"""Materials and textures of an assimp scene."""

import ctypes as c
import re
from typing import Any
from unicodedata import normalize

import numpy as np
from numpy import ctypeslib

from backend.processing.files import Files
from backend.processing.readers import assimp_types as ai
from backend.processing.scene import Bytes, Material

_FLOATS, _STRING = 1, 3
_COLOR_TEXTURES = (1, 12)  # diffuse, base colour
_EMBEDDED = re.compile(r"\*(\d{1,6})")
# An embedded image that is not compressed declares its own size: 256 MiB are 64 megapixels.
_DECODED_BYTES = 1 << 28
_ADDED = frozenset(
    {"%%%DEFAULT", "<IFCDefault>", "<LWODefault>", "<MS3D_DefaultMat>", "DefaultMaterial"}
    | {"LWODefaultSurface", "SkeletonMaterial"}
)
"""The names of materials that importers add where a file has none."""
_ADDED_KEYS = ["$clr.diffuse", "?mat.name"]
_AC = re.compile(rb"(?m)^\s*MATERIAL\b")
_MARKS = {
    **dict.fromkeys(("ac", "ac3d", "acc"), _AC),
    **dict.fromkeys(("off", "raw"), re.compile(rb"(?!)")),  # without materials
    "b3d": re.compile(rb"BRUS"),
    "nff": re.compile(rb"(?m)^[ \t]*f[ \t]|\b0x"),
    "x": re.compile(rb"\bMaterial\b"),
}
"""Statements that declare materials, in formats whose importers do not name all of them."""


class Materials:
    """Reads the materials of a scene, and the textures that they reference."""

    def __init__(self, scene: Any, files: Files, data: bytes, extension: str) -> None:
        self._scene = scene
        self._files = files
        self._data = data
        self._mark = _MARKS.get(extension)
        self._embedded = [
            scene.textures[index].contents for index in range(min(scene.texture_count, 1000))
        ]
        self._by_name = {_last(texture.filename.text()): texture for texture in self._embedded}

    def read(self) -> list[Material]:
        count = self._scene.material_count
        return [self._material(self._scene.materials[index].contents) for index in range(count)]

    def _material(self, material: Any) -> Material:
        name, texture, values, keys = "", None, dict[str, list[float]](), list[str]()
        for index in range(material.count):
            property_ = material.properties[index].contents
            key = property_.key.text()
            keys.append(key)
            if property_.type == _FLOATS:
                count = min(property_.length // 4, 4)
                values[key] = (
                    list((c.c_float * count).from_address(property_.data)) if property_.data else []
                )
            elif property_.type == _STRING and key == "?mat.name":
                name = _text(property_)
            elif property_.type == _STRING and key == "$tex.file":
                content = self._texture(_text(property_))
                if property_.semantic in _COLOR_TEXTURES and texture is None:
                    texture = content
        color = values.get("$clr.base") or values.get("$clr.diffuse") or [0.8, 0.8, 0.8]
        alpha = values.get("$mat.opacity") or [1.0]
        red, green, blue = (*color, 1.0, 1.0, 1.0)[:3]
        if not np.isfinite([red, green, blue, alpha[0]]).all():
            red, green, blue, alpha = 0.8, 0.8, 0.8, [1.0]
        color = (red, green, blue, alpha[0])
        return Material(name[:200], color, texture, declared=self._is_declared(name, keys))

    def _is_declared(self, name: str, keys: list[str]) -> bool:
        """Return whether the file declares the material; importers add materials of their own."""
        if "$tex.file" in keys:
            return True
        if self._mark is not None and name in {"", "DefaultMaterial"}:
            return self._mark.search(self._data) is not None
        if name not in _ADDED:
            return True
        if self._data.startswith(b"PK"):
            return keys != _ADDED_KEYS
        return any(
            name.encode(encoding) in self._data for encoding in ("utf-8", "utf-16-le", "utf-16-be")
        )

    def _texture(self, name: str) -> bytes | Bytes | None:
        if not name:
            return None
        numbered = _EMBEDDED.fullmatch(name)
        if numbered:
            index = int(numbered[1])
            return _content(self._embedded[index]) if index < len(self._embedded) else None
        if _last(name) in self._by_name:
            return _content(self._by_name[_last(name)])
        return self._files.read(name, "texture")


def _last(path: str) -> str:
    return normalize("NFC", path.replace("\\", "/").rsplit("/", 1)[-1]) or "?"


def _text(property_: Any) -> str:
    length = ai.U32.from_address(property_.data).value
    return c.string_at(property_.data + 4, min(length, property_.length - 5)).decode(
        "utf-8", "surrogateescape"
    )


def _content(texture: Any) -> bytes | Bytes | None:
    if not texture.data:
        return None
    if texture.height == 0:
        return c.string_at(texture.data, texture.width)
    size = texture.width * texture.height * 4
    if size > _DECODED_BYTES:
        return None
    pixels = ctypeslib.as_array((c.c_uint8 * size).from_address(texture.data))
    return pixels.reshape(texture.height, texture.width, 4)[..., [2, 1, 0, 3]].copy()
