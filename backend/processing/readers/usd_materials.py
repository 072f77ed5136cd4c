"""Materials of USD: the base colour of the surface bound to a prim, and its texture."""

import math
from typing import Any

import numpy as np

from backend.processing.colors import linear_to_srgb
from backend.processing.readers.gltf_materials import Coordinates
from backend.processing.readers.usd_layers import Layers, Place
from backend.processing.readers.usd_shapes import Surface
from backend.processing.scene import Material

# The inputs of UsdPreviewSurface, of MaterialX and of MDL.
_COLORS = ("diffuseColor", "base_color", "diffuse_color_constant", "diffuse_texture")
_OPACITIES = ("opacity", "geometry_opacity")
# Between a texture and the name of its coordinates there are nodes, but not many.
_COORDINATES, _NODES = ("st", "in", "texcoord", "varname", "geomprop"), 8
_FIRST_TILE = "1001"  # of a texture in tiles
_Rgb = tuple[float, float, float]
_GREY: _Rgb = (0.8, 0.8, 0.8)


class Materials:
    """The materials that prims of a stage use."""

    def __init__(self, pxr: Any, time: Any, layers: Layers) -> None:
        self._pxr, self._time, self._layers = pxr, time, layers
        self._surfaces: dict[object, Surface] = {}
        self._embedded = set[Place]()
        self.materials: list[Material] = []

    @property
    def embedded_textures(self) -> int:
        return len(self._embedded)

    def surface_of(self, prim: Any) -> Surface:
        """Return the surface of a prim: of the material bound to it, or of its display colour."""
        shade = self._pxr.UsdShade
        material = shade.MaterialBindingAPI(prim).ComputeBoundMaterial()[0]
        if material:
            bound = material.GetPrim()
            bound = bound.GetPrimInPrototype() if bound.IsInstanceProxy() else bound
            if bound.GetPath() not in self._surfaces:
                self._surfaces[bound.GetPath()] = self.declared(shade.Material(bound))
            return self._surfaces[bound.GetPath()]
        color, opacity = (self.display(prim, name) for name in ("displayColor", "displayOpacity"))
        if (color, opacity) not in self._surfaces:
            surface = Surface()
            if color or opacity:
                surface = Surface(len(self.materials))
                shown = (*(_shown(color) or _GREY), _opacity(*opacity[:1]))
                self.materials.append(Material(color=shown, declared=False))
            self._surfaces[color, opacity] = surface
        return self._surfaces[color, opacity]

    def display(self, prim: Any, name: str) -> tuple[float, ...]:
        """Return the numbers of a primvar that has one value for the whole prim."""
        primvar = self._pxr.UsdGeom.PrimvarsAPI(prim).FindPrimvarWithInheritance(name)
        if not primvar or primvar.GetInterpolation() != "constant":
            return ()
        return _numbers(primvar.Get(self._time))

    def declared(self, material: Any) -> Surface:
        """Return the surface of a material."""
        is_output = self._pxr.UsdShade.Output.IsOutput
        surfaces = (material.ComputeSurfaceSource(context)[0] for context in ("", "mtlx", "mdl"))
        shader = next((surface for surface in surfaces if surface), None)
        surface, color, opacity, texture = Surface(len(self.materials)), _GREY, 1.0, None
        for attribute in self.sources(shader, _OPACITIES):
            if not is_output(attribute):
                opacity = _opacity(*_numbers(attribute.Get(self._time))[:1])
        for attribute in self.sources(shader, _COLORS):
            if is_output(attribute):
                node = self._pxr.UsdShade.Shader(attribute.GetPrim())
                texture = self.texture(node)
                surface = self.with_coordinates(surface, node)
                color = color if texture is None else (1.0, 1.0, 1.0)
            else:
                color = _shown(_numbers(attribute.Get(self._time))) or color
        name = str(material.GetPrim().GetName())
        self.materials.append(Material(name, (*color, opacity), texture))
        return surface

    def sources(self, shader: Any, names: tuple[str, ...]) -> list[Any]:
        """Return the attributes that define the first of these inputs that a shader has."""
        for name in names:
            source = shader.GetInput(name) if shader else None
            if source:
                return list(self._pxr.UsdShade.Utils.GetValueProducingAttributes(source))
        return []

    def texture(self, node: Any) -> bytes | None:
        """Return the image of a node, which is beside its layer or in its package."""
        for attribute in self.sources(node, ("file",)):
            asset, stack = attribute.Get(self._time), attribute.GetPropertyStack(self._time)
            written = str(getattr(asset, "path", "")).replace("<UDIM>", _FIRST_TILE)
            if written and stack:
                place, content = self._layers.read_beside(stack[0].layer, written, "texture")
                if len(place) > 1 and content is not None:
                    self._embedded.add(place)
                return content
        return None

    def with_coordinates(self, surface: Surface, node: Any) -> Surface:
        """Return the surface with the coordinates of a texture, and how they are moved."""
        for _ in range(_NODES):
            sources = self.sources(node, _COORDINATES)
            if not sources:
                break
            node = self._pxr.UsdShade.Shader(sources[0].GetPrim())
            if not self._pxr.UsdShade.Output.IsOutput(sources[0]):
                name = sources[0].Get(self._time)
                return surface._replace(primvar=name) if isinstance(name, str) else surface
            if node and node.GetIdAttr().Get() == "UsdTransform2d":
                named = {
                    name: _numbers(node.GetInput(name).Get(self._time))
                    for name in ("translation", "rotation", "scale")
                    if node.GetInput(name)
                }
                x, y = (*named.get("translation", ()), 0.0, 0.0)[:2]
                wide, high = (*named.get("scale", ()), 1.0, 1.0)[:2]
                angle = -math.radians((*named.get("rotation", ()), 0.0)[0])
                surface = surface._replace(coordinates=Coordinates(0, (x, y), angle, (wide, high)))
        return surface


def _numbers(value: object) -> tuple[float, ...]:
    """Return at most four finite numbers of a value of unknown type."""
    try:
        numbers = np.array(value, np.float64).reshape(-1)[:4]
    except (TypeError, ValueError):
        return ()
    return tuple(numbers.tolist()) if np.isfinite(numbers).all() else ()


def _shown(color: tuple[float, ...]) -> _Rgb | None:
    """Return a colour of the screen, None if it has not three channels."""
    if len(color) != 3:
        return None
    red, green, blue = linear_to_srgb(np.clip(np.array(color), 0, 1)).tolist()
    return red, green, blue


def _opacity(value: float = 1.0) -> float:
    return min(max(value, 0.0), 1.0)
