"""The expected matrix, calculated from the declared routes and the definitions of the roles.

`matrix.txt` contains the same letters for people to review; this calculation keeps its thousands of
cells consistent, and shares no code with the product's decisions.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from backend.spec import routes
from backend.spec.routes import Route
from tests.routes import CASE_OF
from tests.routes.model import Shape
from tests.unit.domains.access.matrix.roles import ONLY_ADMINISTRATORS, ROLES, Role
from tests.unit.domains.access.matrix.states import (
    ALLOWED,
    BAD,
    FORBIDDEN,
    HIDDEN,
    NO_CASE,
    NOT_FOUND,
    STATES,
    State,
)

TABLE = Path(__file__).parent / "matrix.txt"
_WIDTH = 8


@dataclass(frozen=True)
class Demand:
    """The requirements of a route, by its shape and the kind of its object."""

    shape: Shape | Literal["route"]
    """`route` is a route without an object."""
    kind: str
    bad: frozenset[State] = frozenset()
    sees_archived: bool = False
    also: str | None = None
    """A further action that the route requires."""
    missing: str = NOT_FOUND
    """The status for an authorized caller if there is no object."""


_NO_GLOBAL: frozenset[State] = frozenset({"GLOBAL"})
_WITH_GLOBAL = {"metadataSchema", "pipeline", "workflow"}
"""Kinds of objects that exist in GLOBAL too."""


def demand_of(route: Route) -> Demand:
    """The requirements of a route, by its declaration and its case."""
    case = CASE_OF[route]
    kind = case.kind or route.object_type
    if kind == "none":
        return Demand("route", "none")
    # Objects that only administrators may use are not looked for before the denial.
    is_denied_first = case.shape == "one" and kind in ONLY_ADMINISTRATORS
    shape: Shape = "make" if is_denied_first else case.shape
    return Demand(
        shape,
        kind,
        bad=frozenset() if kind in _WITH_GLOBAL else _NO_GLOBAL,
        sees_archived=case.sees_archived,
        also="POST" if route is routes.COPY_FILE else None,
        missing=BAD if shape == "make" and kind in _WITH_GLOBAL else NOT_FOUND,
    )


def letter(route: Route, role: Role, state: State) -> str:
    """The expected reply to a role."""
    demand = demand_of(route)
    if state not in CASE_OF[route].states:
        return NO_CASE
    if not role.may_use(route):
        return FORBIDDEN
    if state in demand.bad:
        return BAD
    there = state != "absent" and (state != "archived" or demand.sees_archived)
    if demand.shape == "make":
        return _of_place(demand, route, role, state, there=there)
    return _of_object(demand, route, role, state, there=there)


def _of_place(demand: Demand, route: Route, role: Role, state: State, *, there: bool) -> str:
    # For an absent object only its parent is checked, which is another database.
    if not role.may_do(route.action, demand.kind, state if there else "foreign"):
        return FORBIDDEN
    # A rule names the tag `secret`, so adding it to an asset requires the permission to change the
    # tag.
    is_tagged = route is routes.CREATE_ASSET and state == "tagged"
    if is_tagged and not role.may_do("PUT", "tag", "own"):
        return FORBIDDEN
    if route is routes.PUT_WORKFLOW and not role.may_do("GET", "pipeline", state):
        return BAD  # a pipeline that the caller does not see counts as absent
    return ALLOWED if there else demand.missing


def _of_object(demand: Demand, route: Route, role: Role, state: State, *, there: bool) -> str:
    if demand.shape == "route":
        return ALLOWED
    if demand.shape == "self":
        return ALLOWED if state == "own" else FORBIDDEN
    is_seen = there and role.may_do("GET", demand.kind, state)
    if demand.shape == "list":
        return ALLOWED if is_seen else HIDDEN
    wanted = [action for action in (route.action, demand.also) if action is not None]
    if not is_seen:
        return NOT_FOUND
    may_act = all(role.may_do(action, demand.kind, state) for action in wanted)
    if may_act and route in _OF_EXECUTIONS:
        return _of_run(route, role, state)
    return ALLOWED if may_act else FORBIDDEN


_OF_EXECUTIONS = {
    *(routes.START_EXECUTION, routes.GET_EXECUTION),
    *(routes.STOP_EXECUTION, routes.RERUN_EXECUTION),
}
"""Routes that require a permission on the workflow besides that on the asset; those that run it
require one on its pipelines too. The workflow is of the asset's database."""


def _of_run(route: Route, role: Role, state: State) -> str:
    starts = {routes.START_EXECUTION, routes.RERUN_EXECUTION}
    kinds = ("workflow", "pipeline") if route in starts else ("workflow",)
    place: State = "foreign" if state == "foreign" else "own"
    if not all(role.may_do("GET", kind, place) for kind in kinds):
        return NOT_FOUND
    may_run = all(role.may_do(route.action, kind, place) for kind in kinds)
    return ALLOWED if may_run else FORBIDDEN


def row(route: Route) -> dict[str, str]:
    """The letters of a route by role, one per state."""
    return {role.name: "".join(letter(route, role, each) for each in STATES) for role in ROLES}


def written(route: Route, cells: dict[str, str]) -> str:
    """A row of the table."""
    return " ".join(cells[role.name].ljust(_WIDTH) for role in ROLES) + f" {route.key}"


def read_table() -> dict[str, dict[str, str]]:
    """The cells of the table by key of the route and name of the role."""
    found: dict[str, dict[str, str]] = {}
    lines = [line for line in TABLE.read_text().splitlines() if line and line[0] != "#"]
    names, *rows = (line.split(maxsplit=len(ROLES)) for line in lines)
    assert names[:-1] == [role.name for role in ROLES]
    for *cells, key in rows:
        assert key not in found, f"two rows for {key}"
        found[key] = dict(zip(names, cells, strict=False))
    return found
