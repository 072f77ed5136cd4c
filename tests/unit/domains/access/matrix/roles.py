"""The permissions of each role of the matrix, as its template describes them; no rule is read here.

The stored rules express the same in criteria; `test_matrix` checks that they agree.
"""

from collections.abc import Callable
from dataclasses import dataclass

from backend.spec import routes
from backend.spec.routes import Route
from tests.unit.domains.access.matrix.states import State

Action = str
Uses = Callable[[Route], bool]
May = Callable[[Action, str, State], bool]

ADMINISTRATION = ("/auth/", "/roles", "/user-roles", "/user/", "/admin/", "/audit")
ONLY_ADMINISTRATORS = frozenset({"constraint", "failure", "queue", "searchIndex", "audit"})
"""Types that no rule can name; `apiKey` is one of them, with an exception. No role has rules on
`bucket`, which everyone sees."""

NOT_FOR_USERS = {
    *(routes.CREATE_DATABASE, routes.DELETE_DATABASE, routes.INGEST_ASSET),
    *(routes.DELETE_ASSET, routes.DELETE_FILE),
    *(routes.DELETE_ASSET_PREVIEW, routes.DELETE_AUXILIARY_FILES),
    *(routes.CREATE_METADATA_SCHEMA, routes.UPDATE_METADATA_SCHEMA),
    routes.DELETE_METADATA_SCHEMA,
    *(routes.PUT_PIPELINE, routes.DELETE_PIPELINE),
    *(routes.PUT_WORKFLOW, routes.DELETE_WORKFLOW),
}
"""Operations that `database-user` does not allow: permanent deletion, and changes of databases,
schemas, pipelines and workflows."""
WITH_GLOBAL = frozenset({"metadataSchema", "pipeline", "workflow"})
"""Types of which roles of one database also see the objects of GLOBAL."""
ASKING = {
    *(routes.SEARCH, routes.SEARCH_SIMPLE, routes.LIST_PREVIEWS, routes.CHECK_SUBSCRIPTION),
    *(routes.DOWNLOAD, routes.EXPORT_ASSETS),
}
"""Routes that are sent as POST and change nothing."""


@dataclass(frozen=True)
class Role:
    """A column. `uses` is tier 1 and `may` tier 2, of the types that rules can name."""

    name: str
    uses: Uses
    may: May
    is_administrator: bool = False
    has_mfa: bool = False

    @property
    def user_id(self) -> str:
        return "admin" if self.is_administrator else f"user-{self.name}"

    def may_use(self, route: Route) -> bool:
        return route.public or route.open_to_users or self.uses(route)

    def may_do(self, action: Action, kind: str, state: State) -> bool:
        """Return whether it may perform the action on an object of the kind in the state."""
        if self.is_administrator:
            return True
        if kind in ONLY_ADMINISTRATORS:
            return False
        if kind == "bucket":
            return action == "GET"
        if kind == "apiKey":
            return state == "own"
        return self.may(action, kind, state)


def _reads(route: Route) -> bool:
    return route.method in {"GET", "HEAD"}


def _is_administration(route: Route) -> bool:
    return route.path.startswith(ADMINISTRATION)


def _is_of_tags(route: Route) -> bool:
    return route.domain == "tags"


def _all_routes(route: Route) -> bool:
    return True


def _no_routes(route: Route) -> bool:
    return False


def _routes_of_admins(route: Route) -> bool:
    """Everything except administration; reads of tags only."""
    return not _is_administration(route) and (_reads(route) or not _is_of_tags(route))


def _routes_of_users(route: Route) -> bool:
    return _routes_of_admins(route) and route not in NOT_FOR_USERS


def _routes_of_readers(route: Route) -> bool:
    """Reads except administration. A role that sends nothing has no uploads to read."""
    if route in {routes.GET_UPLOAD, routes.LIST_UPLOADS} or _is_administration(route):
        return False
    return _reads(route) or route in ASKING


def _everything(action: Action, kind: str, state: State) -> bool:
    return True


def _nothing(action: Action, kind: str, state: State) -> bool:
    return False


def _in_museum(kind: str, state: State) -> bool:
    """Objects of the museum. The deleted database is not the museum, and neither is an absent one.

    Of the web application's pages it has those of assets, and not those of constraints.
    """
    if kind == "asset":
        return state in {"own", "archived", "tagged", "absent"}
    return state == "own"


def _sees_museum(action: Action, kind: str, state: State) -> bool:
    """Everything in the database, definitions of GLOBAL, and all tags; no roles and no users."""
    if action != "GET" or kind in {"role", "userRole"}:
        return False
    if kind in {"tag", "tagType"} or (kind in WITH_GLOBAL and state == "GLOBAL"):
        return True
    return _in_museum(kind, state)


def _runs_in_museum(action: Action, kind: str, state: State) -> bool:
    """Workflows with their pipelines, of the database and of GLOBAL."""
    return action == "POST" and kind in {"pipeline", "workflow"} and state in {"own", "GLOBAL"}


def _administers_museum(action: Action, kind: str, state: State) -> bool:
    inside = kind in {"asset", "database", *WITH_GLOBAL} and _in_museum(kind, state)
    return inside or _runs_in_museum(action, kind, state) or _sees_museum(action, kind, state)


def _works_in_museum(action: Action, kind: str, state: State) -> bool:
    inside = kind == "asset" and _in_museum(kind, state)
    return inside or _runs_in_museum(action, kind, state) or _sees_museum(action, kind, state)


def _sees_everything(action: Action, kind: str, state: State) -> bool:
    if kind in {"role", "userRole"} or (kind, state) == ("web", "foreign"):
        return False
    return action == "GET"


def _changes_no_tagged(action: Action, kind: str, state: State) -> bool:
    return (kind, state) != ("asset", "tagged") or action == "GET"


def _sees_no_tagged(action: Action, kind: str, state: State) -> bool:
    return (kind, state) != ("asset", "tagged") or action != "GET"


ROLES = (
    Role("admin", _all_routes, _everything, is_administrator=True),
    Role("dbadmin", _routes_of_admins, _administers_museum),
    Role("dbuser", _routes_of_users, _works_in_museum),
    Role("dbreader", _routes_of_readers, _sees_museum),
    Role("reader", _routes_of_readers, _sees_everything),
    Role("keepsoff", _all_routes, _changes_no_tagged),
    Role("blind", _all_routes, _sees_no_tagged),
    Role("routes", _all_routes, _nothing),
    Role("objects", _no_routes, _everything),
    Role("nobody", _no_routes, _nothing),
    Role("nomfa", _no_routes, _nothing),
    Role("mfa", _routes_of_admins, _administers_museum, has_mfa=True),
)
"""`admin`: an administrator. `dbadmin`, `dbuser`, `dbreader`, `reader`: the templates
database-admin, database-user and database-readonly for `museum`, and global-readonly. `keepsoff`:
everything that rules can allow, and deny-tagged-assets for `secret`. `blind`: the same, but denied
to see objects with the tag. `routes`: all routes and no object. `objects`: all objects and no
route. `nobody`: a user without a role. `nomfa` and `mfa`: a role like dbadmin's that requires a
second factor, without one and with one."""


def _just(action: Action) -> May:
    def may(query: Action, kind: str, state: State) -> bool:
        return query in {"GET", action}

    return may


def _all_but(action: Action) -> May:
    def may(query: Action, kind: str, state: State) -> bool:
        return query != action

    return may


ACTIONS: tuple[Action, ...] = ("GET", "PUT", "POST", "DELETE")
WITH_ONE_ACTION = tuple(Role(f"just-{each}", _all_routes, _just(each)) for each in ACTIONS)
WITHOUT_ONE_ACTION = tuple(Role(f"but-{each}", _all_routes, _all_but(each)) for each in ACTIONS)
"""Roles without one action each, which show the action that a method requires. They are not
columns. All may see objects, except `but-GET`."""
