"""Stores on tables of DynamoDB Local."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from backend.core.ids import new_uuid
from tests.integration.tracking.stores import TrackingTables

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
