"""Every route that reads requires its declared permission, and its reply depends on it."""

from typing import cast

import pytest

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
READS = [
    case
    for case in CASES
    if case.route.method == "GET"
    and case.route.domain not in BESIDE
    and not (case.route.public or case.route.open_to_users)
]
_by_case = pytest.mark.parametrize("case", READS, ids=lambda case: case.route.key)


@_by_case
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
    return [item for each in inner for item in _items(each)]


@_by_case
def test_a_read_requires_the_permission_of_its_route(both_of: BothOf, case: Case) -> None:
    done, route = both_of(case).done, case.route
    if done.answer.status == 200 and done.required:
        assert route.object_type in {"none", *(each.object_type for _, each in done.required)}
        assert route.action in {action for action, _ in done.required}
    else:  # what is not there, or an empty list, has nothing to ask about
        assert done.answer.status == 404 or not _items(done.answer.body)
