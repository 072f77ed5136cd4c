"""Stores on tables of DynamoDB Local."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from vitrine_mlflow.context import Context
from vitrine_mlflow.database import Database
from vitrine_mlflow.store import DynamoTrackingStore

from backend.core.ids import new_uuid
from tests.integration.tracking.stores import ARTIFACTS, TrackingTables

if TYPE_CHECKING:
    from tests.engines import RealEngines


@pytest.fixture(scope="session", autouse=True)
def _telemetry_off() -> None:
    os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"


@pytest.fixture(scope="session")
def tracking_tables(engines: "RealEngines") -> "TrackingTables":
    return TrackingTables(engines.dynamodb)


@pytest.fixture
def new_table(tracking_tables: "TrackingTables") -> Callable[[], str]:
    """Creates an empty table; returns its name."""
    return lambda: tracking_tables.create(f"mlflow-{new_uuid()[:8]}")


@pytest.fixture
def table(tracking_tables: "TrackingTables", new_table: Callable[[], str]) -> Database:
    """An empty table."""
    return tracking_tables.database(new_table())


@pytest.fixture
def store(table: Database) -> DynamoTrackingStore:
    return DynamoTrackingStore.of_context(Context(table, ARTIFACTS))
