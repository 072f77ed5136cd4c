"""The matrix as it is written, and the letters that the declared needs of routes give.

`matrix.txt` contains the letters for people to review. The calculation reads the needs of the
routes (`tests/routes`) and the stored constraints by their meaning; it shares no code with the
product's decisions.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from backend.spec import routes
from backend.spec.routes import Route
from tests.factories.http import Response
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
from tests.unit.domains.access.matrix.states import (
    ALLOWED,
    HIDDEN,
    NO_CASE,
    NOT_FOUND,
    STATES,
    State,
)
from tests.unit.domains.access.matrix.world import Question

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


_REFUSED = frozenset(LETTERS.values())


@dataclass
class RouteReplies:
    """The replies of a route to a role, one letter per state.

    `succeeded` is true if any reply was a success, `wrote` are the states in which a refusal
    changed something, `missing` the codes of 404 replies.
    """

    letters: dict[State, str] = field(default_factory=dict[State, str])
    succeeded: bool = False
    wrote: list[State] = field(default_factory=list[State])
    missing: set[str] = field(default_factory=set[str])

    @property
    def cell(self) -> str:
        return "".join(self.letters.get(state, NO_CASE) for state in STATES)


def replies_of(
    world: Seeded, route: Route, role: Role, states: Iterable[State] = STATES
) -> RouteReplies:
    """Send requests for an object in each of the states that the route can name."""
    replies = RouteReplies()
    for state in states:
        if state not in CASE_OF[route].states:
            continue
        wanted = question(world, route, role.user_id, state)
        answer = world.send_as(route, role, wanted)
        letter = replies.letters[state] = _letter(wanted, answer)
        replies.succeeded |= answer.status < 400
        if letter in _REFUSED and world.changed:
            replies.wrote.append(state)
        if letter == NOT_FOUND and answer.body is not None:
            replies.missing.add(answer.body["code"])
    return replies


def _letter(wanted: Question, answer: Response) -> str:
    if answer.status >= 400 and answer.status != 409:
        return LETTERS.get(answer.status, f"<{answer.status} {answer.body}>")
    if answer.status == 409:
        return ALLOWED
    return ALLOWED if wanted.shows is None or wanted.shows in str(answer.body) else HIDDEN
