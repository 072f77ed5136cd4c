"""Requirements on the AWS SDK."""

import os
import subprocess
import sys
from typing import Any

import boto3
import pytest

from backend.aws import clients
from backend.aws.clients import OldSdkError, check_sdk
from backend.core.deadlines import Deadline, OutcomeUnknownError
from backend.spec.versions import PRODUCT_VERSION
from local.proxy import caller_of


@pytest.mark.parametrize("version", ["1.40.0", "1.44.5", "1.100.2", "2.0.0", boto3.__version__])
def test_a_new_enough_sdk_passes(version: str) -> None:
    check_sdk(version)


@pytest.mark.parametrize("version", ["1.39.17", "1.9.99", "0.99.0"])
def test_an_old_sdk_is_refused_with_its_version(version: str) -> None:
    with pytest.raises(OldSdkError, match=version):
        check_sdk(version)


@pytest.mark.parametrize("app", ["dev-AssetsApi", ""])
def test_requests_name_their_function_in_the_user_agent(app: str) -> None:
    request = "from backend.aws import clients; print(clients.dynamodb().meta.config.user_agent)"
    more = {"AWS_SDK_UA_APP_ID": app, "AWS_DEFAULT_REGION": "eu-central-1"}
    found = subprocess.run(
        [sys.executable, "-c", request],
        env=os.environ | more,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert found.startswith(f"vitrine/{PRODUCT_VERSION} Boto3/")
    assert caller_of({"user-agent": found}) == app


class SentError(Exception):
    """An attempt that would have been sent."""


def test_no_attempt_begins_when_the_time_of_the_request_is_nearly_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    deadline = Deadline(lambda: 0.0)
    monkeypatch.setattr(clients, "deadline", deadline)
    source = {"Bucket": "bucket", "Key": "a"}
    made: list[tuple[Any, dict[str, dict[str, Any]]]] = [
        (clients.dynamodb, {"list_tables": {}}),
        (clients.short_timeout_dynamodb, {"list_tables": {}}),
        (clients.s3, {"head_object": source, "copy_object": {**source, "CopySource": source}}),
        (clients.sqs, {"list_queues": {}}),
        (clients.short_timeout_sqs, {"list_queues": {}}),
        (clients.sns, {"list_topics": {}}),
        (clients.cognito_idp, {"list_user_pools": {"MaxResults": 1}}),
        (clients.secrets_manager, {"list_secrets": {}}),
        (clients.step_functions, {"list_state_machines": {}}),
        (clients.lambda_account, {"get_account_settings": {}}),
    ]

    def sent(**_: object) -> None:
        raise SentError

    try:
        for make, operations in made:
            make.cache_clear()
            client = make()
            client.meta.events.register("before-send", sent)
            for operation, parameters in operations.items():
                least = 10 if operation == "copy_object" else 5
                for seconds, wanted in ((least + 1, SentError), (least - 1, OutcomeUnknownError)):
                    deadline.begin(seconds)
                    with pytest.raises(wanted):
                        getattr(client, operation)(**parameters)
    finally:
        for make, _ in made:
            make.cache_clear()
