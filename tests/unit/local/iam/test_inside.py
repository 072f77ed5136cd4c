"""The guard in a function's process: the refusals that botocore and opensearch-py receive."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boto3
import botocore.session
import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError
from moto import mock_aws
from opensearchpy import AuthorizationException
from opensearchpy.connection import Urllib3HttpConnection

from local.iam.inside import Guard, watch_botocore, watch_opensearch

TABLE = "arn:aws:dynamodb:us-east-1:123456789012:table/T"
DOMAIN = "arn:aws:es:us-east-1:123456789012:domain/d"
WHY = "because no identity-based policy allows the dynamodb:PutItem action"
WHO = "arn:aws:sts::123456789012:assumed-role/role/function"


def _guard(*statements: Mapping[str, object], record: Path | None = None) -> Guard:
    return Guard(
        {
            "principal": WHO,
            "role": "role",
            "statements": list(statements),
            "keys": {},
            "domain": DOMAIN,
            "region": "us-east-1",
            "account": "123456789012",
            "record": str(record) if record else None,
        }
    )


def _allow(action: str, resource: str) -> dict[str, object]:
    return {"Effect": "Allow", "Action": action, "Resource": resource}


def _client(service: str, guard: Guard) -> BaseClient:
    """A client of a session that the guard checks, as in a function's process."""
    handlers = SimpleNamespace(BUILTIN_HANDLERS=list[Any]())
    watch_botocore(guard, handlers)
    session = botocore.session.get_session()
    for event, handler in handlers.BUILTIN_HANDLERS:
        session.register(event, handler)
    return session.create_client(
        service, "us-east-1", aws_access_key_id="key", aws_secret_access_key="secret"
    )


def _error(client: BaseClient, operation: str, **parameters: object) -> tuple[str, str, int]:
    with pytest.raises(ClientError) as caught:
        getattr(client, operation)(**parameters)
    answer: Any = caught.value.response
    error = answer["Error"]
    return error["Code"], error["Message"], answer["ResponseMetadata"]["HTTPStatusCode"]


@mock_aws
def test_a_call_without_a_grant_is_refused_as_dynamodb_refuses_it() -> None:
    client: Any = _client("dynamodb", _guard(_allow("dynamodb:GetItem", TABLE)))
    found = _error(client, "put_item", TableName="T", Item={"id": {"S": "1"}})
    assert found == (
        "AccessDeniedException",
        f"User: {WHO} is not authorized to perform: dynamodb:PutItem on resource: {TABLE} {WHY}",
        400,
    )
    with pytest.raises(client.exceptions.ResourceNotFoundException):  # it reaches the engine
        client.get_item(TableName="T", Key={"id": {"S": "1"}})


@mock_aws
def test_a_deny_is_reported_as_one() -> None:
    deny = {"Effect": "Deny", "Action": "dynamodb:*", "Resource": "*"}
    client = _client("dynamodb", _guard(_allow("*", "*"), deny))
    _, message, _ = _error(client, "get_item", TableName="T", Key={"id": {"S": "1"}})
    assert message.endswith("with an explicit deny in an identity-based policy")


@mock_aws
def test_a_head_is_refused_without_a_reason_as_s3_does() -> None:
    client = _client("s3", _guard())
    assert _error(client, "head_object", Bucket="b", Key="k") == ("403", "Forbidden", 403)
    code, message, status = _error(client, "get_object", Bucket="b", Key="k")
    assert (code, status) == ("AccessDenied", 403)
    assert "s3:GetObject on resource: arn:aws:s3:::b/k" in message


@mock_aws
def test_an_absent_object_is_forbidden_to_who_may_not_list_the_bucket() -> None:
    may_read = _allow("s3:GetObject", "arn:aws:s3:::bucket/*")
    boto3.client("s3", "us-east-1").create_bucket(Bucket="bucket")
    reader = _client("s3", _guard(may_read))
    assert _error(reader, "head_object", Bucket="bucket", Key="absent")[2] == 403
    lister = _client("s3", _guard(may_read, _allow("s3:ListBucket", "arn:aws:s3:::bucket")))
    assert _error(lister, "head_object", Bucket="bucket", Key="absent")[2] == 404


@mock_aws
def test_a_presigned_url_is_refused_when_it_is_made() -> None:
    client: Any = _client("s3", _guard(_allow("s3:GetObject", "arn:aws:s3:::b/open/*")))
    parameters = {"Bucket": "b", "Key": "open/k"}
    assert "Signature=" in client.generate_presigned_url("get_object", Params=parameters)
    for method, more in (("get_object", {"VersionId": "v"}), ("put_object", {})):
        with pytest.raises(ClientError, match="is not authorized to perform"):
            client.generate_presigned_url(method, Params={**parameters, **more})


@mock_aws
def test_what_is_used_is_noted_once(tmp_path: Path) -> None:
    record = tmp_path / "grants"
    client: Any = _client("s3", _guard(_allow("s3:*", "arn:aws:s3:::b"), record=record))
    for _ in range(2):
        with pytest.raises(client.exceptions.NoSuchBucket):
            client.list_objects_v2(Bucket="b")
    (line,) = record.read_text().splitlines()
    used = ["s3:*", "arn:aws:s3:::b"]
    assert json.loads(line) == {"role": "role", "asked": "s3:ListBucket", "used": used}


class _Connection(Urllib3HttpConnection):
    """A connection that reaches no server."""

    def perform_request(self, *_: Any, **__: Any) -> Any:
        return 200, {}, "{}"


def test_a_search_request_without_a_grant_is_forbidden() -> None:
    guard = _guard(_allow("es:ESHttpPost", f"{DOMAIN}/*/_search"))
    watched: Any = type("Watched", (_Connection,), {})
    watch_opensearch(guard, SimpleNamespace(Urllib3HttpConnection=watched))
    connection = watched(host="localhost", port=9200)
    assert connection.perform_request("POST", "/assets/_search")[0] == 200
    with pytest.raises(AuthorizationException) as caught:
        connection.perform_request("POST", "/assets/_bulk")
    assert caught.value.status_code == 403
    assert "es:ESHttpPost" in str(caught.value.info)
