"""Every route, called under thousands of drawn policies, replies as the rules require.

The cases of `tests/routes` state the rights that a route needs and what its reply shows; `meaning`
there evaluates the rules without the product. Each policy is tried on every other declared route,
with an object in one of the states that the route can name. POLICIES sets how many (`make prove
PART=attacks`).
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings

from backend.domains.access.policy.model import OBJECT_TYPES
from backend.spec import routes
from backend.spec.routes import ROUTES, Route
from tests.amounts import amount
from tests.factories.buckets import BUCKET_ID
from tests.factories.http import Response
from tests.factories.workflows import pipeline_body
from tests.routes import CASE_OF, question
from tests.routes.facts import Facts, token_of
from tests.routes.model import BAD, DONE, Attempt, rows_of
from tests.routes.needs import expected
from tests.unit.domains.access.matrix.seeding import SCHEMA_FIELDS, publishing
from tests.unit.domains.access.matrix.states import STATES, State
from tests.unit.domains.access.matrix.world import Question
from tests.unit.large.generated.ground import (
    ANN,
    ASSET_COUNT,
    BOB,
    FIELDS_OF,
    PLAIN_ROLE,
    AssetTraits,
    Case,
    GeneratedWorld,
    cases,
    constraint,
    everything,
)

POLICIES = amount("POLICIES")
CONFLICT = 409
STATES_AT_MOST = len(STATES)
FULL: dict[Route, dict[str, Any]] = {
    routes.SEARCH: {"size": 100, "aggregations": True},
    routes.SEARCH_SIMPLE: {"size": 100},
    routes.EXPORT_ASSETS: {"fetchEntireChildrenSubtrees": True, "includeParentRelationships": True},
}
PAGED = (
    *(routes.LIST_ALL_ASSETS, routes.LIST_ASSETS, routes.LIST_DATABASES, routes.LIST_TAGS),
    *(routes.LIST_TAG_TYPES, routes.LIST_ROLES, routes.LIST_USER_ROLES, routes.LIST_BUCKETS),
    *(routes.LIST_METADATA_SCHEMAS, routes.LIST_SUBSCRIPTIONS, routes.LIST_API_KEYS),
    *(routes.LIST_ALL_PIPELINES, routes.LIST_PIPELINES),
    *(routes.LIST_ALL_WORKFLOWS, routes.LIST_WORKFLOWS),
)


PAGED_BY_TIME = [
    "backend.core.paging",
    "backend.domains.asset_versions.service.queries",
    "backend.domains.assets.service.queries",
    "backend.domains.files.service.queries",
    "backend.domains.identity.service.users",
]


@pytest.fixture(scope="module")
def ground() -> Iterator[GeneratedWorld]:
    with pytest.MonkeyPatch.context() as patch:
        for module in PAGED_BY_TIME:
            # On a busy machine two seconds would end a page before the list that is compared.
            patch.setattr(f"{module}.MAX_TIME_PER_PAGE", timedelta(hours=1))
        yield GeneratedWorld()


def status_of(answer: Response) -> int:
    """Only callers who may do what they request learn of a conflict."""
    return DONE if answer.status < BAD or answer.status == CONFLICT else answer.status


def attempt_of(ground: GeneratedWorld, facts: Facts, route: Route, state: State) -> Attempt:
    """The request of the matrix, with everything that a reply can contain."""
    request = question(ground, route, facts.who.user_id, state)
    if route in FULL:
        request = replace(request, body={**request.body, **FULL[route]})
    return Attempt(facts, CASE_OF[route], state, request)


def differences(ground: GeneratedWorld, facts: Facts, route: Route, state: State) -> Iterator[str]:
    """Where the product answers something else than the rules mean."""
    attempt = attempt_of(ground, facts, route, state)
    status, answer = expected(attempt), ground.send_for(facts, route, attempt.question)
    where, content = f"{route.key} ({state})", attempt.case.content
    if status_of(answer) != status:
        yield f"{where}: {status} by the rules, but {answer.status} {answer.body}"
    elif status != DONE and ground.changed:
        yield f"{where}: {answer.status}, but something was changed"
    elif status == DONE and content is not None:
        shown, due = content.actual(attempt, answer.body), content.expected(attempt)
        if shown != due:
            yield f"{where}: {due} by the rules, but {shown}"


def pages(ground: GeneratedWorld, facts: Facts, route: Route) -> Iterator[str]:
    """Where a list, read in pages that end before, at and behind its last visible row, differs."""
    attempt, content = attempt_of(ground, facts, route, "own"), CASE_OF[route].content
    assert content is not None
    if expected(attempt) != DONE:
        return
    due = content.expected(attempt)
    number = len(rows_of(ground.send_for(facts, route, attempt.question).body))
    for size in sorted({1, 2, number, number + 1} - {0}):
        rows, token, sizes = list[Any](), "", list[int]()
        while token is not None:
            query = {**(attempt.question.query or {}), "maxItems": str(size)}
            query |= {"startingToken": token} if token else {}
            body = ground.send_for(facts, route, replace(attempt.question, query=query)).body
            rows, token = [*rows, *rows_of(body)], token_of(body)
            sizes.append(len(rows_of(body)))
        shown = content.actual(attempt, {"Items": rows})
        # A full page has a token whatever follows: the last page may be empty.
        full, rest = divmod(number, size)
        if shown != due or sizes != [*[size] * full, rest]:
            yield f"{route.key} in pages of {sizes}: {due} by the rules, but {shown}"


def turns(route: Route, turn: int) -> State:
    states = CASE_OF[route].states
    return states[(turn + ROUTES.index(route)) % len(states)]


def test_every_route_answers_what_the_rules_mean(ground: GeneratedWorld) -> None:
    @hypothesis_settings(max_examples=POLICIES)
    @given(cases())
    def holds(case: Case) -> None:
        with ground.under(case) as facts:
            result = [
                difference
                for route in ROUTES[case.turn % 2 :: 2]
                for difference in differences(ground, facts, route, turns(route, case.turn))
            ]
            paged = PAGED[case.turn :: STATES_AT_MOST]
            result += [page for route in paged for page in pages(ground, facts, route)]
        assert result == []

    holds()


def open_case(*closed: str) -> Case:
    """A rule on all objects of each type but the closed ones."""
    return Case(
        constraints=tuple(everything(name) for name in FIELDS_OF if name not in closed),
        roles=(PLAIN_ROLE,),
        has_mfa=False,
        traits=(AssetTraits("statue", ".glb", ("secret", "red")),) * ASSET_COUNT,
        turn=0,
    )


ALL: list[tuple[Route, State]] = [
    (route, state) for route in ROUTES for state in CASE_OF[route].states
]
OF_ADMINISTRATORS = {"constraint", "failure", "queue", "searchIndex", "audit"}


def test_who_has_all_rights_succeeds_on_every_route_that_rules_can_open(
    ground: GeneratedWorld,
) -> None:
    with ground.under(open_case()) as facts:
        assert [
            difference for item in ALL for difference in differences(ground, facts, *item)
        ] == []
        done = {
            route.key
            for route, state in ALL
            if ground.send_for(
                facts, route, question(ground, route, facts.who.user_id, state)
            ).status
            < BAD
        }
    # Unless the requests succeed here, refusals of them prove nothing.
    closed = {route.key for route in ROUTES if route.object_type in OF_ADMINISTRATORS}
    assert done == {route.key for route in ROUTES} - closed


@pytest.mark.parametrize("object_type", FIELDS_OF)
def test_without_rules_on_a_type_its_objects_are_closed(
    ground: GeneratedWorld, object_type: str
) -> None:
    with ground.under(open_case(object_type)) as facts:
        result = [
            difference
            for route, state in ALL
            if route.object_type == object_type
            for difference in differences(ground, facts, route, state)
        ]
    assert result == []


def test_a_rule_that_the_product_lost_is_noticed(ground: GeneratedWorld) -> None:
    """The comparison can fail: here the product lacks one rule that denies."""
    with ground.under(open_case()) as facts:
        (rule,) = (item for item in facts.rules if item["objectType"] == "asset")
        denied = [
            {**permission, "permissionType": "deny"} for permission in rule["groupPermissions"]
        ]
        lost = {**rule, "groupPermissions": denied}
        more = facts._replace(rules=(*facts.rules, lost))
        keys = {route.key for route, state in ALL for _ in differences(ground, more, route, state)}
    of_assets = {route.key for route in ROUTES if route.object_type == "asset"}
    assert keys >= of_assets | {route.key for route in (routes.SEARCH, routes.SEARCH_SIMPLE)}


STATUE = {"databaseId": "museum", "assetId": "statue"}
NEW_ASSET = {"databaseId": "museum", "description": "Marble", "isDistributable": True}
NEW_SCHEMA = {"databaseId": "museum", "metadataSchemaEntityType": "assetMetadata"}
TAG = {"description": "A tag"}


class Change(NamedTuple):
    """The effect of a request on objects of a type, and a rule on a name that it touches."""

    object_type: str
    verb: str
    route: Route
    field: str
    value: str
    path: dict[str, str] = {}
    body: dict[str, Any] | None = None
    query: dict[str, str] = {}


CHANGES = (
    Change(
        "database", "create", routes.CREATE_DATABASE, "databaseId", "library",
        body={"databaseId": "library", "description": "Things", "defaultBucketId": BUCKET_ID},
    ),
    Change("database", "delete", routes.DELETE_DATABASE, "databaseId", "cellar",
           {"databaseId": "cellar"}),
    Change("databasePurge", "delete", routes.DELETE_DATABASE, "databaseId", "attic",
           {"databaseId": "attic"}, {"confirmPermanentDelete": True}, {"purge": "true"}),
    Change("asset", "create", routes.CREATE_ASSET, "assetName", "new",
           body={**NEW_ASSET, "assetName": "new"}),
    Change("asset", "create", routes.INGEST_ASSET, "assetName", "new",
           body={**NEW_ASSET, "assetName": "new", "assetId": "new",
                 "files": [{"relativeKey": "new/a.txt", "file_size": 0}]}),
    Change("asset", "rename from", routes.UPDATE_ASSET, "assetName", "statue", STATUE,
           {"assetName": "new"}),
    Change("asset", "rename to", routes.UPDATE_ASSET, "assetName", "new", STATUE,
           {"assetName": "new"}),
    Change("asset", "delete", routes.ARCHIVE_ASSET, "assetName", "statue", STATUE,
           {"confirmArchive": True}),
    Change("asset", "delete", routes.DELETE_ASSET, "assetName", "statue", STATUE,
           {"confirmPermanentDelete": True}),
    Change("tag", "create", routes.CREATE_TAG, "tagName", "blue",
           body={**TAG, "tagName": "blue", "tagTypeName": "colour"}),
    Change("tag", "rename from", routes.UPDATE_TAG, "tagTypeName", "colour",
           body={**TAG, "tagName": "red", "tagTypeName": "empty"}),
    Change("tag", "rename to", routes.UPDATE_TAG, "tagTypeName", "empty",
           body={**TAG, "tagName": "red", "tagTypeName": "empty"}),
    Change("tag", "delete", routes.DELETE_TAG, "tagName", "red", {"tagId": "red"}),
    Change("tagType", "create", routes.CREATE_TAG_TYPE, "tagTypeName", "size",
           body={**TAG, "tagTypeName": "size"}),
    Change("tagType", "delete", routes.DELETE_TAG_TYPE, "tagTypeName", "empty",
           {"tagTypeId": "empty"}),
    Change("role", "create", routes.CREATE_ROLE, "roleName", "viewer",
           body={"roleName": "viewer", "description": "Looks"}),
    Change("role", "delete", routes.DELETE_ROLE, "roleName", "editor", {"roleId": "editor"}),
    Change("userRole", "create", routes.ADD_USER_ROLES, "roleName", "editor",
           body={"userId": BOB, "roleName": ["editor"]}),
    Change("userRole", "create", routes.CREATE_COGNITO_USER, "userId", BOB,
           body={"userId": BOB, "email": BOB}),
    Change("userRole", "rename from", routes.SET_USER_ROLES, "roleName", "editor",
           body={"userId": ANN, "roleName": ["reader"]}),
    Change("userRole", "rename to", routes.SET_USER_ROLES, "roleName", "reader",
           body={"userId": ANN, "roleName": ["reader"]}),
    Change("userRole", "delete", routes.DELETE_USER_ROLES, "roleName", "editor",
           body={"userId": ANN}),
    Change("userRole", "delete", routes.DELETE_COGNITO_USER, "userId", ANN, {"userId": ANN}),
    Change("metadataSchema", "create", routes.CREATE_METADATA_SCHEMA, "metadataSchemaName", "New",
           body={**NEW_SCHEMA, "schemaName": "New", "fields": SCHEMA_FIELDS}),
    Change("metadataSchema", "rename from", routes.UPDATE_METADATA_SCHEMA, "metadataSchemaName",
           "Of museum", body={"metadataSchemaId": "own", "schemaName": "New"}),
    Change("metadataSchema", "rename to", routes.UPDATE_METADATA_SCHEMA, "metadataSchemaName",
           "New", body={"metadataSchemaId": "own", "schemaName": "New"}),
    Change("metadataSchema", "delete", routes.DELETE_METADATA_SCHEMA, "metadataSchemaName",
           "Of museum", {"databaseId": "museum", "metadataSchemaId": "own"},
           {"confirmDelete": True}),
    Change("pipeline", "create", routes.PUT_PIPELINE, "pipelineId", "other",
           body=pipeline_body("other")),
    Change("pipeline", "rename from", routes.PUT_PIPELINE, "pipelineType", "standardFile",
           body=pipeline_body("convert-museum", pipelineType="previewFile")),
    Change("pipeline", "rename to", routes.PUT_PIPELINE, "pipelineType", "previewFile",
           body=pipeline_body("convert-museum", pipelineType="previewFile")),
    Change("pipeline", "delete", routes.DELETE_PIPELINE, "pipelineId", "convert-museum",
           {"databaseId": "museum", "pipelineId": "convert-museum"}),
    Change("workflow", "create", routes.PUT_WORKFLOW, "workflowId", "other",
           body={**publishing("museum"), "workflowId": "other"}),
    Change("workflow", "delete", routes.DELETE_WORKFLOW, "workflowId", "publish-museum",
           {"databaseId": "museum", "workflowId": "publish-museum"}),
)  # fmt: skip
WITHOUT_NAMES = {
    "api": "routes are declared in the code",
    "web": "pages are a client's own",
    "bucket": "registering it makes its id, which is random",
}
NEVER_RENAMED = {"database", "databasePurge", "tagType", "role", "workflow"}
"""Their names are their keys: a change names its object, and cannot give it another name."""


def question_of(ground: GeneratedWorld, change: Change) -> Question:
    """The request, with the id of the schema that it means."""

    own = {"metadataSchemaId": ground.schemas["own"]}
    path = {name: own.get(name, value) for name, value in change.path.items()}
    body = None if change.body is None else {**change.body}
    if body is not None and "metadataSchemaId" in body:
        body |= own
    return Question(path, change.query, body)


def test_every_object_type_is_created_renamed_and_deleted_or_has_a_reason() -> None:
    changes = {(change.object_type, change.verb.split()[0]) for change in CHANGES}
    assert {kind for kind, _ in changes} | WITHOUT_NAMES.keys() == set(OBJECT_TYPES)
    renamed = {kind for kind, verb in changes if verb == "rename"}
    assert renamed == set(OBJECT_TYPES) - WITHOUT_NAMES.keys() - NEVER_RENAMED
    assert set(FIELDS_OF) == set(OBJECT_TYPES)  # so that policies are drawn on all of them


def test_who_may_do_everything_makes_each_change(ground: GeneratedWorld) -> None:
    with ground.under(open_case()) as facts:
        requests = [(change, question_of(ground, change)) for change in CHANGES]
        assert {ground.send_for(facts, change.route, sent).status for change, sent in requests} == {
            200
        }


@pytest.mark.parametrize(
    "change", CHANGES, ids=lambda one: f"{one.object_type}-{one.verb}-{one.route.name}"
)
def test_what_a_rule_names_is_not_created_renamed_or_deleted(
    ground: GeneratedWorld, change: Change
) -> None:
    named = {"field": change.field, "operator": "equals", "value": change.value}
    denied = ("DELETE", "POST", "PUT")  # it can be seen
    rule = constraint(
        change.object_type, [named], [], *((PLAIN_ROLE, action, "deny") for action in denied)
    )
    case = open_case()
    with ground.under(replace(case, constraints=(*case.constraints, rule))) as facts:
        answer = ground.send_for(facts, change.route, question_of(ground, change))
        assert (answer.status, answer.body.get("code")) == (403, "PermissionDenied")
        assert not ground.changed
