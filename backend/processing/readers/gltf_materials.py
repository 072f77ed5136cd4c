"""Materials and images of glTF."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import numpy as np

from backend.processing.colors import linear_to_srgb
from backend.processing.files import Files
from backend.processing.readers.accessors import Accessors, entry
from backend.processing.readers.data_uris import data_of
from backend.processing.readers.json_values import listing, mapping
from backend.processing.scene import Floats, Material, RefusedError

Json = Mapping[str, Any]


_GLOSSY = "KHR_materials_pbrSpecularGlossiness"
_TRANSFORM = "KHR_texture_transform"
# Sets of texture coordinates; glTF 2.0 expects at least two of a reader. A number beyond them reads
# as the first set.
_SETS = 8


@dataclass(frozen=True)
class Coordinates:
    """A set of texture coordinates, and how it is moved (`KHR_texture_transform`)."""

    number: int = 0
    offset: tuple[float, float] = (0.0, 0.0)
    rotation: float = 0.0
    scale: tuple[float, float] = (1.0, 1.0)

    def move(self, uv: Floats | None) -> Floats | None:
        if uv is None or (self.offset, self.rotation, self.scale) == ((0, 0), 0, (1, 1)):
            return uv
        sine, cosine = math.sin(self.rotation), math.cos(self.rotation)
        turn = np.array([[cosine, sine], [-sine, cosine]])
        with np.errstate(all="ignore"):
            return (uv * self.scale) @ turn.T + np.array(self.offset)


class Materials:
    """Reads the materials; `embedded` counts the images that are in the document itself."""

    def __init__(self, document: Json, accessors: Accessors, files: Files) -> None:
        self._document = document
        self._accessors = accessors
        self._files = files
        self._images: list[bytes | None] = []
        self.embedded = 0

    def coordinates(self, index: int) -> Coordinates:
        """Return which texture coordinates a material uses, and how it moves them."""
        materials = listing(self._document.get("materials"))
        material = mapping(materials[index]) if 0 <= index < len(materials) else {}
        texture = _base_texture(material)
        moved = mapping(mapping(texture.get("extensions")).get(_TRANSFORM))
        number = moved.get("texCoord", texture.get("texCoord", 0))
        return Coordinates(
            number if isinstance(number, int) and 0 <= number < _SETS else 0,
            _pair(moved.get("offset"), 0.0),
            _number(moved.get("rotation")),
            _pair(moved.get("scale"), 1.0),
        )

    def read(self) -> list[Material]:
        self._images = [
            self._image(mapping(image)) for image in listing(self._document.get("images"))
        ]
        return [
            self._material(mapping(material))
            for material in listing(self._document.get("materials"))
        ]

    def _image(self, image: Json) -> bytes | None:
        uri = image.get("uri")
        if isinstance(uri, str) and not uri.startswith("data:"):
            return self._files.read(unquote(uri), "texture")
        self.embedded += 1
        try:
            if isinstance(uri, str):
                return data_of(uri)
            return bytes(self._accessors.view(image.get("bufferView"))[0])
        except RefusedError:
            return None  # a broken texture does not hide the geometry

    def _material(self, material: Json) -> Material:
        metallic = mapping(material.get("pbrMetallicRoughness"))
        extensions = mapping(material.get("extensions"))
        glossy = mapping(extensions.get(_GLOSSY))
        color = metallic.get("baseColorFactor", glossy.get("diffuseFactor"))
        return Material(
            str(material.get("name", ""))[:200],
            _color(color),
            self._texture(_base_texture(material).get("index")),
        )

    def _texture(self, index: object) -> bytes | None:
        if index is None:
            return None
        try:
            texture = entry(self._document, "textures", index)
        except RefusedError:
            return None
        webp = mapping(mapping(texture.get("extensions")).get("EXT_texture_webp"))
        source = webp.get("source", texture.get("source"))
        if not isinstance(source, int) or not 0 <= source < len(self._images):
            return None
        return self._images[source]


def _base_texture(material: Json) -> dict[str, Any]:
    metallic = mapping(material.get("pbrMetallicRoughness"))
    glossy = mapping(mapping(material.get("extensions")).get(_GLOSSY))
    return mapping(metallic.get("baseColorTexture", glossy.get("diffuseTexture")))


def _number(value: object) -> float:
    number = float(value) if isinstance(value, int | float) else 0.0
    return number if math.isfinite(number) else 0.0


def _pair(values: object, other: float) -> tuple[float, float]:
    numbers = [float(number) for number in listing(values) if isinstance(number, int | float)]
    valid = len(numbers) == 2 and np.isfinite(numbers).all()
    return (numbers[0], numbers[1]) if valid else (other, other)


def _color(factor: object) -> tuple[float, float, float, float]:
    values = listing(factor)
    numbers = [float(number) for number in values if isinstance(number, int | float)]
    red, green, blue, alpha = (*numbers, 1.0, 1.0, 1.0, 1.0)[:4]
    red, green, blue = linear_to_srgb(np.array([red, green, blue])).tolist()
    return red, green, blue, alpha
