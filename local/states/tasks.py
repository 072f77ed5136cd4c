"""Handles the tasks of state machines: calls of functions, queues, event bus and buckets.

The engine sends every task here with the role of its state machine, whose policies decide.
"""

import asyncio
import html
import json
import logging
import os
import uuid
from typing import cast
from urllib.parse import urlsplit

from botocore.exceptions import BotoCoreError, ClientError
from pydantic import JsonValue
from starlette.responses import JSONResponse, Response

from local import arns
from local.clients import Clients
from local.errors import LocalError
from local.functions import Functions
from local.iam import actions
from local.iam.roles import Roles
from local.plan import Object
from local.pumps.activity import Activity
from local.pumps.bus import Bus, new_event
from local.states.executions import Executions

_FAILED = "Unhandled"
# Calls of one function: pipelines keep processors busy, and each further process takes memory.
_MOST_AT_ONCE = max(2, os.cpu_count() or 2)
_DEFAULT_BUS = "default"

_log = logging.getLogger(__name__)


class RefusedTaskError(Exception):
    """A service refuses the call: status, code and message as on AWS."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message

    def response(self) -> Response:
        """Return the refusal in the form that the SDK reads."""
        body = {"__type": self.code, "message": self.message, "Message": self.message}
        headers = {"x-amzn-ErrorType": self.code, "x-amzn-RequestId": str(uuid.uuid4())}
        return JSONResponse(body, self.status, headers=headers)


class Tasks:
    """The services that tasks call."""

    def __init__(
        self,
        *,
        functions: Functions,
        clients: Clients,
        bus: Bus,
        roles: Roles,
        activity: Activity,
        executions: Executions,
    ) -> None:
        """Store the services that tasks call."""
        self.executions = executions
        self._functions = functions
        self._clients = clients
        self._bus = bus
        self._roles = roles
        self._activity = activity
        self._slots: dict[str, asyncio.Semaphore] = {}

    async def invoke(self, reference: str, payload: JsonValue, role: str) -> Response:
        """Call a function and return its result.

        Raises:
            RefusedTaskError: there is no such function, or the role may not call it.
        """
        self._require(role, "lambda", _function_arn(reference))
        event = payload if isinstance(payload, dict) else {"input": payload}
        try:
            with self._activity.working():
                slots = asyncio.Semaphore(_MOST_AT_ONCE)
                async with self._slots.setdefault(_function_arn(reference), slots):
                    result = await self._functions.invoke(reference, event)
        except LocalError as error:
            missing = f"Function not found: {_function_arn(reference)}"
            raise RefusedTaskError(404, "ResourceNotFoundException", missing) from error
        failed = {"X-Amz-Function-Error": _FAILED} if result.error else {}
        return Response(result.payload, media_type="application/json", headers=failed)

    async def call(self, target: str, parameters: Object, role: str) -> Response:
        """Carry out a call of SQS or EventBridge.

        Raises:
            RefusedTaskError: the service refuses, or the call is not supported here.
        """
        operation = target.rpartition(".")[2]
        with self._activity.working():
            if operation == "SendMessage":
                return await self._send_message(parameters, role)
            if operation == "PutEvents":
                return await self._put_events(parameters, role)
        raise RefusedTaskError(400, "UnknownOperationException", f"{target} is not known here")

    async def list_objects(self, bucket: str, prefix: str, role: str) -> Response:
        """Return how many of a bucket's objects begin with a prefix: one, or none.

        Raises:
            RefusedTaskError: the role may not list the bucket, or S3 refuses.
        """
        self._require(role, "s3", f"arn:aws:s3:::{bucket}")
        s3 = self._clients.s3
        try:
            listing = await asyncio.to_thread(
                s3.list_objects_v2, Bucket=bucket, Prefix=prefix, MaxKeys=1
            )
        except ClientError as error:
            raise _refused(error) from error
        except BotoCoreError as error:
            raise RefusedTaskError(503, "ServiceUnavailable", str(error)) from error
        count = f"<KeyCount>{listing['KeyCount']}</KeyCount>"
        named = f"<Prefix>{html.escape(prefix)}</Prefix>"
        text = f"<ListBucketResult>{named}{count}</ListBucketResult>"
        return Response(text, media_type="application/xml")

    async def _send_message(self, parameters: Object, role: str) -> Response:
        # its URL here or on AWS
        parts = urlsplit(str(parameters["QueueUrl"])).path.strip("/").split("/")
        account, name = (parts[-2] if len(parts) > 1 else arns.ACCOUNT), parts[-1]
        self._require(role, "sqs", f"arn:aws:sqs:{arns.REGION}:{account}:{name}")
        try:
            sent = await asyncio.to_thread(self._send, name, str(parameters["MessageBody"]))
        except ClientError as error:
            raise _refused(error) from error
        except BotoCoreError as error:
            raise RefusedTaskError(503, "ServiceUnavailable", str(error)) from error
        return JSONResponse(sent)

    def _send(self, queue: str, body: str) -> dict[str, str]:
        url = self._clients.sqs.get_queue_url(QueueName=queue)["QueueUrl"]
        sent = self._clients.sqs.send_message(QueueUrl=url, MessageBody=body)
        return {"MessageId": sent["MessageId"], "MD5OfMessageBody": sent["MD5OfMessageBody"]}

    async def _put_events(self, parameters: Object, role: str) -> Response:
        entries = cast("list[Object]", parameters["Entries"])
        for entry in entries:
            bus = str(entry.get("EventBusName", _DEFAULT_BUS)).rpartition("/")[2]
            self._require(role, "events", arns.arn("events", f"event-bus/{bus}"))
            if bus != _DEFAULT_BUS:
                raise RefusedTaskError(
                    400, "ResourceNotFoundException", f"Event bus {bus} does not exist."
                )
        sent: list[dict[str, str]] = []
        for entry in entries:
            event = new_event(
                str(entry["Source"]),
                str(entry["DetailType"]),
                cast("list[str]", entry.get("Resources", [])),
                json.loads(str(entry["Detail"])),
            )
            await self._bus.publish(event)
            sent.append({"EventId": str(event["id"])})
        return JSONResponse({"FailedEntryCount": 0, "Entries": sent})

    def _require(self, role: str, service: str, resource: str) -> None:
        lacking = self._roles.lacks(role, actions.task(service, resource, self._roles.place()))
        if lacking is None:
            return
        principal = f"arn:aws:sts::{arns.ACCOUNT}:assumed-role/{arns.last_part(role)}/states"
        message = (
            f"User: {principal} is not authorized to perform: {lacking.action} on resource: "
            f"{lacking.resource} because no identity-based policy allows the {lacking.action} "
            "action"
        )
        _log.warning("%s", message)
        raise RefusedTaskError(403, "AccessDeniedException", message)


def _refused(error: ClientError) -> RefusedTaskError:
    fault = error.response.get("Error", {})
    code = fault.get("Code", "InternalError")
    return RefusedTaskError(400, code, fault.get("Message", code))


def _function_arn(reference: str) -> str:
    if reference.startswith("arn:"):
        return reference
    return arns.arn("lambda", f"function:{reference}")
