"""Every route, called under thousands of drawn policies, replies as the rules require.

The cases of `tests/routes` state the rights that a route needs and what its reply shows; `meaning`
there evaluates the rules without the product. Each policy is tried on every other declared route,
with an object in one of the states that the route can name. POLICIES sets how many (`make prove
PART=attacks`).
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings

from backend.spec import routes
from backend.spec.routes import ROUTES, Route
from tests.amounts import amount
from tests.factories.http import Response
from tests.routes import CASE_OF, question
from tests.routes.facts import Facts, token_of
from tests.routes.model import BAD, DONE, Attempt, rows_of
from tests.routes.needs import expected
from tests.unit.domains.access.matrix.states import STATES, State
from tests.unit.large.generated.drawing import (
    ASSETS,
    FIELDS_OF,
    PLAIN_ROLE,
    AssetTraits,
    Case,
    cases,
    everything,
)
from tests.unit.large.generated.ground import GeneratedWorld

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


@pytest.fixture(scope="module")
def ground() -> GeneratedWorld:
    return GeneratedWorld()


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
            found = [
                each
                for route in ROUTES[case.turn % 2 :: 2]
                for each in differences(ground, facts, route, turns(route, case.turn))
            ]
            paged = PAGED[case.turn :: STATES_AT_MOST]
            found += [each for route in paged for each in pages(ground, facts, route)]
        assert found == []

    holds()


def open_case(*closed: str) -> Case:
    """A rule on all objects of each type but the closed ones."""
    return Case(
        constraints=tuple(everything(name) for name in FIELDS_OF if name not in closed),
        roles=(PLAIN_ROLE,),
        has_mfa=False,
        traits=(AssetTraits("statue", ".glb", ("secret", "red")),) * ASSETS,
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
        assert [each for one in ALL for each in differences(ground, facts, *one)] == []
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
        found = [
            each
            for route, state in ALL
            if route.object_type == object_type
            for each in differences(ground, facts, route, state)
        ]
    assert found == []


def test_a_rule_that_the_product_lost_is_noticed(ground: GeneratedWorld) -> None:
    """The comparison can fail: here the product lacks one rule that denies."""
    with ground.under(open_case()) as facts:
        (rule,) = (each for each in facts.rules if each["objectType"] == "asset")
        denied = [{**each, "permissionType": "deny"} for each in rule["groupPermissions"]]
        lost = {**rule, "groupPermissions": denied}
        more = facts._replace(rules=(*facts.rules, lost))
        found = {route.key for route, state in ALL for _ in differences(ground, more, route, state)}
    of_assets = {route.key for route in ROUTES if route.object_type == "asset"}
    assert found >= of_assets | {route.key for route in (routes.SEARCH, routes.SEARCH_SIMPLE)}
