"""The test data of a declared route.

It has the request, the states that the request can name, the rights that it needs and what its
reply shows of the objects, the audit entries of a write, and the fields that take paths. The
permission matrix and the tests of generated policies calculate the replies that they expect from
it; `matrix.txt` contains those of the matrix for review.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from backend.spec.routes import Route
from tests.routes.meaning import Fields
from tests.unit.domains.access.matrix.states import ASSETS, DATABASES, STATES, State
from tests.unit.domains.access.matrix.world import Question, World

if TYPE_CHECKING:
    from tests.routes.facts import Facts

States = tuple[State, ...]

OWN: States = ("own",)
ID: States = ("own", "absent")
OWN_AND_FOREIGN: States = ("own", "foreign")
OF_KEYS: States = ("own", "foreign", "absent")
OF_ASSETS: States = ("own", "foreign", "archived", "tagged", "absent")
"""States of a request that names an asset without its database."""
IN_DATABASES: States = STATES
OF_NEW_ASSETS: States = ("own", "foreign", "tagged", "GLOBAL", "absent")
"""States of a new asset; for `absent`, its database does not exist."""
OF_DATABASES: States = ("own", "foreign", "archived", "GLOBAL", "absent")
OF_DEFINITIONS: States = ("own", "foreign", "GLOBAL", "absent")
"""States of metadata schemas, pipelines and workflows."""

NO_ID = "00000000-0000-4000-8000-000000000000"


@dataclass(frozen=True)
class Target:
    """The object that a request names: its state, its world, and the user of the request."""

    world: World
    state: State = "own"
    user_id: str = "admin"

    @property
    def database_id(self) -> str:
        return DATABASES[self.state]

    @property
    def asset(self) -> dict[str, str]:
        database_id, asset_id = ASSETS[self.state]
        return {"databaseId": database_id, "assetId": asset_id}

    @property
    def asset_id(self) -> str:
        return ASSETS[self.state][1]

    def either(self, own: str, absent: str = "none-such") -> str:
        """Return the name of an existing object, or of one that does not exist."""
        return own if self.state == "own" else absent


Request = Callable[[Target], Question]
Body = Callable[[Target], Any]


class PathField(NamedTuple):
    """A field that takes a path or a key.

    The path is sent with a `beginning` and an `ending`, and with `more` fields of the body.
    """

    name: str
    more: Mapping[str, Any] = {}
    beginning: str = ""
    ending: str = ""
    label: str = ""
    is_list: bool = False

    def within(self, route: Route, question: Question, path: str) -> Question:
        """Return the request with a path in this field."""
        text = f"{self.beginning}{path}{self.ending}"
        value: Any = [text] if self.is_list else text
        parameters, query = dict(question.parameters), dict(question.query or {})
        body = None if question.body is None else {**question.body, **self.more}
        if self.name in parameters:
            parameters[self.name] = value
        elif body is None:
            query[self.name] = value
        elif "files" in body:
            body["files"] = [{**body["files"][0], self.name: value}]
        else:
            body[self.name] = value
        return Question(parameters, query, body)


def rows_of(body: Any) -> list[dict[str, Any]]:
    """Return the rows of a list; clients of VAMS read them at several places."""
    for name in ("Items", "users"):
        if name in body:
            return body[name]
    return body["message"]["Items"]


class Rows(NamedTuple):
    """How a paginated list gets many rows: one is made by requests, and copied under other names.

    `make` returns a text of which the copies have others; it is part of the id, which each row of
    the reply has as `key`. The list is requested in the `state`, with `more` of the query.
    """

    make: Callable[[World], str]
    key: str
    number: int = 1100
    rows: Callable[[Any], list[dict[str, Any]]] = rows_of
    state: State = "own"
    more: Mapping[str, str] = {}


DONE, BAD, FORBIDDEN, ABSENT = 200, 400, 403, 404
"""`DONE` is any success, and a conflict (409) that only permitted callers receive."""


class Attempt(NamedTuple):
    """The request of a caller about an object in a state, and what exists when it is sent."""

    facts: "Facts"
    case: "Case"
    state: State
    question: Question

    @property
    def route(self) -> Route:
        return self.case.route

    @property
    def is_there(self) -> bool:
        return self.state != "absent"

    def can(self, action: str, kind: str, fields: Fields) -> bool:
        return self.facts.can(action, kind, fields)

    def reach(self, kind: str, fields: Fields | None, *actions: str) -> int:
        """Return the status for an object, which is None if it is absent."""
        if fields is None or not self.can("GET", kind, fields):
            return ABSENT
        wanted = actions or (self.route.action,)
        return DONE if all(self.can(action, kind, fields) for action in wanted) else FORBIDDEN

    def make(self, kind: str, fields: Fields) -> int:
        """Return the status for a new object."""
        return DONE if self.can(self.route.action, kind, fields) else FORBIDDEN

    def asset(self) -> Fields | None:
        """Return the asset in the state, if the route includes it."""
        database_id, asset_id = ASSETS[self.state]
        asset = self.facts.assets.get(asset_id)
        if asset is None or asset.fields["databaseId"] != database_id:
            return None
        return None if asset.is_archived and not self.case.sees_archived else asset.fields


Need = Callable[[Attempt], int]
"""Returns the expected status of an attempt that may use the route."""


class Content(NamedTuple):
    """The part of a reply that is checked: `read` finds it in the body, `expected` is its value.

    Without `read`, the reply is only searched for the text of the object.
    """

    read: Callable[[Any], Any] | None
    expected: Callable[[Attempt], Any]

    def actual(self, attempt: Attempt, body: Any) -> Any:
        if self.read is not None:
            return self.read(body)
        shows = str(attempt.question.shows)
        return shows if shows in str(body) else ""


@dataclass(frozen=True, eq=False)
class Case:
    """One route.

    `audit` is the entity of the audit entry that the request makes, or several; one that ends with
    a colon is followed by a new id, and one of another operation than the route's is followed by a
    space and that operation. A write that makes none has the reason in `without_entry`. In the
    state `succeeds`, an administrator's request is done. `sees_archived` is set if the route
    includes archived assets, or deleted databases, on request. `needs` are the rights, by default
    those to the route's type of object; a list shows a `content`.
    """

    route: Route
    request: Request
    states: States
    audit: str | tuple[str, ...] | Callable[[Target], str] = ()
    without_entry: str = ""
    paths: tuple[PathField, ...] = ()
    succeeds: State = "own"
    rows: Rows | None = None
    needs: Need | None = None
    content: Content | None = None
    sees_archived: bool = False

    def entries(self, target: Target) -> list[tuple[str, str]]:
        """Return the operation and the entity of each audit entry of the request."""
        audit = self.audit(target) if callable(self.audit) else self.audit
        texts = (audit,) if isinstance(audit, str) else audit
        parted = [text.partition(" ") for text in texts]
        return [(operation or self.route.name, entity) for entity, _, operation in parted]


def fixed(body: Any = None, query: Mapping[str, str] | None = None) -> Request:
    """Return a request that is the same in all states."""
    return lambda target: Question({}, query, body)


def in_path(name: str, own: str, absent: str = "none-such", body: Any = None) -> Request:
    """Return a request that names its object in the path."""
    return lambda target: Question({name: target.either(own, absent)}, body=body)


def in_body(body: Body) -> Request:
    """Return a request that names its object in the body."""
    return lambda target: Question({}, body=body(target))


def in_list(own: str) -> Request:
    """Return a request for a list in which the own object is."""
    return lambda target: Question({}, shows=target.either(own))


def on_asset(body: Any = None, query: Mapping[str, str] | None = None, **more: str) -> Request:
    """Return a request that names an asset in its path, with `more` parameters."""
    return lambda target: Question({**target.asset, **more}, query, body)


def on_database(body: Any = None) -> Request:
    """Return a request that names a database in its path."""
    return lambda target: Question({"databaseId": target.database_id}, body=body)
