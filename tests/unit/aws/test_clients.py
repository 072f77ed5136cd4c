"""What the AWS SDK must be."""

import boto3
import pytest

from backend.aws.clients import OldSdkError, check_sdk


@pytest.mark.parametrize("version", ["1.40.0", "1.44.5", "1.100.2", "2.0.0", boto3.__version__])
def test_a_new_enough_sdk_passes(version: str) -> None:
    check_sdk(version)


@pytest.mark.parametrize("version", ["1.39.17", "1.9.99", "0.99.0"])
def test_an_old_sdk_is_refused_with_its_version(version: str) -> None:
    with pytest.raises(OldSdkError, match=version):
        check_sdk(version)
