"""How each route about anything but assets asks for an object in a state."""

from collections.abc import Callable
from typing import Any

from backend.spec import routes
from backend.spec.routes import Route
from tests.factories.buckets import BUCKET_ID
from tests.factories.constraints import constraint, groups
from tests.factories.workflows import pipeline_body
from tests.unit.domains.access.matrix.roles import Role
from tests.unit.domains.access.matrix.seeding import (
    ANN,
    RECORD,
    SCHEMA_FIELDS,
    Seeded,
    publishing,
)
from tests.unit.domains.access.matrix.states import DATABASES, State
from tests.unit.domains.access.matrix.world import Question

Asker = Callable[[Seeded, Route, Role, State], Question]

NOWHERE = "00000000-0000-4000-8000-000000000000"
TEMPLATE = {
    "variableValues": {"ROLE_NAME": "editor"},
    "constraints": [{**constraint(), "groupPermissions": [{"action": "GET"}]}],
}
EXPLAINED = {"userId": "admin", "action": "GET", "objectType": "asset"}
BODIES: dict[Route, Any] = {
    routes.UPDATE_DATABASE: {"description": "Nearly all"},
    routes.CREATE_DATABASE_METADATA: {"metadata": [{**RECORD, "metadataKey": "place"}]},
    routes.UPDATE_DATABASE_METADATA: {"metadata": [{**RECORD, "metadataValue": "1890"}]},
    routes.DELETE_DATABASE_METADATA: {"metadataKeys": ["year"]},
    routes.CREATE_CONSTRAINT: constraint(groupPermissions=groups("editor")),
    routes.UPDATE_CONSTRAINT: constraint(groupPermissions=groups("editor"), name="Other"),
    routes.IMPORT_CONSTRAINTS_TEMPLATE: TEMPLATE,
    routes.REGISTER_BUCKET: {"bucketName": "scans"},
    routes.REPAIR_SEARCH: {"databaseId": "museum"},
    routes.RENEW_FACTS: {"databaseId": "museum"},
    routes.UPDATE_API_KEY: {"isActive": "false"},
    routes.CREATE_ROLE: {"roleName": "viewer", "description": "Looks"},
    routes.ADD_USER_ROLES: {"userId": "bob@example.org", "roleName": ["editor"]},
    routes.SET_USER_ROLES: {"userId": "bob@example.org", "roleName": ["editor"]},
    routes.CREATE_COGNITO_USER: {"userId": "bob@example.org", "email": "bob@example.org"},
    routes.UPDATE_COGNITO_USER: {"email": "other@example.org"},
    routes.RESET_COGNITO_PASSWORD: {"confirmReset": True},
    routes.CREATE_TAG: {"tagName": "blue", "description": "Sky", "tagTypeName": "colour"},
    routes.CREATE_TAG_TYPE: {"tagTypeName": "size", "description": "How large"},
}


def plain(world: Seeded, route: Route, role: Role, state: State) -> Question:
    """What names one thing in its path: `NAMED`, or one that is not there."""
    return Question(
        {
            name: NAMED.get(state, NAMED["absent"])[name]
            for name in NAMED["own"]
            if f"{{{name}}}" in route.path
        },
        body=BODIES.get(route),
    )


NAMED: dict[State, dict[str, str]] = {
    "own": {
        "roleId": "editor",
        "tagId": "red",
        "tagTypeId": "empty",
        "constraintId": "see",
        "userId": ANN,
        "queueName": "Settle",
        "bucketId": BUCKET_ID,
    },
    "absent": {
        "roleId": "none-such",
        "tagId": "none-such",
        "tagTypeId": "none-such",
        "constraintId": "none-such",
        "userId": "none@example.org",
        "queueName": "NoneSuch",
        "bucketId": NOWHERE,
    },
}


def about_a_database(world: Seeded, route: Route, role: Role, state: State) -> Question:
    query = {"showDeleted": "true"} if state == "archived" else {}
    if route is routes.LIST_DATABASES:
        return Question({}, query, shows=f"'{DATABASES[state]}'")
    if route is routes.CREATE_DATABASE:
        names: dict[State, str] = {"own": "museum", "foreign": "library", "GLOBAL": "GLOBAL"}
        made = {"databaseId": names[state], "description": "X" * 9, "defaultBucketId": BUCKET_ID}
        return Question({}, body=made)
    if route is routes.DELETE_DATABASE and state == "foreign":
        return Question({"databaseId": "cellar"})  # which is empty
    if route is routes.LIST_ASSETS and state == "archived":
        query = {"showArchived": "true"}
    elif route is not routes.GET_DATABASE:
        query = {}
    return Question({"databaseId": DATABASES[state]}, query, BODIES.get(route))


def about_a_schema(world: Seeded, route: Route, role: Role, state: State) -> Question:
    schema = world.schemas.get(state, NOWHERE)
    if route is routes.LIST_METADATA_SCHEMAS:
        return Question({}, shows=schema)
    if route is routes.UPDATE_METADATA_SCHEMA:
        return Question({}, body={"metadataSchemaId": schema, "enabled": False})
    if route is routes.CREATE_METADATA_SCHEMA:
        of = {"databaseId": DATABASES[state], "metadataSchemaEntityType": "assetMetadata"}
        return Question({}, body={**of, "schemaName": "New", "fields": SCHEMA_FIELDS})
    database_id = DATABASES[state] if state != "absent" else "museum"
    deleted = route is routes.DELETE_METADATA_SCHEMA
    path = {"databaseId": database_id, "metadataSchemaId": schema}
    return Question(path, body={"confirmDelete": True} if deleted else None)


def about_a_pipeline(world: Seeded, route: Route, role: Role, state: State) -> Question:
    database_id = DATABASES[state]
    name = f"convert-{database_id}"
    if route is routes.PUT_PIPELINE:
        return Question({}, body=pipeline_body(name, database_id))
    if route is routes.LIST_ALL_PIPELINES:
        return Question({}, shows=f"'{name}'")
    path = {"databaseId": database_id}
    if route is routes.LIST_PIPELINES:
        return Question(path, shows=f"'{name}'")
    return Question({**path, "pipelineId": name})


def about_a_workflow(world: Seeded, route: Route, role: Role, state: State) -> Question:
    database_id = DATABASES[state]
    name = f"publish-{database_id}"
    if route is routes.PUT_WORKFLOW:
        return Question({}, body=publishing(database_id))
    if route is routes.LIST_ALL_WORKFLOWS:
        return Question({}, shows=f"'{name}'")
    path = {"databaseId": database_id}
    if route is routes.LIST_WORKFLOWS:
        return Question(path, shows=f"'{name}'")
    return Question({**path, "workflowId": name})


def about_a_key(world: Seeded, route: Route, role: Role, state: State) -> Question:
    of: dict[State, str] = {"own": role.user_id, "foreign": ANN}
    if route is routes.CREATE_API_KEY:
        body = {"apiKeyName": "Other", "userId": of[state], "description": "For the lab"}
        return Question({}, body=body)
    key = world.keys.get(of.get(state, ""), NOWHERE)
    if route is routes.LIST_API_KEYS:
        return Question({}, shows=key)
    return Question({"apiKeyId": key}, body=BODIES.get(route))


def about_a_profile(world: Seeded, route: Route, role: Role, state: State) -> Question:
    body = {"email": "x@example.org"} if route is routes.UPDATE_LOGIN_PROFILE else None
    return Question({"userId": role.user_id if state == "own" else ANN}, body=body)


def about_a_page(world: Seeded, route: Route, role: Role, state: State) -> Question:
    path = "/assets" if state == "own" else "/auth/constraints"
    return Question(
        {}, body={"routes": [{"method": "GET", "route__path": path}]}, shows=f"'{path}'"
    )


def with_a_body(world: Seeded, route: Route, role: Role, state: State) -> Question:
    """What names one thing in its body, or in its query."""
    there = state == "own"
    name = "red" if there else "none-such"
    tag_type = "colour" if there else "none-such"
    if route is routes.UPDATE_TAG:
        return Question({}, body={"tagName": name, "description": "X", "tagTypeName": "colour"})
    if route is routes.UPDATE_TAG_TYPE:
        return Question({}, body={"tagTypeName": tag_type, "description": "X"})
    if route is routes.UPDATE_ROLE:
        role_name = "editor" if there else "none-such"
        return Question({}, body={"roleName": role_name, "description": "X"})
    user = ANN if there else "none@example.org"
    return Question({}, body={"userId": user})


def in_a_list(world: Seeded, route: Route, role: Role, state: State) -> Question:
    """A list of things of which one of `LISTED` is; the absent one is not."""
    return Question({}, shows=LISTED[route] if state == "own" else "none-such")


LISTED = {
    routes.LIST_TAGS: "'red'",
    routes.LIST_TAG_TYPES: "'colour'",
    routes.LIST_ROLES: "'editor'",
    routes.LIST_USER_ROLES: f"'{ANN}'",
    routes.LIST_COGNITO_USERS: f"'{ANN}'",
    routes.LIST_BUCKETS: BUCKET_ID,
}


def of_audit(world: Seeded, route: Route, role: Role, state: State) -> Question:
    large = world.large
    asked = {"entity": large["entity"]}
    if route is routes.LIST_AUDIT_ENTRIES:
        return Question({}, asked)
    value = large["valueHash"] if state == "own" else "a" * 64
    return Question({"valueHash": value}, {**asked, "at": large["at"]})


def of_failures(world: Seeded, route: Route, role: Role, state: State) -> Question:
    if route is routes.LIST_FAILURES:
        return Question({})
    key, gone = world.failure, world.failure[:-1] + "0"
    if route is routes.REPLAY_FAILURES:
        return Question({}, body={"keys": [gone]})
    key = key if state == "own" else gone
    return Question({}, {"key": key})


def explained(world: Seeded, route: Route, role: Role, state: State) -> Question:
    return Question({}, EXPLAINED)


BY_ROUTE: dict[Route, Asker] = {
    routes.LIST_ASSETS: about_a_database,
    routes.EXPLAIN_ACCESS: explained,
    routes.LIST_ALLOWED_ROUTES: about_a_page,
    **dict.fromkeys((routes.GET_LOGIN_PROFILE, routes.UPDATE_LOGIN_PROFILE), about_a_profile),
    **dict.fromkeys(
        (routes.UPDATE_TAG, routes.UPDATE_TAG_TYPE, routes.UPDATE_ROLE, routes.DELETE_USER_ROLES),
        with_a_body,
    ),
    **dict.fromkeys(LISTED, in_a_list),
}
BY_TYPE: dict[str, Asker] = {
    "database": about_a_database,
    "metadataSchema": about_a_schema,
    "pipeline": about_a_pipeline,
    "workflow": about_a_workflow,
    "apiKey": about_a_key,
    "audit": of_audit,
    "failure": of_failures,
}
