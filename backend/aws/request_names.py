"""Lets presigned URLs name the request that issued them, as a signed parameter.

S3 ignores parameters of a query that begin with `x-`, and writes them to its access logs. (Source:
Amazon S3 User Guide, "Amazon S3 server access log format", custom access log information.)
"""

from typing import TYPE_CHECKING, Any

from backend.core.reads import REQUEST_PARAMETER

if TYPE_CHECKING:
    from botocore.awsrequest import AWSRequest
    from mypy_boto3_s3 import S3Client

PRESIGNED = ("GetObject", "PutObject", "UploadPart")


def name_requests(client: "S3Client") -> None:
    """Accept the parameter `REQUEST_PARAMETER` in URLs that this client presigns."""
    events = client.meta.events
    for operation in PRESIGNED:
        events.register(f"provide-client-params.s3.{operation}", _move_to_context)
        events.register(f"before-sign.s3.{operation}", _add)


def _move_to_context(params: dict[str, Any], context: dict[str, Any], **_: object) -> None:
    """Move the parameter, which is not part of the operation, to the context of the request."""
    if REQUEST_PARAMETER in params:
        context[REQUEST_PARAMETER] = params.pop(REQUEST_PARAMETER)


def _add(request: "AWSRequest", **_: object) -> None:
    if REQUEST_PARAMETER in request.context:
        request.params[REQUEST_PARAMETER] = request.context[REQUEST_PARAMETER]
