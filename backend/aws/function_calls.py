"""Lambda behind the port `core.function_calls.FunctionCalls`."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from botocore.exceptions import (
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    HTTPClientError,
    IncompleteReadError,
    ProxyConnectionError,
    ReadTimeoutError,
)
from botocore.exceptions import ConnectionError as BotoConnectionError
from tenacity import (
    Retrying,
    retry_if_exception_type,
    stop_after_delay,
    wait_random_exponential,
)

from backend.aws.errors import code_of, is_outage
from backend.core.errors import UnavailableError
from backend.core.function_calls import CallReply, ReplyLostError

# After these errors no function has started: no connection was made, or Lambda has no capacity.
_NOT_SENT = (ConnectTimeoutError, EndpointConnectionError, ProxyConnectionError)
_LOST = (BotoConnectionError, HTTPClientError, IncompleteReadError)
_BUSY = frozenset({"TooManyRequestsException", "EC2ThrottledException", "ENILimitReachedException"})
# Of the pipeline's 600: throttled calls have not run, so they are repeated for a minute (decision
# 79).
_BUSY_SECONDS = 60
_SERVER_ERROR = 500
# The reply is a reader's, which its file may control.
_TYPE_CHARACTERS = 100
# Limit of Lambda. Source: Lambda Developer Guide, "Lambda quotas".
_REQUEST_BYTES = 6 * 1024 * 1024
_TOO_LARGE = "the names of the files that it refers to take more than 6 MB"
_TIMED_OUT = re.compile(r"Task timed out after [0-9.]+ seconds\Z")


@dataclass(eq=False, repr=False)
class LambdaCalls:
    """Synchronous calls (see the port). Its client makes one attempt for each.

    The reply of an attempt may be lost while the function goes on: a second one would run beside
    it. Only calls that started no function are repeated here: those that were not sent, and those
    that Lambda throttled.
    """

    client: Any
    seconds: int

    def call(self, function: str, tenant: str, request: Mapping[str, Any]) -> CallReply:
        payload = json.dumps(request).encode()
        if len(payload) > _REQUEST_BYTES:
            return CallReply(failure=_TOO_LARGE)
        # By hand: the client makes one attempt, because a second would run beside the first.
        attempts = Retrying(
            retry=retry_if_exception_type(UnavailableError),
            wait=wait_random_exponential(1, 10),
            stop=stop_after_delay(_BUSY_SECONDS),
            reraise=True,
        )
        return attempts(self._call, function, tenant, payload)

    def _call(self, function: str, tenant: str, payload: bytes) -> CallReply:
        events = self.client.meta.events

        # A header, not the parameter: the SDK of the Lambda runtime may not know it yet.
        def handler(request: Any, **_: object) -> None:
            request.headers["X-Amz-Tenant-Id"] = tenant

        events.register("before-sign.lambda.Invoke", handler)
        try:
            return self._answer(function, payload)
        except _NOT_SENT as error:
            raise UnavailableError("Lambda does not respond") from error
        except _LOST as error:
            raise ReplyLostError("the reply of the function that reads it was lost") from error
        except ClientError as error:
            if code_of(error) not in _BUSY and not is_outage(error):
                raise
            if (
                code_of(error) not in _BUSY
                and error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
                >= _SERVER_ERROR
            ):
                raise ReplyLostError("Lambda failed to run the function that reads it") from error
            raise UnavailableError("Lambda has no instance for the reader now") from error
        finally:
            events.unregister("before-sign.lambda.Invoke", handler)

    def _answer(self, function: str, payload: bytes) -> CallReply:
        try:
            reply = self.client.invoke(FunctionName=function, Payload=payload)
            body = reply["Payload"].read()
        except ReadTimeoutError:
            failure = f"the function that reads it has not replied within {self.seconds} seconds"
            return CallReply(failure=failure, late=True)
        return _reply(body, failed="FunctionError" in reply)


def _reply(body: bytes, *, failed: bool) -> CallReply:
    try:
        payload: Any = json.loads(body)
    except (ValueError, RecursionError):
        payload = None
    if not failed:
        return CallReply(payload)
    error = cast("dict[str, Any]", payload) if isinstance(payload, dict) else {}
    kind = str(error.get("errorType", ""))[:_TYPE_CHARACTERS]
    failure = f"the function that reads it failed: {kind or 'no reason is given'}"
    # Lambda reports its time-out by this type, or by the text alone.
    late = kind == "Sandbox.Timedout" or bool(_TIMED_OUT.search(str(error.get("errorMessage"))))
    return CallReply(failure=failure, kind=kind, late=late)
