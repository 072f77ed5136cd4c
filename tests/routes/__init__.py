"""One case for each declared route: the requests of tests (`tests/routes/model.py`)."""

from itertools import chain

from backend.spec.routes import Route
from tests.routes import (
    access,
    assets,
    executions,
    files,
    metadata,
    operations,
    registry,
    workflows,
)
from tests.routes.model import Case, Target
from tests.unit.domains.access.matrix.seeding import Seeded
from tests.unit.domains.access.matrix.states import State
from tests.unit.domains.access.matrix.world import Question

_FAMILIES = (access, assets, executions, files, metadata, operations, registry, workflows)
CASES: tuple[Case, ...] = tuple(chain.from_iterable(family.CASES for family in _FAMILIES))
CASE_OF: dict[Route, Case] = {case.route: case for case in CASES}


def question(world: Seeded, route: Route, user_id: str = "admin", state: State = "own") -> Question:
    """Return the request of a user for an object in a state."""
    return CASE_OF[route].request(Target(world, state, user_id))
