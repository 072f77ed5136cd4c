"""Asks before an older release replaces a newer one; `make deploy` runs it first."""

import os
import sys
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError
from packaging.version import InvalidVersion, Version

from backend.spec.versions import PRODUCT_VERSION, RELEASE_OUTPUT

_NO_STACK = "does not exist"  # in the message; the code is that of any wrong parameter


def deployed_release(stage: str, cloudformation: Any) -> str | None:
    """Return the release that the storage stack of a stage names, None without one."""
    try:
        reply = cloudformation.describe_stacks(StackName=f"vitrine-{stage}-storage")
    except ClientError as error:
        if _NO_STACK in str(error):
            return None
        raise
    outputs = reply["Stacks"][0].get("Outputs", [])
    return next((o["OutputValue"] for o in outputs if o["OutputKey"] == RELEASE_OUTPUT), None)


def main(stage: str) -> int:
    """Return 1 if what is deployed may be newer and its replacement is not confirmed, else 0."""
    try:
        # The CDK command reads this variable, and boto3 does not.
        region = os.environ.get("AWS_REGION") or None
        release = deployed_release(stage, boto3.client("cloudformation", region_name=region))
    except (BotoCoreError, ClientError) as error:
        # The CDK command reports missing credentials and rights itself.
        sys.stderr.write(f"which release {stage} has is unknown: {error}\n")
        return 0
    if release is None:
        return 0
    try:
        if Version(release) <= Version(PRODUCT_VERSION):
            return 0
    except InvalidVersion:
        release += ", which is no version"
    sys.stderr.write(
        f"{stage} has release {release}, and this is {PRODUCT_VERSION}, which may not read its "
        'rows: see the table under "Upgrading" in docs/guides/deploying.md\n'
    )
    return int(not sys.stdin.isatty() or input("Deploy the older release? [y/N] ") != "y")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
