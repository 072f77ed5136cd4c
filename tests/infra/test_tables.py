"""The deployed tables are those on which all other tests run."""

from typing import Any

import pytest
from vitrine_mlflow.archive import TIME_TO_LIVE
from vitrine_mlflow.table import EXPIRES_AT, create_request

from backend.spec.tables import TABLES, Table
from local.pumps.patterns import any_of
from tests.factories.tables import create_table_request
from tests.infra.templates import Assembly

INDEXES = ("GlobalSecondaryIndexes", "LocalSecondaryIndexes")


def _comparable(request: dict[str, Any]) -> dict[str, Any]:
    """A table's properties, with lists in one order if their order has no meaning."""
    orders = {"AttributeDefinitions": "AttributeName", **dict.fromkeys(INDEXES, "IndexName")}
    return {
        name: sorted(value, key=lambda entry: entry[orders[name]]) if name in orders else value
        for name, value in request.items()
    }


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_a_table_has_the_declared_keys_indexes_stream_and_protection(
    small: Assembly, table: Table
) -> None:
    expected = create_table_request(table, "")
    del expected["TableName"]  # CloudFormation chooses it
    if table.stream:
        expected["StreamSpecification"] = {"StreamViewType": table.stream}
    if table.ttl:
        expected["TimeToLiveSpecification"] = {"AttributeName": table.ttl, "Enabled": True}
    expected["DeletionProtectionEnabled"] = True
    expected["PointInTimeRecoverySpecification"] = {"PointInTimeRecoveryEnabled": True}
    assert _comparable(small.resource(table.name).properties) == _comparable(expected)


def test_the_table_of_tracking_is_the_one_that_its_package_declares(locked: Assembly) -> None:
    properties = _comparable(locked.resource("TrackingTable").properties)
    expected = _comparable(create_request(""))
    for name in ("KeySchema", *INDEXES):
        assert properties[name] == expected[name]
    assert properties["TimeToLiveSpecification"]["AttributeName"] == EXPIRES_AT


def test_the_archiver_gets_only_what_the_time_to_live_deletes(locked: Assembly) -> None:
    mapping = locked.resource("TrackingTableToTrackingArchiver").properties
    (pattern,) = mapping["FilterCriteria"]["Filters"]
    matches = any_of([pattern["Pattern"]])
    expired: dict[str, Any] = {"eventName": "REMOVE", "userIdentity": TIME_TO_LIVE}
    assert matches(expired)
    assert not matches({"eventName": "REMOVE"})
    assert not matches({**expired, "eventName": "MODIFY"})
