"""The table of MLflow's tracking store is what the store's package declares."""

from collections.abc import Callable
from typing import Any

from vitrine_mlflow.archive import TIME_TO_LIVE
from vitrine_mlflow.table import EXPIRES_AT, create_request

from infra.constructs.tracking_archive import NAME
from local.assembly import read_assembly
from local.deployment import refuse_unknown_types
from local.pumps.patterns import any_of
from tests.infra.templates import Assembly


def _indexes(properties: dict[str, Any], kind: str) -> dict[str, Any]:
    return {index["IndexName"]: index for index in properties[kind]}


def test_the_table_is_exactly_the_declared_one(synthesized: Callable[[str], Assembly]) -> None:
    properties = synthesized("locked").resource("TrackingTable").properties
    expected = create_request("")
    assert properties["KeySchema"] == expected["KeySchema"]
    for kind in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        assert _indexes(properties, kind) == _indexes(expected, kind)
    assert properties["TimeToLiveSpecification"]["AttributeName"] == EXPIRES_AT


def test_the_table_is_protected_and_encrypted_by_the_key(
    synthesized: Callable[[str], Assembly],
) -> None:
    table = synthesized("locked").resource("TrackingTable")
    assert table.body["DeletionPolicy"] == "RetainExceptOnCreate"
    assert table.properties["DeletionProtectionEnabled"] is True
    assert table.properties["PointInTimeRecoverySpecification"] == {
        "PointInTimeRecoveryEnabled": True
    }
    assert table.properties["SSESpecification"]["SSEType"] == "KMS"


def test_there_is_no_table_unless_the_setting_enables_it(
    synthesized: Callable[[str], Assembly],
) -> None:
    assert "tracking" not in synthesized("prod").templates


def test_the_local_runtime_creates_what_the_stack_declares(
    synthesized: Callable[[str], Assembly],
) -> None:
    refuse_unknown_types(read_assembly(synthesized("locked").folder))


def test_the_archiver_may_only_do_what_it_does(synthesized: Callable[[str], Assembly]) -> None:
    assembly = synthesized("locked")
    role = assembly.resource(f"{NAME}Role").properties
    (policy,) = role["Policies"]
    listed = [statement["Action"] for statement in policy["PolicyDocument"]["Statement"]]
    granted = {action for one in listed for action in ([one] if isinstance(one, str) else one)}
    assert {one for one in granted if not one.startswith(("kms:", "logs:"))} == {
        "dynamodb:BatchWriteItem",
        "dynamodb:DeleteItem",
        "dynamodb:Query",
        "dynamodb:DescribeStream",
        "dynamodb:GetRecords",
        "dynamodb:GetShardIterator",
        "dynamodb:ListStreams",
        "s3:PutObject",
        "s3:ListBucket",
    }


def test_the_archiver_gets_only_what_the_time_to_live_deletes(
    synthesized: Callable[[str], Assembly],
) -> None:
    assembly = synthesized("locked")
    mapping = assembly.resource(f"TrackingTableTo{NAME}").properties
    (pattern,) = mapping["FilterCriteria"]["Filters"]
    matches = any_of([pattern["Pattern"]])
    expired: dict[str, Any] = {"eventName": "REMOVE", "userIdentity": TIME_TO_LIVE}
    assert matches(expired)
    assert not matches({"eventName": "REMOVE"})
    assert not matches({**expired, "eventName": "MODIFY"})
    stream = assembly.resource("TrackingTable").properties["StreamSpecification"]
    assert stream == {"StreamViewType": "OLD_IMAGE"}
