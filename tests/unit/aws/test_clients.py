"""What the AWS SDK must be."""

import os
import subprocess
import sys

import boto3
import pytest

from backend.aws.clients import OldSdkError, check_sdk
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
