"""Our parsing of items and times has the same results as botocore's and boto3's."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import boto3
import pytest
from boto3.dynamodb.types import Binary, TypeDeserializer
from botocore.exceptions import ClientError

from backend.aws.clients import dynamodb, s3
from backend.aws.items import from_wire
from backend.aws.tables import DynamoTables
from backend.spec.tables.registry import FEATURES

WIRE: dict[str, Any] = {
    "text": {"S": "a"},
    "whole": {"N": "42"},
    "negative": {"N": "-7"},
    "huge": {"N": "1E+30"},
    "broken": {"N": "0.25"},
    "yes": {"BOOL": True},
    "nothing": {"NULL": True},
    "list": {"L": [{"N": "1"}, {"M": {"b": {"S": "c"}}}]},
    "texts": {"SS": ["x", "y"]},
    "numbers": {"NS": ["1", "2.5"]},
    "bytes": {"B": b"\x00\xff"},
}


@pytest.fixture
def tables(dynamo_tables: DynamoTables) -> DynamoTables:
    """Tables that boto3 reads for comparison."""
    return dynamo_tables


def plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else value
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, list):
        return [plain(v) for v in value]  # pyright: ignore[reportUnknownVariableType]
    return value


@pytest.mark.parametrize("name", WIRE)
def test_a_value_is_read_as_boto3_reads_it(name: str) -> None:
    found = from_wire({name: WIRE[name]})[name]
    expected = plain(TypeDeserializer().deserialize(WIRE[name]))
    assert (found, type(found)) == (expected, type(expected))


def test_binary_values_are_read_from_base64_too() -> None:
    assert from_wire({"b": {"B": "AP8="}}) == {"b": Binary(b"\x00\xff")}


def test_items_come_as_they_were_put(tables: DynamoTables) -> None:
    item = {**WIRE, FEATURES.key_names[0]: {"S": "f"}}
    client, name = dynamodb(), tables.settings.table(FEATURES)
    client.put_item(TableName=name, Item=item)
    plain_client = boto3.client("dynamodb")
    key = {FEATURES.key_names[0]: {"S": "f"}}
    (batch,) = client.batch_get_item(RequestItems={name: {"Keys": [key]}})["Responses"][name]
    (scanned,) = client.scan(TableName=name)["Items"]
    found = client.get_item(TableName=name, Key=key)
    expected = from_wire(plain_client.get_item(TableName=name, Key=key).get("Item", {}))
    assert from_wire(found.get("Item", {})) == expected
    assert from_wire(batch) == from_wire(scanned) == expected
    assert found["ResponseMetadata"]["HTTPStatusCode"] == 200


def test_what_dynamodb_refuses_is_still_an_error(tables: DynamoTables) -> None:
    with pytest.raises(ClientError) as caught:
        dynamodb().scan(TableName="no-such-table")
    assert caught.value.response.get("Error", {}).get("Code") == "ResourceNotFoundException"


def test_times_of_objects_are_what_botocore_reads() -> None:
    fast, slow = s3(), boto3.client("s3")
    fast.create_bucket(Bucket="times")
    fast.put_object(Bucket="times", Key="a", Body=b"a")
    listed = [c.list_objects_v2(Bucket="times").get("Contents", [])[0] for c in (fast, slow)]
    headed = [c.head_object(Bucket="times", Key="a")["LastModified"] for c in (fast, slow)]
    assert listed[0].get("LastModified") == listed[1].get("LastModified")
    assert headed[0] == headed[1]
    assert headed[0].tzinfo is not None
    assert headed[0] < datetime(9999, 1, 1, tzinfo=UTC)


def test_a_listing_of_versions_is_what_botocore_reads() -> None:
    fast, slow = s3(), boto3.client("s3")
    fast.create_bucket(Bucket="versions")
    fast.put_bucket_versioning(Bucket="versions", VersioningConfiguration={"Status": "Enabled"})
    for key in ("a b/ä&<1>.glb", "a b/ä&<1>.glb", "a+b", "empty/%2F"):
        fast.put_object(Bucket="versions", Key=key, Body=key.encode())
    fast.delete_object(Bucket="versions", Key="a+b")
    for limit in (2, 3, 1000):
        read, expected = (
            c.list_object_versions(Bucket="versions", MaxKeys=limit) for c in (fast, slow)
        )
        for name in ("Versions", "DeleteMarkers"):
            assert without_owner(read, name) == without_owner(expected, name)
        for name in ("IsTruncated", "NextKeyMarker", "NextVersionIdMarker", "EncodingType"):
            assert read.get(name) == expected.get(name)


def without_owner(reply: Any, name: str) -> list[dict[str, Any]]:
    left_out = {"Owner", "Position", "ChecksumAlgorithm", "ChecksumType", "RestoreStatus"}
    return [
        {key: value for key, value in entry.items() if key not in left_out}
        for entry in reply.get(name, [])
    ]


def test_a_listing_that_s3_refuses_is_still_an_error() -> None:
    with pytest.raises(ClientError) as caught:
        s3().list_object_versions(Bucket="no-such-bucket")
    assert caught.value.response.get("Error", {}).get("Code") == "NoSuchBucket"
