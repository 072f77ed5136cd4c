"""The pipelines and workflows that ship with the product, all of them GLOBAL.

The bootstrap creates them if the setting `PROCESSING` is on. Administrators may change or delete
them; their changes are kept.
"""

from backend.spec.formats import EXTENSIONS_OF
from backend.spec.functions.inspection import PIPELINES
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


SHIPPED = tuple(
    Shipped(
        f"vitrine-{function.packages}",
        function.name,
        function.description.removesuffix("."),
        tuple(f".{extension}" for extension in sorted(EXTENSIONS_OF[function.name])),
    )
    for function in PIPELINES
)
INSPECT, INSPECT_CAD, *_ = SHIPPED
