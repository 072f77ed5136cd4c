"""Compares Lambda's quota of the account with what the stage needs.

CloudFormation creates and changes functions whatever the quota is, except their reservations:
Lambda refuses those that leave fewer than 100 instances unreserved. Only this fails a deployment.
With a smaller quota than the stage should have, functions are throttled while queues are busy, and
nothing is lost; neither this nor a quota that cannot be read fails it.
Source: Lambda Developer Guide, "Configuring reserved concurrency for a function".
"""

from collections.abc import Callable, Mapping
from typing import Any

from aws_lambda_powertools import Logger
from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_fixed

from backend.aws.errors import DeniedError, denials_named
from backend.aws.lambda_quotas import Instances, instances
from backend.core.errors import ConflictError, UnavailableError

# Time for which a denial is retried, after other requests of the role were allowed. IAM applies a
# new policy within seconds.
_DENIED_SECONDS = 15
_QUOTA = 'quota "Concurrent executions" of Lambda'
_BUSY = "so that requests are not throttled while queues are busy"
_RAISE = "request an increase in Service Quotas, or"

_logger = Logger()


def check_account(properties: Mapping[str, Any], client: Callable[[], Any]) -> str:
    """Return a sentence about the account's quota; `properties` are what the stage needs.

    Raises:
        ConflictError: Lambda would refuse the reservations of the stage.
    """
    if "InstancesRequired" not in properties:
        return "unknown: searchInVpc leaves no way to Lambda's API"
    try:
        instances = _read(client)
    except (DeniedError, UnavailableError) as error:
        unknown = f"unknown: {error}"
        _logger.warning(unknown)
        return unknown
    required = int(properties["InstancesRequired"])
    if instances.total < required:
        raise ConflictError(
            f"the {_QUOTA} is {instances.total} in this account and region, and "
            f"reservedConcurrency needs {required}, because 100 must remain unreserved: {_RAISE} "
            "lower reservedConcurrency"
        )
    sentence = _shortage(instances, properties)
    if sentence is None:
        return (
            f"has {instances.total} concurrent executions, of which {instances.unreserved} are "
            "unreserved"
        )
    _logger.warning(sentence)
    return sentence


def _read(client: Callable[[], Any]) -> Instances:
    def read_instances() -> Instances:
        with denials_named():
            return instances(client())

    retrying = Retrying(
        retry=retry_if_exception_type(DeniedError),
        wait=wait_fixed(1),
        stop=stop_after_delay(_DENIED_SECONDS),
        reraise=True,
    )
    return retrying(read_instances)


def _shortage(instances: Instances, properties: Mapping[str, Any]) -> str | None:
    advised, unreserved = (
        int(properties["InstancesAdvised"]),
        int(properties["UnreservedAdvised"]),
    )
    if instances.total < advised:
        return (
            f"the {_QUOTA} is {instances.total} in this account and region, and the stage needs "
            f"{advised} {_BUSY}: {_RAISE} use the stage small or a lower queueConcurrency"
        )
    if instances.unreserved < unreserved:
        return (
            f"of the {_QUOTA}, {instances.total} in this account and region, "
            f"{instances.unreserved} are unreserved, and the stage needs {unreserved} of them "
            f"{_BUSY}: {_RAISE} lower what other functions reserve"
        )
    return None
