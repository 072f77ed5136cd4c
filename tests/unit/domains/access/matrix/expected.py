"""What the matrix must say, from the declared routes and the words of the roles.

The table beside this module holds the same letters, for people to read and review; this statement
keeps its thousands of cells consistent, and shares nothing with what decides in the product.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from backend.spec import routes
from backend.spec.routes import Route
from tests.unit.domains.access.matrix.roles import ROLES, Role
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

Shape = Literal["route", "one", "make", "list", "self"]
"""What a route is about: nothing but itself; one object that is there; a place to make something
in, or what only administrators even ask for, so that the refusal comes first; several objects,
which are left out where they are invisible; the caller itself."""


@dataclass(frozen=True)
class Case:
    """How a route asks. `states` are those that it can name, in words of `STATES`."""

    shape: Shape
    kind: str
    states: tuple[State, ...]
    bad: frozenset[State] = frozenset()
    sees_archived: bool = False
    also: str | None = None
    """A further action that is asked for."""
    missing: str = NOT_FOUND
    """What is answered to who may do it, where there is nothing to do it to."""


_ID: tuple[State, ...] = ("own", "absent")
_OF_ASSETS: tuple[State, ...] = ("own", "foreign", "archived", "tagged", "absent")
_OF_DATABASES: tuple[State, ...] = ("own", "foreign", "archived", "GLOBAL", "absent")
_LISTED_DATABASES: tuple[State, ...] = ("own", "foreign", "archived", "absent")
_OF_SCHEMAS: tuple[State, ...] = ("own", "foreign", "GLOBAL", "absent")
_OF_KEYS: tuple[State, ...] = ("own", "foreign", "absent")
_PLACES: tuple[State, ...] = ("own", "foreign", "tagged", "GLOBAL", "absent")
"""Of an asset that is made: absent is its database."""
_NO_GLOBAL: frozenset[State] = frozenset({"GLOBAL"})
_LISTED = {
    *(routes.LIST_ALL_ASSETS, routes.LIST_SUBSCRIPTIONS),
    routes.LIST_TAGS,
    *(routes.LIST_TAG_TYPES, routes.LIST_API_KEYS, routes.LIST_ROLES, routes.LIST_USER_ROLES),
    routes.LIST_COGNITO_USERS,
}
_SEES_ARCHIVED = {
    *(routes.GET_ASSET, routes.LIST_ALL_ASSETS, routes.LIST_FILES, routes.GET_FILE),
    *(routes.ARCHIVE_ASSET, routes.UNARCHIVE_ASSET, routes.DELETE_ASSET),
    *(routes.ARCHIVE_ASSET_VERSION, routes.UNARCHIVE_ASSET_VERSION),
    *(routes.LIST_ASSET_VERSIONS, routes.GET_ASSET_VERSION, routes.COMPARE_ASSET_VERSIONS),
    *(routes.GET_LINK, routes.UPDATE_LINK, routes.DELETE_LINK),
    *(routes.GET_LINK_METADATA, routes.CREATE_LINK_METADATA),
    *(routes.UPDATE_LINK_METADATA, routes.DELETE_LINK_METADATA),
    *(routes.GET_DATABASE, routes.UNSUBSCRIBE),
}
"""Routes that speak of archived assets, or deleted databases, too, if they are asked to."""


def case_of(route: Route) -> Case:
    """How a route asks, by its declaration and the words above."""
    if route.domain == "jobs":
        shape = "list" if route is routes.LIST_JOBS else "one"
        return Case(shape, "asset", _OF_ASSETS, sees_archived=True)
    special = _SPECIAL.get(route)
    if special is not None:
        return special
    if route.object_type == "none":
        return Case("route", "none", ("own",))
    return Case(
        "list" if route in _LISTED else "one",
        route.object_type,
        _states_of(route),
        bad=_NO_GLOBAL,
        sees_archived=route in _SEES_ARCHIVED,
        also="POST" if route is routes.COPY_FILE else None,
    )


def _states_of(route: Route) -> tuple[State, ...]:
    kind = route.object_type
    if kind == "asset":
        names_database = "{databaseId}" in route.path or route is routes.CREATE_LINK
        return STATES if names_database else _OF_ASSETS
    if kind in {"metadataSchema", "pipeline", "workflow"}:
        return _OF_SCHEMAS
    if kind == "database":
        return _OF_DATABASES
    return _OF_KEYS if kind == "apiKey" else _ID


def _made(kind: str, *states: State, bad: frozenset[State] = frozenset()) -> Case:
    return Case("make", kind, states, bad=bad)


_FOUND = Case("list", "asset", _OF_ASSETS, sees_archived=True)
_ONESELF = Case("self", "profile", ("own", "foreign"))
_SPECIAL: dict[Route, Case] = {
    routes.GET_LOGIN_PROFILE: _ONESELF,
    routes.UPDATE_LOGIN_PROFILE: _ONESELF,
    routes.SEARCH: _FOUND,
    routes.SEARCH_SIMPLE: _FOUND,
    routes.LIST_UPLOADS: Case("list", "asset", _OF_ASSETS),
    routes.LIST_PREVIEWS: Case("list", "asset", _OF_ASSETS),
    routes.LIST_BUCKETS: Case("list", "bucket", _ID),
    routes.LIST_ALLOWED_ROUTES: Case("list", "web", ("own", "foreign")),
    routes.CREATE_ASSET: _made("asset", *_PLACES, bad=_NO_GLOBAL),
    routes.INITIALISE_UPLOAD: Case("one", "asset", STATES, bad=_NO_GLOBAL),
    routes.INGEST_ASSET: _made("asset", *_PLACES, bad=_NO_GLOBAL),
    routes.LIST_ASSETS: Case("one", "database", _OF_DATABASES, bad=_NO_GLOBAL, sees_archived=True),
    routes.CREATE_DATABASE: _made("database", "own", "foreign", "GLOBAL", bad=_NO_GLOBAL),
    routes.LIST_DATABASES: Case("list", "database", _LISTED_DATABASES, sees_archived=True),
    **{
        route: Case("list", route.object_type, _OF_SCHEMAS)
        for route in (
            *(routes.LIST_ALL_PIPELINES, routes.LIST_PIPELINES),
            *(routes.LIST_ALL_WORKFLOWS, routes.LIST_WORKFLOWS),
        )
    },
    **{
        route: Case("one", route.object_type, _OF_SCHEMAS)
        for route in (
            *(routes.GET_PIPELINE, routes.DELETE_PIPELINE),
            *(routes.GET_WORKFLOW, routes.DELETE_WORKFLOW),
        )
    },
    routes.PUT_PIPELINE: Case("make", "pipeline", _OF_SCHEMAS, missing=BAD),
    routes.PUT_WORKFLOW: Case("make", "workflow", _OF_SCHEMAS, missing=BAD),
    routes.CREATE_METADATA_SCHEMA: Case("make", "metadataSchema", _OF_SCHEMAS, missing=BAD),
    routes.GET_METADATA_SCHEMA: Case("one", "metadataSchema", _OF_SCHEMAS),
    routes.UPDATE_METADATA_SCHEMA: Case("one", "metadataSchema", _OF_SCHEMAS),
    routes.DELETE_METADATA_SCHEMA: Case("one", "metadataSchema", _OF_SCHEMAS),
    routes.LIST_METADATA_SCHEMAS: Case("list", "metadataSchema", _OF_SCHEMAS),
    routes.CREATE_API_KEY: _made("apiKey", "own", "foreign"),
    routes.CREATE_TAG: _made("tag", "own"),
    routes.CREATE_TAG_TYPE: _made("tagType", "own"),
    routes.CREATE_ROLE: _made("role", "own"),
    routes.ADD_USER_ROLES: _made("userRole", "own"),
    routes.SET_USER_ROLES: _made("userRole", "own"),
    routes.CREATE_COGNITO_USER: _made("userRole", "own"),
    routes.LIST_CONSTRAINTS: _made("constraint", "own"),
    routes.GET_CONSTRAINT: _made("constraint", *_ID),
    routes.CREATE_CONSTRAINT: _made("constraint", "own"),
    routes.UPDATE_CONSTRAINT: _made("constraint", "own"),
    routes.DELETE_CONSTRAINT: _made("constraint", *_ID),
    routes.LIST_CONSTRAINTS_TEMPLATES: _made("constraint", "own"),
    routes.IMPORT_CONSTRAINTS_TEMPLATE: _made("constraint", "own"),
    routes.EXPLAIN_ACCESS: _made("constraint", "own"),
    routes.LIST_AUDIT_ENTRIES: _made("audit", "own"),
    routes.GET_AUDIT_VALUE: _made("audit", *_ID),
    routes.GET_SEARCH_CONSISTENCY: _made("searchIndex", "own"),
    routes.CHECK_SEARCH_CONSISTENCY: _made("searchIndex", "own"),
    routes.REPAIR_SEARCH: _made("searchIndex", "own"),
    routes.REINDEX_SEARCH: _made("searchIndex", "own"),
    routes.RENEW_FACTS: _made("searchIndex", "own"),
    routes.LIST_FAILURES: _made("failure", "own"),
    routes.GET_FAILURE: _made("failure", *_ID),
    routes.REPLAY_FAILURES: _made("failure", "own"),
    routes.LIST_QUEUES: _made("queue", "own"),
    routes.REDRIVE_QUEUE: _made("queue", *_ID),
    routes.REGISTER_BUCKET: _made("bucket", "own"),
}


def letter(route: Route, role: Role, state: State) -> str:
    """What a role must be answered."""
    case = case_of(route)
    if state not in case.states:
        return NO_CASE
    if not role.may_use(route):
        return FORBIDDEN
    if state in case.bad:
        return BAD
    there = state != "absent" and (state != "archived" or case.sees_archived)
    if case.shape == "make":
        return _of_place(case, route, role, state, there=there)
    return _of_object(case, route, role, state, there=there)


def _of_place(case: Case, route: Route, role: Role, state: State, *, there: bool) -> str:
    # Nothing is asked of what is not there but where it would be: in another database.
    if not role.may_do(route.action, case.kind, state if there else "foreign"):
        return FORBIDDEN
    # A rule names the tag `secret`, so putting it on an asset takes the right to change the tag.
    is_tagged = route is routes.CREATE_ASSET and state == "tagged"
    if is_tagged and not role.may_do("PUT", "tag", "own"):
        return FORBIDDEN
    if route is routes.PUT_WORKFLOW and not role.may_do("GET", "pipeline", state):
        return BAD  # a pipeline that the caller does not see is none
    return ALLOWED if there else case.missing


def _of_object(case: Case, route: Route, role: Role, state: State, *, there: bool) -> str:
    if case.shape == "route":
        return ALLOWED
    if case.shape == "self":
        return ALLOWED if state == "own" else FORBIDDEN
    is_seen = there and role.may_do("GET", case.kind, state)
    if case.shape == "list":
        return ALLOWED if is_seen else HIDDEN
    wanted = [action for action in (route.action, case.also) if action is not None]
    if not is_seen:
        return NOT_FOUND
    may_act = all(role.may_do(action, case.kind, state) for action in wanted)
    if may_act and route in _OF_EXECUTIONS:
        return _of_run(route, role, state)
    return ALLOWED if may_act else FORBIDDEN


_OF_EXECUTIONS = {
    *(routes.START_EXECUTION, routes.GET_EXECUTION),
    *(routes.STOP_EXECUTION, routes.RERUN_EXECUTION),
}
"""Routes that need a right to the workflow beside that to the asset; those that run it need one to
its pipelines too. The workflow is of the asset's database."""


def _of_run(route: Route, role: Role, state: State) -> str:
    starts = {routes.START_EXECUTION, routes.RERUN_EXECUTION}
    kinds = ("workflow", "pipeline") if route in starts else ("workflow",)
    place: State = "foreign" if state == "foreign" else "own"
    if not all(role.may_do("GET", kind, place) for kind in kinds):
        return NOT_FOUND
    may_run = all(role.may_do(route.action, kind, place) for kind in kinds)
    return ALLOWED if may_run else FORBIDDEN


def row(route: Route) -> dict[str, str]:
    """The letters of a route by role, one a state."""
    return {role.name: "".join(letter(route, role, each) for each in STATES) for role in ROLES}


def written(route: Route, cells: dict[str, str]) -> str:
    """A line of the table."""
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
