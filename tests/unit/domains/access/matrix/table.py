"""The matrix as it is written, and the letters that the declared needs of routes give.

`matrix.txt` contains the letters for people to review. The calculation reads the needs of the
routes (`tests/routes`) and the stored constraints by their meaning; it shares no code with the
product's decisions.
"""

from collections.abc import Mapping
from pathlib import Path

from backend.spec import routes
from backend.spec.routes import Route
from tests.routes import CASE_OF, question
from tests.routes.facts import Facts, facts_of, listed
from tests.routes.meaning import Grantee
from tests.routes.model import ABSENT, BAD, DONE, FORBIDDEN, Attempt
from tests.routes.needs import expected
from tests.unit.domains.access.matrix import states
from tests.unit.domains.access.matrix.roles import (
    ROLES,
    WITH_ONE_ACTION,
    WITHOUT_ONE_ACTION,
    Role,
)
from tests.unit.domains.access.matrix.seeding import Seeded
from tests.unit.domains.access.matrix.states import ALLOWED, HIDDEN, NO_CASE, STATES, State

TABLE = Path(__file__).parent / "matrix.txt"
LETTERS = {BAD: states.BAD, FORBIDDEN: states.FORBIDDEN, ABSENT: states.NOT_FOUND}
_WIDTH = 8


class Expectations:
    """The expected replies to the roles of a world."""

    def __init__(self, world: Seeded) -> None:
        self._world = world
        rules = listed(world, routes.LIST_CONSTRAINTS)
        facts = facts_of(world)
        self.facts: Mapping[str, Facts] = {
            role.name: facts.of(Grantee(role.user_id, role.counting), rules)
            for role in (*ROLES, *WITH_ONE_ACTION, *WITHOUT_ONE_ACTION)
        }

    def attempt(self, route: Route, role: Role, state: State = "own") -> Attempt:
        request = question(self._world, route, role.user_id, state)
        return Attempt(self.facts[role.name], CASE_OF[route], state, request)

    def letter(self, route: Route, role: Role, state: State) -> str:
        """Return the expected reply to a role."""
        if state not in CASE_OF[route].states:
            return NO_CASE
        attempt = self.attempt(route, role, state)
        status = expected(attempt)
        if status != DONE:
            return LETTERS[status]
        shows, content = attempt.question.shows, attempt.case.content
        if shows is None or content is None:
            return ALLOWED
        return ALLOWED if shows in str(content.expected(attempt)) else HIDDEN

    def row(self, route: Route) -> dict[str, str]:
        """Return the letters of a route by role, one per state."""
        return {
            role.name: "".join(self.letter(route, role, state) for state in STATES)
            for role in ROLES
        }


def written(route: Route, cells: Mapping[str, str]) -> str:
    """Return a row of the table."""
    return " ".join(cells[role.name].ljust(_WIDTH) for role in ROLES) + f" {route.key}"


def read_table() -> dict[str, dict[str, str]]:
    """Return the cells of the table by key of the route and name of the role."""
    table: dict[str, dict[str, str]] = {}
    lines = [line for line in TABLE.read_text().splitlines() if line and line[0] != "#"]
    names, *rows = (line.split(maxsplit=len(ROLES)) for line in lines)
    assert names[:-1] == [role.name for role in ROLES]
    for *cells, key in rows:
        assert key not in table, f"two rows for {key}"
        table[key] = dict(zip(names, cells, strict=False))
    return table
