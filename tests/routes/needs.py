"""The rights that routes need, as functions that return the expected status of an attempt.

The statements follow the contract: absent and invisible is 404, visible and not allowed 403, a list
leaves out what is invisible. A case names its function; without one, it is that of the type of the
route's object.
"""

import re
from collections.abc import Mapping

from backend.spec import routes
from backend.spec.routes import Route
from tests.factories.buckets import BUCKET_ID
from tests.routes.facts import Facts
from tests.routes.meaning import Fields
from tests.routes.model import ABSENT, BAD, DONE, FORBIDDEN, Attempt, Need
from tests.unit.domains.access.matrix.seeding import ANN
from tests.unit.domains.access.matrix.states import ASSETS, DATABASES, State

BOB = "bob@example.org"
_IN_GLOBAL = {"metadataSchema", "pipeline", "workflow"}
"""Types of which objects exist in GLOBAL too; others cannot be named there."""


def expected(attempt: Attempt) -> int:
    """Return the status: tier 1, then what the request itself says, then tier 2."""
    route = attempt.route
    is_open = route.public or route.open_to_users
    if not (is_open or may_use(attempt.facts, route, attempt.question.parameters)):
        return FORBIDDEN
    if attempt.state == "GLOBAL" and route.object_type not in _IN_GLOBAL:
        return BAD
    need = attempt.case.needs or NEED_OF_TYPE[route.object_type]
    return need(attempt)


def may_use(facts: Facts, route: Route, parameters: Mapping[str, str]) -> bool:
    """Return whether tier 1 allows a route, as it is declared or as it is requested."""

    def value(name: re.Match[str]) -> str:
        return parameters[name[1]].replace("%", "%25").replace("/", "%2F")

    requested = re.sub(r"\{([\w:]+)\+?\}", value, route.path)
    method = "GET" if route.method == "HEAD" else route.method
    return facts.can(method, "api", {"route__path": (requested, route.path)})


def allow_all(attempt: Attempt) -> int:
    return DONE


def check_administrator(attempt: Attempt) -> int:
    if not attempt.facts.is_administrator:
        return FORBIDDEN
    return DONE if attempt.is_there else ABSENT


def check_asset(attempt: Attempt) -> int:
    return attempt.reach("asset", attempt.asset())


def check_copy(attempt: Attempt) -> int:
    return attempt.reach("asset", attempt.asset(), "POST")


def check_both_ends(attempt: Attempt) -> int:
    """Of a link: both must be visible, and then allow it."""
    _, asset_id = ASSETS[attempt.state]
    ends = [attempt.facts.assets.get(name) for name in (asset_id, f"{asset_id}-base")]
    statuses = [attempt.reach("asset", None if end is None else end.fields) for end in ends]
    return max(statuses)  # 404 before 403 before 200


def check_new_link(attempt: Attempt) -> int:
    """Linking checks one end after the other: the first refusal is the reply."""
    base = attempt.reach("asset", attempt.facts.assets["statue-base"].fields)
    return base if base != DONE else check_asset(attempt)


def check_new_asset(attempt: Attempt, *further: str) -> int:
    """An asset to be: its fields are those of the request, its tags must be known and usable."""
    database_id, _ = ASSETS[attempt.state]
    database_id = database_id if attempt.is_there else DATABASES["absent"]
    tags = ("secret",) if attempt.state == "tagged" else ()
    fields = {
        "databaseId": database_id,
        "assetName": "A new one",
        "assetType": "none",
        "tags": tags,
    }
    if not attempt.can("PUT", "asset", fields):
        return FORBIDDEN
    if not attempt.is_there:
        return ABSENT
    if tags:
        secret = _tag("secret")
        if not attempt.can("GET", "tag", secret):
            return BAD  # to who does not see it, it is no tag
        if attempt.facts.names_tag("secret") and not attempt.can("PUT", "tag", secret):
            return FORBIDDEN
    return DONE if all(attempt.can(action, "asset", fields) for action in further) else FORBIDDEN


def check_ingest(attempt: Attempt) -> int:
    """To an asset that is visible: upload. Otherwise it is to be made; a taken id is a conflict."""
    there = attempt.asset()
    if there is not None and attempt.can("GET", "asset", there):
        return attempt.reach("asset", there, "POST")
    return check_new_asset(attempt, "POST")


def check_database(attempt: Attempt) -> int:
    database_id = DATABASES[attempt.state]
    if attempt.route is routes.DELETE_DATABASE and attempt.state == "foreign":
        database_id = "cellar"
    if not attempt.is_there or (attempt.state == "archived" and not attempt.case.sees_archived):
        return ABSENT
    return attempt.reach("database", {"databaseId": database_id})


def check_new_database(attempt: Attempt) -> int:
    names: dict[State, str] = {"own": "museum", "foreign": "library"}
    return attempt.make("database", {"databaseId": names[attempt.state]})


def _tag(name: str) -> Fields:
    return {"tagName": name, "tagTypeName": "colour", "databaseId": "GLOBAL"}


def check_tag(attempt: Attempt) -> int:
    tag = (
        {"tagName": "red", "tagTypeName": "colour", "databaseId": "GLOBAL"}
        if attempt.is_there
        else None
    )
    status = attempt.reach("tag", tag)
    is_deleted = attempt.route is routes.DELETE_TAG and status == DONE
    return FORBIDDEN if is_deleted and attempt.facts.names_tag("red") else status


def check_new_tag(attempt: Attempt) -> int:
    return attempt.make("tag", _tag("blue"))


def check_tag_type(attempt: Attempt) -> int:
    name = "empty" if attempt.route is routes.DELETE_TAG_TYPE else "colour"
    return attempt.reach(
        "tagType", {"tagTypeName": name, "databaseId": "GLOBAL"} if attempt.is_there else None
    )


def check_new_tag_type(attempt: Attempt) -> int:
    return attempt.make("tagType", {"tagTypeName": "size", "databaseId": "GLOBAL"})


def check_role(attempt: Attempt) -> int:
    return attempt.reach("role", {"roleName": "editor"} if attempt.is_there else None)


def check_new_role(attempt: Attempt) -> int:
    return attempt.make("role", {"roleName": "viewer"})


def _user(user_id: str, *roles: str) -> list[Fields]:
    """A user as rules see it: with each of its roles, or without one."""
    return [{"userId": user_id, "roleName": name} for name in roles] or [{"userId": user_id}]


def _changes_user(attempt: Attempt, user_id: str, *roles: str) -> int:
    may = all(attempt.can(attempt.route.action, "userRole", row) for row in _user(user_id, *roles))
    return DONE if may and not attempt.facts.has_own_rules(user_id) else FORBIDDEN


def check_role_to_give(attempt: Attempt) -> int:
    return _changes_user(attempt, BOB, "editor")


def check_new_sign_in(attempt: Attempt) -> int:
    return _changes_user(attempt, BOB)


def check_roles_to_take(attempt: Attempt) -> int:
    sees = any(attempt.can("GET", "userRole", row) for row in _user(ANN, "editor"))
    return _changes_user(attempt, ANN, "editor") if attempt.is_there and sees else ABSENT


def sees_sign_in(facts: Facts, user_id: str, *roles: str) -> bool:
    """Who may see the user itself, or one of its roles, sees that it can sign in."""
    rows = [*_user(user_id), *_user(user_id, *roles)]
    return any(facts.can("GET", "userRole", row) for row in rows)


def check_sign_in(attempt: Attempt) -> int:
    sees = attempt.is_there and sees_sign_in(attempt.facts, ANN, "editor")
    return _changes_user(attempt, ANN, "editor") if sees else ABSENT


def check_key(attempt: Attempt) -> int:
    """No rule names keys: all callers who may use the routes have their own, administrators all."""
    is_administrators = attempt.is_there and attempt.facts.is_administrator
    return DONE if attempt.state == "own" or is_administrators else ABSENT


def check_new_key(attempt: Attempt) -> int:
    return FORBIDDEN if check_key(attempt) == ABSENT else DONE


def check_own_key(attempt: Attempt) -> int:
    """The keys of other users and sessions look absent to administrators, too."""
    return DONE if attempt.state == "own" else ABSENT


def check_profile(attempt: Attempt) -> int:
    return DONE if attempt.state == "own" else FORBIDDEN


def _schema_fields(state: State) -> Fields | None:
    if state == "absent":
        return None
    database_id = DATABASES[state]
    fields = {"databaseId": database_id, "metadataSchemaName": f"Of {database_id}"}
    return {**fields, "metadataSchemaEntityType": "databaseMetadata"}


def check_schema(attempt: Attempt) -> int:
    return attempt.reach("metadataSchema", _schema_fields(attempt.state))


def check_new_schema(attempt: Attempt) -> int:
    fields = {"databaseId": DATABASES[attempt.state], "metadataSchemaName": "New"}
    status = attempt.make("metadataSchema", {**fields, "metadataSchemaEntityType": "assetMetadata"})
    return BAD if status == DONE and not attempt.is_there else status


def _pipeline_fields(database_id: str, name: str) -> Fields:
    of = {"databaseId": database_id, "pipelineId": f"{name}-{database_id}"}
    return {**of, "pipelineType": "standardFile", "pipelineExecutionType": "Lambda"}


def check_pipeline(attempt: Attempt) -> int:
    fields = _pipeline_fields(DATABASES[attempt.state], "convert")
    return attempt.reach("pipeline", fields if attempt.is_there else None)


def check_new_pipeline(attempt: Attempt) -> int:
    status = attempt.make("pipeline", _pipeline_fields(DATABASES[attempt.state], "convert"))
    return BAD if status == DONE and not attempt.is_there else status


def _workflow_fields(database_id: str) -> Fields:
    return {"databaseId": database_id, "workflowId": f"publish-{database_id}"}


def check_workflow(attempt: Attempt) -> int:
    fields = _workflow_fields(DATABASES[attempt.state])
    return attempt.reach("workflow", fields if attempt.is_there else None)


def check_new_workflow(attempt: Attempt) -> int:
    """A pipeline that the caller does not see cannot be in it."""
    database_id = DATABASES[attempt.state]
    status = attempt.make("workflow", _workflow_fields(database_id))
    used = attempt.is_there and attempt.can(
        "GET", "pipeline", _pipeline_fields(database_id, "used")
    )
    return BAD if status == DONE and not used else status


def check_execution(attempt: Attempt) -> int:
    """Of a workflow on an asset: both must allow it, and so must the workflow's pipelines."""
    database_id = ASSETS[attempt.state][0]
    workflow = _workflow_fields(database_id)
    asset = attempt.asset()
    if asset is None or not attempt.can("GET", "asset", asset):
        return ABSENT
    if attempt.route is not routes.START_EXECUTION and not attempt.can("GET", "workflow", workflow):
        return ABSENT  # the execution is hidden with its workflow
    statuses = attempt.reach("asset", asset), attempt.reach("workflow", workflow)
    if attempt.route in (routes.START_EXECUTION, routes.RERUN_EXECUTION):
        statuses += (attempt.reach("pipeline", _pipeline_fields(database_id, "used")),)
    return next((status for status in statuses if status != DONE), DONE)


def check_new_bucket(attempt: Attempt) -> int:
    """Its id is random; no drawn rule names one that another random id would not fit."""
    return attempt.make("bucket", {"bucketId": attempt.facts.new_bucket})


def check_import(attempt: Attempt) -> int:
    """Everyone sees buckets, but for those that a rule denies."""
    fields = {"bucketId": BUCKET_ID}
    if not attempt.is_there or attempt.facts.is_denied("GET", "bucket", fields):
        return ABSENT
    return attempt.make("bucket", fields)


NEED_OF_TYPE: dict[str, Need] = {
    "none": allow_all,
    "asset": check_asset,
    "database": check_database,
    "tag": check_tag,
    "tagType": check_tag_type,
    "role": check_role,
    "apiKey": check_key,
    "metadataSchema": check_schema,
    "pipeline": check_pipeline,
    "workflow": check_workflow,
    **dict.fromkeys(
        ("constraint", "failure", "queue", "searchIndex", "audit"), check_administrator
    ),
}
