"""A database is deleted while assets are created in it, on the real engine: one of both wins."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier

import pytest

from backend.aws.objects import S3Objects
from backend.core.errors import VitrineError
from backend.core.paging import PageRequest
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
from tests.factories.assets import ADMIN, asset_service, created_asset, created_database
from tests.factories.jobs import job_service
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
