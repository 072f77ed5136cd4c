"""The functions of the small deployment: tests control their behaviour by requests."""

from __future__ import annotations

import importlib
import json
import os
import time
import urllib.request
from typing import TYPE_CHECKING, Literal, Protocol, cast

import boto3
from botocore.client import BaseClient
from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Event = dict[str, object]


class Context(Protocol):
    """The attributes of Lambda's context that the handlers use."""

    aws_request_id: str

    def get_remaining_time_in_millis(self) -> int:
        """Return the time left."""
        ...


def _echo(event: Event, context: Context) -> Event:
    left = context.get_remaining_time_in_millis()
    return {"event": event, "left": left, "pid": os.getpid()}


def _environment(_event: Event, _context: Context) -> Event:
    return dict(os.environ)


def _crash(_event: Event, _context: Context) -> Event:
    os._exit(3)


def _fail(_event: Event, _context: Context) -> Event:
    raise ValueError("as asked")


def _sleep(event: Event, _context: Context) -> Event:
    os.write(1, f"sleeps in {os.getpid()}\n".encode())
    time.sleep(float(_query(event)["seconds"]))
    return {"pid": os.getpid()}


def _large(event: Event, _context: Context) -> Event:
    return {"statusCode": 200, "body": "x" * int(_query(event)["bytes"])}


def _malformed(_event: Event, _context: Context) -> Event:
    return {"statusCode": "soon", "body": 3}


def _import(event: Event, _context: Context) -> Event:
    module = importlib.import_module(_query(event)["module"])
    return {"file": module.__file__}


def _query(event: Event) -> Mapping[str, str]:
    return cast("Mapping[str, str]", event["queryStringParameters"])


_ANSWERS: Mapping[str, Callable[[Event, Context], Event]] = {
    "/environment": _environment,
    "/crash": _crash,
    "/fail": _fail,
    "/sleep": _sleep,
    "/large": _large,
    "/malformed": _malformed,
    "/import": _import,
}


def api(event: Event, context: Context) -> Event:
    """Handle requests of the HTTP API."""
    answer = _ANSWERS.get(cast("str", event["rawPath"]), _echo)
    return answer(event, context)


def limited(event: Event, _context: Context) -> Event:
    """Make the calls of the body, and return the result of each."""
    answers: list[object] = []
    calls = cast("list[tuple[str, str, dict[str, object]]]", json.loads(cast("str", event["body"])))
    for service, operation, parameters in calls:
        client = cast("BaseClient", boto3.client(cast("Literal['s3']", service)))
        try:
            if operation.startswith("presign "):
                boto3.client("s3").generate_presigned_url(operation.split()[1], Params=parameters)
            else:
                getattr(client, operation)(**parameters)
        except ClientError as error:
            result = error.response.get("Error", {})
            answers.append([result.get("Code"), result.get("Message")])
        else:
            answers.append(["ok", ""])
    return {"statusCode": 200, "body": json.dumps(answers)}


def authorizer(event: Event, _context: Context) -> Event:
    """Allow requests with the key `let me in`; return the number of calls of this process."""
    global _calls  # noqa: PLW0603 - the process's memory is the point
    _calls += 1
    header = cast("list[str]", event["identitySource"])[0]
    if header == "break":
        raise RuntimeError("broken")
    return {"isAuthorized": header.startswith("let me in"), "context": {"asked": str(_calls)}}


_calls = 0
_TABLE = "TABLE_Seen"


def consumer(event: Event, _context: Context) -> Event:
    """Write every record of the stream to a table; fail for records that request it."""
    failures: list[Event] = []
    seen = boto3.client("dynamodb")
    for record in cast("list[dict[str, dict[str, dict[str, object]]]]", event["Records"]):
        change = record["dynamodb"]
        key = cast("dict[str, dict[str, str]]", change["Keys"])["id"]["S"]
        image = cast("dict[str, dict[str, str]]", change.get("NewImage", {}))
        if "raise" in image:
            raise RuntimeError(f"cannot read {key}")
        if "fail" in image:
            failures.append({"itemIdentifier": change["SequenceNumber"]})
            break
        seen.update_item(
            TableName=os.environ[_TABLE],
            Key={"id": {"S": key}},
            UpdateExpression="ADD times :one SET content = :content",
            ExpressionAttributeValues={
                ":one": {"N": "1"},
                ":content": {"S": image.get("content", {}).get("B", "")},
            },
        )
    return {"batchItemFailures": failures}


def worker(event: Event, _context: Context) -> Event:
    """Write every message of the queue to a table; fail for messages that request it."""
    failures: list[Event] = []
    seen = boto3.client("dynamodb")
    for record in cast("list[dict[str, str]]", event["Records"]):
        body = json.loads(record["body"])
        if body.get("fail"):
            failures.append({"itemIdentifier": record["messageId"]})
            continue
        if cast("dict[str, str]", record["attributes"])["ApproximateReceiveCount"] == "1":
            time.sleep(float(body.get("seconds_at_first", 0)))
        seen.update_item(
            TableName=os.environ[_TABLE],
            Key={"id": {"S": _message_key(body)}},
            UpdateExpression="ADD times :one SET message = :message",
            ExpressionAttributeValues={":one": {"N": "1"}, ":message": {"S": record["body"]}},
        )
    return {"batchItemFailures": failures}


def _message_key(body: dict[str, object]) -> str:
    detail = cast("dict[str, dict[str, str]] | None", body.get("detail"))
    if detail is None:
        return str(body["id"])
    return f"{body['detail-type']}:{detail['object']['key']}"


def custom(event: Event, _context: Context) -> None:
    """Respond to a custom resource with its request, or with a failure on request."""
    properties = cast("dict[str, str]", event["ResourceProperties"])
    if properties.get("Silent") == "true":
        return
    reason = properties.get("Fail", "")
    answer = {
        "Status": "FAILED" if reason else "SUCCESS",
        "Reason": reason,
        "PhysicalResourceId": "the-one",
        "StackId": event["StackId"],
        "RequestId": event["RequestId"],
        "LogicalResourceId": event["LogicalResourceId"],
        "Data": {"Asked": f"{event['RequestType']} {properties['Version']}"},
    }
    request = urllib.request.Request(
        cast("str", event["ResponseURL"]), json.dumps(answer).encode(), method="PUT"
    )
    urllib.request.urlopen(request).close()
