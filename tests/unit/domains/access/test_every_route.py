"""Every route requires its declared permission, and its reply or effect depends on it.

The matrix (`tests/unit/domains/access/matrix`) also tests routes without an audit entry of their
own.
"""

from typing import cast

import pytest

from backend.domains.access.policy.model import FIELDS_OF
from backend.spec import routes
from tests.routes import CASES
from tests.routes.model import Case
from tests.unit.domains.access.matrix.world import BothOf

SHOWING = ("statue", "painting", "marble", "scans", "colour", "red", "editor", "convert-museum")
"""Names of the world, of which a reply may hold those of its request."""
BESIDE = {"search", "operations", "queues", "search_indexes", "configuration"}
"""Without objects of a domain; the matrix (`tests/unit/domains/access/matrix`) asks these too."""
FOR_EVERYONE = {routes.LIST_BUCKETS: 1, routes.LIST_API_KEYS: 1}
"""Items that every user sees: the bucket, and a key of its own."""
OWN_KEYS = {routes.LIST_OWN_API_KEYS, routes.CREATE_OWN_API_KEY}
"""They require the permission to call the route; the keys are those of the caller."""
READS = [
    case
    for case in CASES
    if case.route.method == "GET"
    and case.route.domain not in BESIDE
    and not (case.route.public or case.route.open_to_users)
    and case.route not in {*OWN_KEYS, routes.LIST_API_ROUTES}
]
_by_read = pytest.mark.parametrize("case", READS, ids=lambda case: case.route.key)


@_by_read
def test_who_has_no_right_receives_nothing(both_of: BothOf, case: Case) -> None:
    question, refused, _ = both_of(case)
    request = str(question)
    assert refused.answer.status in {200, 400, 403, 404}
    text = str(refused.answer.body)
    assert not [word for word in SHOWING if word in text and word not in request]
    if refused.answer.status == 200:
        items = _items(refused.answer.body)
        assert len(items) == FOR_EVERYONE.get(case.route, 0), items


def _items(body: object) -> list[object]:
    """All that stands in lists of a reply."""
    if isinstance(body, list):
        return cast("list[object]", body)
    inner = cast("dict[str, object]", body).values() if isinstance(body, dict) else ()
    return [item for element in inner for item in _items(element)]


@_by_read
def test_a_read_requires_the_permission_of_its_route(both_of: BothOf, case: Case) -> None:
    done, route = both_of(case).done, case.route
    if done.answer.status == 200 and done.required:
        assert route.object_type in {"none", *(item.object_type for _, item in done.required)}
        assert route.action in {action for action, _ in done.required}
    else:  # what is not there, or an empty list, has nothing to ask about
        assert done.answer.status == 404 or not _items(done.answer.body)


WRITES = [case for case in CASES if case.audit]
WITH_AN_OBJECT = [case for case in WRITES if case.route.object_type != "none"]
OF_THEIR_MAKER = {routes.COMPLETE_UPLOAD, routes.ABORT_UPLOAD}
"""Only the user who started an upload can see it."""
NOT_THERE = {"roleName"}
"""Who signs in is an object of the type userRole without a role."""
_by_write = pytest.mark.parametrize("case", WITH_AN_OBJECT, ids=lambda case: case.route.key)


@_by_write
def test_a_write_requires_the_permission_of_its_route(both_of: BothOf, case: Case) -> None:
    required = {(action, item.object_type) for action, item in both_of(case).done.required}
    assert (case.route.action, case.route.object_type) in required


@_by_write
def test_a_write_that_permissions_refuse_writes_nothing(both_of: BothOf, case: Case) -> None:
    refused = both_of(case).refused
    if case.route in OWN_KEYS:
        return
    assert refused.required or case.route in OF_THEIR_MAKER
    assert refused.answer.status in {403, 404}
    assert refused.writes == 0


def test_a_checked_object_has_all_fields_that_rules_may_name(
    both_of: BothOf,
) -> None:
    lacking = {
        (case.route.key, target.object_type, name)
        for case in WRITES
        for outcome in (both_of(case).refused, both_of(case).done)
        for _, target in outcome.required
        if target.object_type in FIELDS_OF
        for name in FIELDS_OF[target.object_type]
        if name not in target.fields and not ("/cognito" in case.route.path and name in NOT_THERE)
    }
    assert lacking == set()
