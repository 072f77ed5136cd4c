"""The expected reply of each route, from the meaning of the rules and the existing objects.

The statements follow the contract: absent and invisible is 404, visible and not allowed 403, a list
leaves out what is invisible. A route that is named nowhere here fails the test.
"""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from backend.spec import routes
from backend.spec.routes import Route
from tests.factories.buckets import BUCKET_ID
from tests.unit.domains.access.matrix.expected import demand_of
from tests.unit.domains.access.matrix.states import ASSETS, DATABASES, State
from tests.unit.domains.access.matrix.world import Question
from tests.unit.large.generated.drawing import ANN, BOB
from tests.unit.large.generated.ground import AssetFacts, Facts
from tests.unit.large.generated.meaning import Fields, has_own_rules

DONE, BAD, FORBIDDEN, ABSENT = 200, 400, 403, 404
"""`DONE` is any success, and a conflict (409) that only those learn of who may do it."""


class Request(NamedTuple):
    """A question put to a route about an object in a state."""

    facts: Facts
    route: Route
    state: State
    question: Question

    def can(self, action: str, kind: str, fields: Fields) -> bool:
        return self.facts.can(action, kind, fields)

    def reach(self, kind: str, fields: Fields | None, *actions: str) -> int:
        """The status of the reply to this request for an object; None is an absent object."""
        if fields is None or not self.can("GET", kind, fields):
            return ABSENT
        wanted = actions or (self.route.action,)
        return DONE if all(self.can(each, kind, fields) for each in wanted) else FORBIDDEN

    def make(self, kind: str, fields: Fields) -> int:
        return DONE if self.can(self.route.action, kind, fields) else FORBIDDEN

    @property
    def is_there(self) -> bool:
        return self.state != "absent"

    def asset(self, state: State | None = None) -> Fields | None:
        """The asset in the state, where the route speaks of it."""
        database_id, asset_id = ASSETS[state or self.state]
        found = self.facts.assets.get(asset_id)
        if found is None or found.fields["databaseId"] != database_id:
            return None
        return (
            None if found.is_archived and not demand_of(self.route).sees_archived else found.fields
        )


def expected(request: Request) -> int:
    """The status: tier 1, then what the request itself says, then tier 2."""
    route = request.route
    if not (route.public or route.open_to_users or may_use(request)):
        return FORBIDDEN
    if request.state in demand_of(route).bad:
        return BAD
    return _statement_of(route)(request)


def may_use(request: Request) -> bool:
    """A rule may speak of the route as it is declared, or as it is requested."""

    def value(name: re.Match[str]) -> str:
        found = request.question.parameters[name[1]]
        return found.replace("%", "%25").replace("/", "%2F")

    route = request.route
    requested = re.sub(r"\{([\w:]+)\+?\}", value, route.path)
    method = "GET" if route.method == "HEAD" else route.method
    return request.can(method, "api", {"route__path": (requested, route.path)})


def _statement_of(route: Route) -> Callable[[Request], int]:
    found = BY_ROUTE.get(route) or BY_DOMAIN.get(route.domain) or BY_TYPE.get(route.object_type)
    assert found is not None, f"say in BY_ROUTE whom {route.key} answers, and what"
    return found


def _everyone(request: Request) -> int:
    return DONE


def _administrators(request: Request) -> int:
    return FORBIDDEN


def _an_asset(request: Request) -> int:
    return request.reach("asset", request.asset())


def _both_ends(request: Request) -> int:
    """Of a link: both must be visible, and then allow it."""
    _, asset_id = ASSETS[request.state]
    ends = [request.facts.assets.get(name) for name in (asset_id, f"{asset_id}-base")]
    found = [request.reach("asset", None if end is None else end.fields) for end in ends]
    return max(found)  # 404 before 403 before 200


def _to_link(request: Request) -> int:
    """Linking checks one end after the other: the first refusal is the reply."""
    base = request.reach("asset", request.facts.assets["statue-base"].fields)
    return base if base != DONE else _an_asset(request)


def _new_asset(request: Request, *further: str) -> int:
    """An asset to be: its fields are those of the request, its tags must be known and usable."""
    database_id, _ = ASSETS[request.state]
    database_id = database_id if request.is_there else DATABASES["absent"]
    tags = ("secret",) if request.state == "tagged" else ()
    fields = {
        "databaseId": database_id,
        "assetName": "A new one",
        "assetType": "none",
        "tags": tags,
    }
    if not request.can("PUT", "asset", fields):
        return FORBIDDEN
    if not request.is_there:
        return ABSENT
    if tags:
        secret = {"tagName": "secret", "tagTypeName": "colour"}
        if not request.can("GET", "tag", secret):
            return BAD  # to who does not see it, it is no tag
        if request.facts.names_tag("secret") and not request.can("PUT", "tag", secret):
            return FORBIDDEN
    return DONE if all(request.can(each, "asset", fields) for each in further) else FORBIDDEN


def _to_ingest(request: Request) -> int:
    """To an asset that is visible: upload. Otherwise it is to be made; a taken id is a conflict."""
    there = request.asset()
    if there is not None and request.can("GET", "asset", there):
        return request.reach("asset", there, "POST")
    return _new_asset(request, "POST")


def _a_database(request: Request) -> int:
    database_id = "cellar" if _empties_cellar(request) else DATABASES[request.state]
    shows_deleted = demand_of(request.route).sees_archived or request.route is routes.LIST_ASSETS
    if not request.is_there or (request.state == "archived" and not shows_deleted):
        return ABSENT
    return request.reach("database", {"databaseId": database_id}, _action_on_database(request))


def _action_on_database(request: Request) -> str:
    return "GET" if request.route is routes.LIST_ASSETS else request.route.action


def _empties_cellar(request: Request) -> bool:
    return request.route is routes.DELETE_DATABASE and request.state == "foreign"


def _new_database(request: Request) -> int:
    names: dict[State, str] = {"own": "museum", "foreign": "library"}
    return request.make("database", {"databaseId": names[request.state]})


def _a_tag(request: Request) -> int:
    tag = {"tagName": "red", "tagTypeName": "colour"} if request.is_there else None
    found = request.reach("tag", tag)
    is_deleted = request.route is routes.DELETE_TAG and found == DONE
    return FORBIDDEN if is_deleted and request.facts.names_tag("red") else found


def _new_tag(request: Request) -> int:
    return request.make("tag", {"tagName": "blue", "tagTypeName": "colour"})


def _a_tag_type(request: Request) -> int:
    name = "empty" if request.route is routes.DELETE_TAG_TYPE else "colour"
    return request.reach("tagType", {"tagTypeName": name} if request.is_there else None)


def _a_role(request: Request) -> int:
    return request.reach("role", {"roleName": "editor"} if request.is_there else None)


def _user(user_id: str, *roles: str) -> list[Fields]:
    """A user as rules see it: with each of its roles, or without one."""
    return [{"userId": user_id, "roleName": name} for name in roles] or [{"userId": user_id}]


def _changes_user(request: Request, user_id: str, *roles: str) -> int:
    may = all(
        request.can(request.route.action, "userRole", each) for each in _user(user_id, *roles)
    )
    return DONE if may and not has_own_rules(request.facts.rules, user_id) else FORBIDDEN


def _assigns_role(request: Request) -> int:
    return _changes_user(request, BOB, "editor")


def _new_sign_in(request: Request) -> int:
    return _changes_user(request, BOB)


def _takes_roles(request: Request) -> int:
    sees = any(request.can("GET", "userRole", each) for each in _user(ANN, "editor"))
    return _changes_user(request, ANN, "editor") if request.is_there and sees else ABSENT


def sees_sign_in(facts: Facts, user_id: str, *roles: str) -> bool:
    """Who may see the user itself, or one of its roles, sees that it can sign in."""
    found = [*_user(user_id), *_user(user_id, *roles)]
    return any(facts.can("GET", "userRole", each) for each in found)


def _a_sign_in(request: Request) -> int:
    sees = request.is_there and sees_sign_in(request.facts, ANN, "editor")
    return _changes_user(request, ANN, "editor") if sees else ABSENT


def _a_key(request: Request) -> int:
    """No rule names keys: everyone who may use the routes has its own."""
    return DONE if request.state == "own" else ABSENT


def _new_key(request: Request) -> int:
    return DONE if request.state == "own" else FORBIDDEN


def _a_profile(request: Request) -> int:
    return DONE if request.state == "own" else FORBIDDEN


def _schema_fields(state: State) -> Fields | None:
    if state == "absent":
        return None
    database_id = DATABASES[state]
    fields = {"databaseId": database_id, "metadataSchemaName": f"Of {database_id}"}
    return {**fields, "metadataSchemaEntityType": "databaseMetadata"}


def _a_schema(request: Request) -> int:
    return request.reach("metadataSchema", _schema_fields(request.state))


def _new_schema(request: Request) -> int:
    fields = {"databaseId": DATABASES[request.state], "metadataSchemaName": "New"}
    found = request.make("metadataSchema", {**fields, "metadataSchemaEntityType": "assetMetadata"})
    return BAD if found == DONE and not request.is_there else found


def _pipeline_fields(database_id: str, name: str) -> Fields:
    of = {"databaseId": database_id, "pipelineId": f"{name}-{database_id}"}
    return {**of, "pipelineType": "standardFile", "pipelineExecutionType": "Lambda"}


def _a_pipeline(request: Request) -> int:
    fields = _pipeline_fields(DATABASES[request.state], "convert")
    return request.reach("pipeline", fields if request.is_there else None)


def _put_pipeline(request: Request) -> int:
    found = request.make("pipeline", _pipeline_fields(DATABASES[request.state], "convert"))
    return BAD if found == DONE and not request.is_there else found


def _workflow_fields(database_id: str) -> Fields:
    return {"databaseId": database_id, "workflowId": f"publish-{database_id}"}


def _a_workflow(request: Request) -> int:
    fields = _workflow_fields(DATABASES[request.state])
    return request.reach("workflow", fields if request.is_there else None)


def _put_workflow(request: Request) -> int:
    """A pipeline that the caller does not see cannot be in it."""
    database_id = DATABASES[request.state]
    found = request.make("workflow", _workflow_fields(database_id))
    used = request.is_there and request.can(
        "GET", "pipeline", _pipeline_fields(database_id, "used")
    )
    return BAD if found == DONE and not used else found


def _a_run(request: Request) -> int:
    """Of a workflow on an asset: both must allow it, and so must the workflow's pipelines."""
    database_id = ASSETS[request.state][0]
    workflow = _workflow_fields(database_id)
    asset = request.asset()
    if asset is None or not request.can("GET", "asset", asset):
        return ABSENT
    if request.route is not routes.START_EXECUTION and not request.can("GET", "workflow", workflow):
        return ABSENT  # the execution is hidden with its workflow
    found = request.reach("asset", asset), request.reach("workflow", workflow)
    if request.route in (routes.START_EXECUTION, routes.RERUN_EXECUTION):
        found += (request.reach("pipeline", _pipeline_fields(database_id, "used")),)
    return next((each for each in found if each != DONE), DONE)


def _new_bucket(request: Request) -> int:
    """Its id is random; no drawn rule names one that another random id would not fit."""
    return request.make("bucket", {"bucketId": request.facts.new_bucket})


def _import_of_bucket(request: Request) -> int:
    """Everyone sees buckets, but for those that a rule denies."""
    fields = {"bucketId": BUCKET_ID}
    if not request.is_there or request.facts.is_denied("GET", "bucket", fields):
        return ABSENT
    return request.make("bucket", fields)


BY_ROUTE: dict[Route, Callable[[Request], int]] = {
    **dict.fromkeys(
        (
            *(routes.GET_AMPLIFY_CONFIG, routes.GET_VERSION, routes.GET_SECURE_CONFIG),
            *(routes.GET_OPENAPI, routes.GET_SEARCH_MAPPINGS, routes.LIST_ALLOWED_ROUTES),
            # Lists and searches answer everyone: `showing` says what is in them.
            *(routes.SEARCH, routes.SEARCH_SIMPLE, routes.SUGGEST, routes.LIST_PREVIEWS),
            *(routes.LIST_BUCKETS, routes.LIST_ALL_ASSETS, routes.LIST_JOBS, routes.LIST_UPLOADS),
            *(routes.LIST_DATABASES, routes.LIST_TAGS, routes.LIST_TAG_TYPES, routes.LIST_ROLES),
            *(routes.LIST_USER_ROLES, routes.LIST_COGNITO_USERS, routes.LIST_API_KEYS),
            *(routes.LIST_SUBSCRIPTIONS, routes.LIST_METADATA_SCHEMAS),
            *(routes.LIST_ALL_PIPELINES, routes.LIST_PIPELINES),
            *(routes.LIST_ALL_WORKFLOWS, routes.LIST_WORKFLOWS),
        ),
        _everyone,
    ),
    **dict.fromkeys((routes.GET_LOGIN_PROFILE, routes.UPDATE_LOGIN_PROFILE), _a_profile),
    **dict.fromkeys((routes.ADD_USER_ROLES, routes.SET_USER_ROLES), _assigns_role),
    **dict.fromkeys(
        (
            *(routes.GET_LINK, routes.UPDATE_LINK, routes.DELETE_LINK, routes.GET_LINK_METADATA),
            *(routes.CREATE_LINK_METADATA, routes.UPDATE_LINK_METADATA),
            routes.DELETE_LINK_METADATA,
        ),
        _both_ends,
    ),
    routes.CREATE_LINK: _to_link,
    routes.DELETE_USER_ROLES: _takes_roles,
    routes.CREATE_COGNITO_USER: _new_sign_in,
    routes.UPDATE_COGNITO_USER: _a_sign_in,
    routes.DELETE_COGNITO_USER: _a_sign_in,
    routes.RESET_COGNITO_PASSWORD: _a_sign_in,
    routes.CREATE_ROLE: lambda case: case.make("role", {"roleName": "viewer"}),
    routes.CREATE_API_KEY: _new_key,
    routes.CREATE_ASSET: _new_asset,
    routes.INGEST_ASSET: _to_ingest,
    routes.LIST_ASSETS: _a_database,
    routes.CREATE_DATABASE: _new_database,
    routes.CREATE_TAG: _new_tag,
    routes.CREATE_TAG_TYPE: lambda case: case.make("tagType", {"tagTypeName": "size"}),
    routes.CREATE_METADATA_SCHEMA: _new_schema,
    routes.PUT_PIPELINE: _put_pipeline,
    routes.PUT_WORKFLOW: _put_workflow,
    **dict.fromkeys(
        (
            *(routes.START_EXECUTION, routes.GET_EXECUTION),
            *(routes.STOP_EXECUTION, routes.RERUN_EXECUTION),
        ),
        _a_run,
    ),
    routes.REGISTER_BUCKET: _new_bucket,
    routes.IMPORT_BUCKET: _import_of_bucket,
    routes.COPY_FILE: lambda case: case.reach("asset", case.asset(), "POST"),
}
BY_DOMAIN = {"jobs": _an_asset}
BY_TYPE: dict[str, Callable[[Request], int]] = {
    "asset": _an_asset,
    "database": _a_database,
    "tag": _a_tag,
    "tagType": _a_tag_type,
    "role": _a_role,
    "apiKey": _a_key,
    "metadataSchema": _a_schema,
    "pipeline": _a_pipeline,
    "workflow": _a_workflow,
    **dict.fromkeys(("constraint", "failure", "queue", "searchIndex", "audit"), _administrators),
}


def visible(facts: Facts, names: Iterable[str]) -> dict[str, AssetFacts]:
    """Those of the assets that the caller may see."""
    found = {name: facts.assets[name] for name in names}
    return {name: one for name, one in found.items() if facts.can("GET", "asset", one.fields)}
