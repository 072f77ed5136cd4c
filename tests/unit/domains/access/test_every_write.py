"""Every route that writes requires its declared permission, and its effect depends on it.

The matrix (`tests/unit/domains/access/matrix`) also tests routes without an audit entry of their
own.
"""

import pytest

from backend.domains.access.policy.model import FIELDS_OF
from backend.spec import routes
from tests.routes import CASES
from tests.routes.model import Case
from tests.unit.domains.access.matrix.world import BothOf

WRITES = [case for case in CASES if case.audit]
WITH_AN_OBJECT = [case for case in WRITES if case.route.object_type != "none"]
OF_THEIR_MAKER = {routes.COMPLETE_UPLOAD, routes.ABORT_UPLOAD}
"""Only the user who started an upload can see it."""
NOT_THERE = {"roleName"}
"""Who signs in is an object of the type userRole without a role."""
_by_case = pytest.mark.parametrize("case", WITH_AN_OBJECT, ids=lambda case: case.route.key)


@_by_case
def test_a_write_requires_the_permission_of_its_route(both_of: BothOf, case: Case) -> None:
    required = {(action, each.object_type) for action, each in both_of(case).done.required}
    assert (case.route.action, case.route.object_type) in required


@_by_case
def test_a_write_that_permissions_refuse_writes_nothing(both_of: BothOf, case: Case) -> None:
    refused = both_of(case).refused
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
