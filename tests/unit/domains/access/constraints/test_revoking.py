"""A permission that one process revokes has no effect in another one after five seconds."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from backend.core.authorization import Secured
from backend.core.identity import Identity
from backend.domains.access.repository.policies import PolicyRepository
from backend.domains.access.service.decisions import PolicyAuthorization
from backend.spec import routes
from tests.factories.access import stored_user_role
from tests.factories.constraints import constraint, criterion, groups
from tests.factories.http import Response
from tests.fakes.tables import MemoryTables
from tests.unit.domains.access.constraints.conftest import Constraints

ANN = Identity("ann")
SHIP = Secured("asset", {"databaseId": "museum", "assetName": "Ship", "assetType": "", "tags": ()})
LIST = routes.LIST_ALL_ASSETS
CONTRACT = timedelta(seconds=5)

Revoking = Callable[[Constraints], Response]


def _of_roles(method: str, body: object) -> Revoking:
    return lambda api: api.send(method, "/roles", body=body)


def _of_users(method: str, body: object) -> Revoking:
    return lambda api: api.send(method, "/user-roles", body=body)


def _denied(api: Constraints) -> Response:
    denial = constraint(
        criteriaAnd=[criterion("assetName", "starts_with", "Sh")],
        groupPermissions=groups("viewer", type_="deny"),
    )
    return api.put("denial", denial)


@pytest.fixture
def elsewhere(memory: MemoryTables) -> Callable[[datetime], tuple[bool, bool]]:
    """Whether another process, which lives on, lets Ann see the ship, alone and in searches."""
    at: list[datetime] = []
    process = PolicyAuthorization(PolicyRepository(memory), lambda: at[-1])

    def sees(now: datetime) -> tuple[bool, bool]:
        at.append(now)
        return process.may(ANN, "GET", SHIP), process.search_filter(ANN) is not None

    return sees


_MFA = {"roleName": "viewer", "description": "Looks around", "mfaRequired": True}
REVOKING: dict[str, Revoking] = {
    "a constraint deleted": lambda api: api.delete("see"),
    "a constraint changed": lambda api: api.put(
        "see", constraint(criteriaAnd=[criterion(value="zoo")])
    ),
    "a constraint given to others": lambda api: api.put(
        "see", constraint(groupPermissions=groups("editor"))
    ),
    "a denial put": _denied,
    "the role taken away": _of_users("DELETE", {"userId": "ann"}),
    "the role changed for another": _of_users("PUT", {"userId": "ann", "roleName": ["editor"]}),
    "the role deleted": lambda api: api.delete_role("viewer"),
    "a second factor demanded": _of_roles("PUT", _MFA),
}


@pytest.mark.parametrize("name", REVOKING)
def test_a_right_ends_elsewhere_within_five_seconds_while_indexes_lag(
    api: Constraints,
    memory: MemoryTables,
    now: datetime,
    elsewhere: Callable[[datetime], tuple[bool, bool]],
    name: str,
) -> None:
    memory.lagging = True
    stored_user_role(memory, user_id="ann", role_name="viewer")
    assert api.put("see", constraint()).status == 200
    memory.catch_up(until=0)
    assert elsewhere(now) == (True, True)
    assert REVOKING[name](api).status == 200
    assert elsewhere(now + CONTRACT)[0] is False
