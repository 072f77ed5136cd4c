"""Which errors of AWS are outages, which are retried."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from backend.aws.errors import translated
from backend.core.errors import UnavailableError


def met(code: str, status: int) -> None:
    reply: Any = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}
    with translated("AWS"):
        raise ClientError(reply, "Send")


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("ThrottlingException", 400),  # DynamoDB, S3 under a key
        ("RequestThrottled", 400),  # SQS
        ("KMS.ThrottlingException", 400),  # SQS under a key
        ("KmsThrottled", 400),  # likewise, as its JSON protocol names it
        ("KMSThrottling", 400),  # SNS under a key
        ("RequestTimeout", 400),  # S3
        ("AWS.SimpleQueueService.NonExistentQueue", 400),  # SQS that has lost its queues
        ("QueueDoesNotExist", 400),  # likewise, as its JSON protocol names it
        ("SlowDown", 503),
        ("NoNameYet", 500),
    ],
)
def test_a_service_that_has_too_much_to_do_is_an_outage(code: str, status: int) -> None:
    with pytest.raises(UnavailableError, match="AWS does not respond"):
        met(code, status)


@pytest.mark.parametrize("code", ["AccessDenied", "KMS.DisabledException", "ValidationException"])
def test_an_error_that_retrying_cannot_correct_is_not_an_outage(code: str) -> None:
    with pytest.raises(ClientError, match=code):
        met(code, 400)
