"""The engines for the contract suite of tables: the fake, moto and DynamoDB Local."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from backend.aws.settings import Settings
from backend.aws.tables import DynamoTables
from backend.core.ids import new_uuid
from backend.core.tables import Tables
from backend.spec.tables.assets import ASSETS
from backend.spec.tables.metadata import ASSET_FILE_METADATA
from backend.spec.tables.operations import JOBS, RESERVATIONS
from backend.spec.tables.registry import TAGS
from tests.engines import RealEngines
from tests.factories.tables import create_table_request
from tests.fakes.tables import MemoryTables

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ENGINES = ("memory", "moto", "DynamoDB Local")
USED = (ASSETS, ASSET_FILE_METADATA, JOBS, RESERVATIONS, TAGS)


@dataclass(frozen=True)
class Engine:
    name: str
    tables: Tables


@pytest.fixture(scope="session", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Engine:
    """The tables of an engine, for the whole session; each test uses partitions of its own."""
    name: str = request.param
    if name == "memory":
        return Engine(name, MemoryTables())
    if name == "moto":
        url = request.getfixturevalue("moto_url")
        return Engine(name, dynamo_tables(RealEngines({"dynamodb": url}).dynamodb))
    engines: RealEngines = request.getfixturevalue("engines")
    return Engine(name, dynamo_tables(engines.dynamodb))


def dynamo_tables(client: "DynamoDBClient") -> DynamoTables:
    """Tables with names of their own, at the engine of a client."""
    run = new_uuid()[:8]
    for table in USED:
        client.create_table(**create_table_request(table, f"{run}-{table.name}"))
    return DynamoTables(
        client, Settings({f"TABLE_{table.name}": f"{run}-{table.name}" for table in USED})
    )


@pytest.fixture
def tables(engine: Engine) -> Tables:
    return engine.tables


@pytest.fixture
def own() -> str:
    """A partition that no other test uses."""
    return f"db-{new_uuid()[:8]}"
