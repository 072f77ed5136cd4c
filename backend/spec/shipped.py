"""The pipelines and workflows that ship with the product, all of them GLOBAL.

The bootstrap creates them if the setting `PROCESSING` is on. Administrators may change or delete
them; their changes are kept.
"""

from backend.spec.formats import INSPECT_CAD_EXTENSIONS, INSPECT_EXTENSIONS, INSPECT_IFC_EXTENSIONS
from backend.values import frozen


@frozen
class Shipped:
    """A pipeline and the workflow of the same id that runs it on uploads of these extensions.

    `function` is the name of a declared function of kind `pipeline`.
    """

    id: str
    function: str
    description: str
    extensions: tuple[str, ...]

    @property
    def triggers(self) -> str:
        """Return the extensions in the form that a workflow stores."""
        return ",".join(self.extensions)


def _with_dots(extensions: frozenset[str]) -> tuple[str, ...]:
    return tuple(f".{extension}" for extension in sorted(extensions))


INSPECT = Shipped(
    "vitrine-inspect",
    "Inspect",
    "Reads models, point clouds, images and PDF: facts, a thumbnail, a GLB",
    _with_dots(INSPECT_EXTENSIONS),
)
INSPECT_CAD = Shipped(
    "vitrine-inspect-cad",
    "InspectCad",
    "Reads CAD models: facts, a thumbnail, a GLB",
    _with_dots(INSPECT_CAD_EXTENSIONS),
)
INSPECT_IFC = Shipped(
    "vitrine-inspect-ifc",
    "InspectIfc",
    "Reads IFC models of buildings: facts, a thumbnail, a GLB",
    _with_dots(INSPECT_IFC_EXTENSIONS),
)
SHIPPED = (INSPECT, INSPECT_CAD, INSPECT_IFC)
