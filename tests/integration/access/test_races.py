"""Constraints of the same role are changed concurrently, on the real engine: none is lost."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial

import pytest

from backend.aws.tables import DynamoTables
from backend.core.errors import NotFoundError, VitrineError
from backend.core.identity import Identity
from backend.domains.access.models.constraints import ConstraintBody
from tests.factories.administration import AccessServices, Parts, stored_role
from tests.factories.audit import audit_service
from tests.factories.constraints import (
    constraint,
    criterion,
    epoch,
    groups,
    policies,
    policies_by_rows,
    users,
)
from tests.fakes.objects import MemoryObjects
from tests.integration.tables import TableSet

ADMIN = Identity("admin")
WRITERS, EDITS = 16, 2


@pytest.fixture
def tables(table_set: TableSet) -> DynamoTables:
    return table_set.tables


@pytest.fixture
def services(tables: DynamoTables) -> AccessServices:
    for name in ("viewer", "editor"):
        stored_role(tables, name)
    audit = audit_service(MemoryObjects())
    return Parts(tables, audit, datetime(2026, 3, 1, tzinfo=UTC)).services()


def body(writer: int, edit: int) -> ConstraintBody:
    roles = ("viewer", "editor") if (writer + edit) % 2 else ("viewer",)
    return ConstraintBody.model_validate(
        constraint(
            criteriaAnd=[criterion(value=f"museum-{writer}-{edit}")],
            groupPermissions=groups(*roles),
            userPermissions=users(f"user-{edit}"),
        )
    )


def test_of_sixteen_writers_for_the_same_role_none_loses_anything(
    services: AccessServices, tables: DynamoTables
) -> None:
    def write(writer: int) -> None:
        for edit in range(EDITS):
            services.constraints.update_constraint(ADMIN, f"see-{writer}", body(writer, edit))

    at_once([partial(write, number) for number in range(WRITERS)])
    assert policies(tables) == policies_by_rows(tables)
    assert len(policies(tables)["role#viewer"]) == WRITERS
    assert set(policies(tables)) == {"role#viewer", "role#editor", f"user#user-{EDITS - 1}"}
    assert epoch(tables) == WRITERS * EDITS


def test_writers_of_one_constraint_leave_what_one_of_them_wrote(
    services: AccessServices, tables: DynamoTables
) -> None:
    def write(writer: int) -> None:
        if writer % 5 == 0:
            try:
                services.constraints.delete_constraint(ADMIN, "see")
            except NotFoundError:
                return
        services.constraints.create_constraint(ADMIN, "see", body(writer, writer % 4))

    at_once([partial(write, number) for number in range(WRITERS)])
    assert policies(tables) == policies_by_rows(tables)


def test_a_role_that_is_deleted_while_it_is_given_rules_is_left_with_none(
    services: AccessServices, tables: DynamoTables
) -> None:
    def write(writer: int) -> None:
        try:
            services.constraints.update_constraint(ADMIN, f"see-{writer}", body(writer, 1))
        except VitrineError as error:
            assert "role viewer does not exist" in error.message  # noqa: PT017 - one of two ends

    ends = [partial(write, number) for number in range(0, WRITERS, 2)]
    at_once([*ends, lambda: services.roles.delete_role(ADMIN, "viewer")])
    assert "role#viewer" not in policies(tables)
    assert policies(tables) == policies_by_rows(tables)


def at_once(calls: list[Callable[[], object]]) -> None:
    """Run the calls concurrently; raise the first error of any."""
    with ThreadPoolExecutor(len(calls)) as pool:
        for call in [pool.submit(each) for each in calls]:
            call.result()
