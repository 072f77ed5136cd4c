"""Materials and images of glTF."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from backend.processing.files import Files
from backend.processing.readers.accessors import Accessors, entry
from backend.processing.readers.data_uris import data_of
from backend.processing.readers.json_values import listing, mapping
from backend.processing.scene import Material, RefusedError

Json = Mapping[str, Any]


class Materials:
    """Reads the materials; `embedded` counts the images that are in the document itself."""

    def __init__(self, document: Json, accessors: Accessors, files: Files) -> None:
        self._document = document
        self._accessors = accessors
        self._files = files
        self._images: list[bytes | None] = []
        self.embedded = 0

    def read(self) -> list[Material]:
        self._images = [
            self._image(mapping(each)) for each in listing(self._document.get("images"))
        ]
        return [self._material(mapping(each)) for each in listing(self._document.get("materials"))]

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
        glossy = mapping(extensions.get("KHR_materials_pbrSpecularGlossiness"))
        texture = metallic.get("baseColorTexture", glossy.get("diffuseTexture"))
        color = metallic.get("baseColorFactor", glossy.get("diffuseFactor"))
        return Material(
            str(material.get("name", ""))[:200],
            _color(color),
            self._texture(mapping(texture).get("index")),
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


def _color(factor: object) -> tuple[float, float, float, float]:
    given = listing(factor)
    numbers = [float(each) for each in given if isinstance(each, int | float)]
    red, green, blue, alpha = (*numbers, 1.0, 1.0, 1.0, 1.0)[:4]
    return red, green, blue, alpha
