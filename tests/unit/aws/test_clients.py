"""What the AWS SDK must be."""

import os
import subprocess
import sys
from typing import Any

import boto3
import pytest
from botocore.awsrequest import AWSPreparedRequest
from botocore.client import BaseClient

from backend.aws.clients import OldSdkError, check_sdk, dynamodb
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
def test_requests_say_whose_they_are(app: str) -> None:
    asked = "from backend.aws import clients; print(clients.dynamodb().meta.config.user_agent)"
    more = {"AWS_SDK_UA_APP_ID": app, "AWS_DEFAULT_REGION": "eu-central-1"}
    told = subprocess.run(
        [sys.executable, "-c", asked],
        env=os.environ | more,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert told.startswith(f"vitrine/{PRODUCT_VERSION} Boto3/")
    assert caller_of({"user-agent": told}) == app


class _SentError(Exception):
    """Ends a request that is about to be sent."""


def _sent(client: BaseClient) -> tuple[str, str]:
    """Where a client sends a request, and the scope of its signature."""
    found: list[AWSPreparedRequest] = []

    def stop(request: AWSPreparedRequest, **_: Any) -> None:
        found.append(request)
        raise _SentError

    client.meta.events.register_first("before-send", stop)
    try:
        with pytest.raises(_SentError):
            client.get_item(TableName="Any", Key={"id": {"S": "1"}})  # pyright: ignore
    finally:
        client.meta.events.unregister("before-send", stop)
    signature = str(found[-1].headers["Authorization"])
    return str(found[-1].url), signature.partition("Credential=")[2].partition(",")[0]


@pytest.mark.parametrize("address", [None, "http://127.0.0.1:1"])
def test_requests_go_where_the_rules_of_the_sdk_send_them(
    address: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if address is not None:
        monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", address)
    ruled = boto3.client("dynamodb")
    assert vars(ruled)["_ruleset_resolver"] is not None
    assert _sent(dynamodb.__wrapped__()) == _sent(ruled)
