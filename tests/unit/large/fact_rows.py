"""Lists over facts with many rows of the largest size that the product takes."""

from typing import Any

from backend.domains.facts.models import Inspection
from backend.domains.facts.rules import records_of
from backend.domains.metadata.models import Entity
from backend.spec import routes
from backend.spec.routes import Route
from tests.unit.domains.access.matrix.world import World
from tests.unit.large.list_rows import LETTERS, QUOTES, STATUE, Rows, make_statue, named, under

FILE = "/file-0000" + LETTERS


def make_references(world: World) -> str:
    make_statue(world)
    references: list[dict[str, Any]] = [
        {"path": QUOTES[:number] + "x.png", "kind": "texture", "state": "missing"}
        for number in range(1, 1000)
    ]
    references.insert(0, {"path": "/used.png", "kind": "texture", "state": "found"})
    body = {"version": 1, "source": {"versionId": "v"}, "references": references}
    facts = records_of(Inspection.model_validate(body))
    entity = Entity("museum", "statue", FILE, "attribute")
    world.product.wiring.records.put_facts(entity, facts)
    return "file-0000"


FACT_LISTS: dict[Route, Rows] = {
    routes.LIST_DEPENDENCIES: Rows(
        make_references, named("filePath"), 60, STATUE, rows=under("items")
    ),
    routes.LIST_DEPENDENTS: Rows(
        make_references,
        named("filePath"),
        250,
        STATUE,
        {"filePath": "/used.png"},
        rows=under("items"),
    ),
}
