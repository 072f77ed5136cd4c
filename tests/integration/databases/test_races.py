"""Writers of one database, or of constraints of one role, at once: one wins, none is lost."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from threading import Barrier

import pytest

from backend.aws.objects import S3Objects
from backend.aws.tables import DynamoTables
from backend.core.errors import NotFoundError, VitrineError
from backend.core.paging import PageRequest
from backend.domains.access.models.constraints import ConstraintBody
from backend.domains.assets.service.commands import AssetService
from backend.domains.database_purges.repository import PurgeRepository
from backend.domains.database_purges.service.commands import PurgeCommands
from backend.domains.databases.errors import (
    DatabaseActiveError,
    DatabaseNotEmptyError,
    DatabaseNotFoundError,
    DatabasePurgingError,
)
from tests.engines import RealEngines
from tests.factories.administration import AccessServices, Parts, stored_role
from tests.factories.assets import ADMIN, asset_service, created_asset, created_database
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
from tests.factories.jobs import job_service
from tests.fakes.objects import MemoryObjects
from tests.integration.tables import TableSet

_ROUNDS = 12


@pytest.fixture
def service(engines: RealEngines, table_set: TableSet, asset_bucket: None) -> AssetService:
    return asset_service(table_set.tables, S3Objects(engines.s3))


def test_of_a_deletion_and_a_creation_in_the_same_database_one_wins(
    service: AssetService,
) -> None:
    for number in range(_ROUNDS):
        database_id = created_database(service, f"wing-{number}")
        created, deleted = at_once(
            partial(created_asset, service, f"statue-{number}", database_id=database_id),
            partial(service.databases.delete_database, ADMIN, database_id),
        )
        loser = DatabaseNotFoundError if isinstance(created, VitrineError) else None
        assert type(created if loser else deleted) is (loser or DatabaseNotEmptyError)
        assert (service.databases.find_database(database_id) is None) == (loser is not None)
        rows = service.assets.list_in_partition(database_id, PageRequest(10)).items
        assert len(rows) == (loser is None)


def test_assets_that_are_made_at_once_are_all_counted(service: AssetService) -> None:
    database_id = created_database(service)
    names = [f"statue-{number}" for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(partial(created_asset, service), names))
    assert service.databases.describe_database(ADMIN, database_id).asset_count == len(names)


def test_of_two_deletions_one_finds_nothing(service: AssetService) -> None:
    for number in range(_ROUNDS):
        database_id = created_database(service, f"hall-{number}")
        delete = partial(service.databases.delete_database, ADMIN, database_id)
        ends = at_once(delete, delete)
        assert [type(end) for end in ends if end is not None] == [DatabaseNotFoundError]


def test_of_a_creation_and_a_purge_at_once_one_wins(service: AssetService) -> None:
    purges = purges_over(service)
    for number in range(_ROUNDS):
        database_id = created_database(service, f"attic-{number}")
        service.databases.delete_database(ADMIN, database_id)
        created, purged = at_once(
            partial(created_database, service, database_id),
            partial(purges.purge_database, ADMIN, database_id),
        )
        loser = DatabasePurgingError if isinstance(created, VitrineError) else DatabaseActiveError
        assert type(created if loser is DatabasePurgingError else purged) is loser
        active = service.databases.find_database(database_id) is not None
        held = service.databases.databases.get_deleted(database_id)
        assert held is not None
        assert (active, held.purge_job_id is None) == ((loser is DatabaseActiveError,) * 2)


def test_of_two_purges_at_once_one_starts(service: AssetService) -> None:
    purges = purges_over(service)
    for number in range(_ROUNDS):
        database_id = created_database(service, f"loft-{number}")
        service.databases.delete_database(ADMIN, database_id)
        purge = partial(purges.purge_database, ADMIN, database_id)
        ends = at_once(purge, purge)
        assert [type(end) for end in ends if isinstance(end, VitrineError)] == [
            DatabasePurgingError
        ]


def purges_over(service: AssetService) -> PurgeCommands:
    """The service that starts purges, over the same tables."""
    tables, databases = service.assets.tables, service.databases
    jobs = job_service(tables, service.clock)
    return PurgeCommands(PurgeRepository(tables), databases, jobs, databases.audit)


def at_once(*calls: Callable[[], object]) -> list[object]:
    """The results or errors of calls that start at the same moment."""
    start = Barrier(len(calls))

    def run(call: Callable[[], object]) -> object:
        start.wait()
        try:
            return call()
        except VitrineError as error:
            return error

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


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

    run_at_once([partial(write, number) for number in range(WRITERS)])
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

    run_at_once([partial(write, number) for number in range(WRITERS)])
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
    run_at_once([*ends, lambda: services.roles.delete_role(ADMIN, "viewer")])
    assert "role#viewer" not in policies(tables)
    assert policies(tables) == policies_by_rows(tables)


def run_at_once(calls: list[Callable[[], object]]) -> None:
    """Run the calls concurrently; raise the first error of any."""
    with ThreadPoolExecutor(len(calls)) as pool:
        for call in [pool.submit(item) for item in calls]:
            call.result()
