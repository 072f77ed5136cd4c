"""Sends the response of a custom resource's function to CloudFormation."""

import json
from collections.abc import Mapping
from dataclasses import KW_ONLY, field
from typing import Literal

import urllib3
from aws_lambda_powertools.utilities.data_classes import CloudFormationCustomResourceEvent
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential
from urllib3.exceptions import HTTPError

from backend.core.errors import UnavailableError
from backend.values import frozen

_MAX_REASON = 1000  # the response may have 4,096 bytes


@frozen
class ResourceAnswer:
    """The result of a request; `data` can be read with Fn::GetAtt."""

    _: KW_ONLY
    status: Literal["SUCCESS", "FAILED"]
    physical_id: str
    reason: str = ""
    data: Mapping[str, str] = field(default_factory=dict[str, str])


def respond(event: CloudFormationCustomResourceEvent, answer: ResourceAnswer) -> None:
    """Send the response to the presigned URL of the event.

    Raises:
        UnavailableError: the response was not accepted. The message omits the URL, because it
            authorizes its holder to respond.
    """
    body = {
        "Status": answer.status,
        "Reason": answer.reason[:_MAX_REASON],
        "PhysicalResourceId": answer.physical_id,
        "StackId": event.stack_id,
        "RequestId": event.request_id,
        "LogicalResourceId": event.logical_resource_id,
        "Data": dict(answer.data),
    }
    Retrying(
        retry=retry_if_exception_type(UnavailableError),
        wait=wait_exponential(multiplier=0.2, max=5),
        stop=stop_after_attempt(5),
        reraise=True,
    )(_put, event.response_url, json.dumps(body))


def _put(url: str, body: str) -> None:
    # The signature of the URL covers an empty content type. urllib3 itself does not try again,
    # because it would log the URL.
    with urllib3.PoolManager(retries=False, timeout=10) as pool:
        try:
            reply = pool.request("PUT", url, body=body, headers={"Content-Type": ""})
        except HTTPError:
            raise UnavailableError("CloudFormation did not accept the response") from None
    if reply.status >= 400:
        raise UnavailableError(f"CloudFormation rejected the response with status {reply.status}")
