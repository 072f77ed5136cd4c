"""The check of the account's quota by bootstrap."""

from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from backend.entrypoints.account_check import check_account
from tests.unit.entrypoints.conftest import NEEDED, Account, Time

SMALL = (
    'the quota "Concurrent executions" of Lambda is 10 in this account and region, and the stage '
    "needs 56 so that requests are not throttled while queues are busy: request an increase in "
    "Service Quotas, or use the stage small or a lower queueConcurrency"
)
TAKEN = (
    'of the quota "Concurrent executions" of Lambda, 1000 in this account and region, 39 are '
    "unreserved, and the stage needs 40 of them so that requests are not throttled while queues "
    "are busy: request an increase in Service Quotas, or lower what other functions reserve"
)
ENOUGH = "has 56 concurrent executions, of which 40 are unreserved"


def failure(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "no"}}, "GetAccountSettings")


@pytest.mark.parametrize(
    ("total", "unreserved", "sentence"),
    [
        (10, 10, SMALL),
        (55, 55, SMALL.replace("is 10 in", "is 55 in")),
        (1000, 39, TAKEN),
        (56, 40, ENOUGH),
    ],
)
def test_a_quota_that_is_too_small_is_one_sentence_and_a_warning(
    caplog: pytest.LogCaptureFixture, total: int, unreserved: int, sentence: str
) -> None:
    account = Account(total, unreserved)
    assert check_account(NEEDED, lambda: account) == sentence
    assert (sentence in caplog.text) == (sentence != ENOUGH)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (failure("AccessDeniedException"), "GetAccountSettings is denied: no"),
        (failure("TooManyRequestsException"), "Lambda does not respond"),
        (failure("ServiceUnavailable"), "Lambda does not respond"),
        (EndpointConnectionError(endpoint_url="https://lambda"), "Lambda does not respond"),
    ],
)
def test_a_quota_that_lambda_does_not_report_is_named(
    time: Time, caplog: pytest.LogCaptureFixture, error: Exception, reason: str
) -> None:
    account = Account(failures=[error] * 99)
    assert check_account(NEEDED, lambda: account) == f"unknown: {reason}"
    assert reason in caplog.text
    assert time.now < 20


def test_a_denial_that_passes_is_waited_for(time: Time) -> None:
    account = Account(failures=[failure("AccessDeniedException")] * 2)
    assert check_account(NEEDED, lambda: account).startswith("has 1000 concurrent executions")
    assert time.now == 2


def test_in_a_network_the_quota_is_not_read() -> None:
    def client() -> Any:
        raise AssertionError("it was read")

    assert check_account({}, client) == "unknown: searchInVpc leaves no way to Lambda's API"
