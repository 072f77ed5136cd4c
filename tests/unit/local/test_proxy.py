"""How the recording proxy names and weighs requests."""

import json

import pytest

from local.proxy import Proxies, caller_of, consumed, operation_of


@pytest.mark.parametrize(
    ("engine", "method", "target", "operation"),
    [
        ("dynamodb", "POST", "/", "GetItem"),
        ("s3", "GET", "/bucket?versions&prefix=a", "GET bucket?versions"),
        ("s3", "PUT", "/bucket/a/b?partNumber=1&uploadId=x", "PUT object?uploadId?partNumber"),
        ("s3", "HEAD", "/bucket/key", "HEAD object"),
        ("opensearch", "POST", "/files-1,assets-1/_bulk?x=1", "POST _bulk"),
        ("opensearch", "PUT", "/files-1", "PUT index"),
    ],
)
def test_requests_are_named(engine: str, method: str, target: str, operation: str) -> None:
    headers = {"x-amz-target": "DynamoDB_20120810.GetItem"}

    assert operation_of(engine, method, target, headers) == operation


def test_capacity_is_summed_over_tables() -> None:
    one = {"ConsumedCapacity": {"TableName": "t", "CapacityUnits": 0.5}}
    many = {"ConsumedCapacity": [{"CapacityUnits": 2.0}, {"CapacityUnits": 1.0}]}

    assert consumed(json.dumps(one).encode()) == 0.5
    assert consumed(json.dumps(many).encode()) == 3.0
    assert consumed(b"{}") == 0
    assert consumed(b"not json") == 0


def test_a_malformed_fault_is_refused() -> None:
    with pytest.raises(ValueError, match="engine"):
        Proxies().inject([{"engine": "kafka"}])


def test_the_function_is_the_application_of_the_sdk() -> None:
    found = "Boto3/1.44.5 md/Botocore#1.44.5 ua/2.1 exec-env/x app/dev-IndexChanges Botocore/1.44"

    assert caller_of({"user-agent": found}) == "dev-IndexChanges"
    assert caller_of({"user-agent": "opensearch-py/2.8.0"}) == ""
    assert caller_of({}) == ""
