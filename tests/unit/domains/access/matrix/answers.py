"""Sends the requests of a route, and converts the replies to letters of the matrix."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from backend.spec.routes import Route
from tests.factories.http import Response
from tests.routes import CASE_OF, question
from tests.unit.domains.access.matrix.roles import Role
from tests.unit.domains.access.matrix.seeding import Seeded
from tests.unit.domains.access.matrix.states import (
    ALLOWED,
    HIDDEN,
    NO_CASE,
    NOT_FOUND,
    STATES,
    State,
)
from tests.unit.domains.access.matrix.table import LETTERS
from tests.unit.domains.access.matrix.world import Question

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
