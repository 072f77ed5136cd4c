"""boto3 clients, one of each kind per process, with time-outs and retries set once."""

import os
from collections.abc import Callable
from functools import cache
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar, cast

import boto3
from botocore.config import Config

from backend.aws.parsing import (
    parse_versions_minimally,
    return_items_unparsed,
    session_with_iso_times,
)
from backend.core.deadlines import REPLY_SECONDS, Deadline
from backend.spec.versions import PRODUCT_VERSION

if TYPE_CHECKING:
    from mypy_boto3_cognito_idp import CognitoIdentityProviderClient
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_events import EventBridgeClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_sns import SNSClient
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_stepfunctions import SFNClient

C = TypeVar("C")
_CREATION = RLock()
deadline = Deadline()
"""The deadline of the current request, which `http.app` sets. Clients start no attempt shortly
before it."""
_SLOW = frozenset({"CompleteMultipartUpload", "CopyObject", "UploadPartCopy"})
# Time that must remain for a request that makes S3 copy or assemble gigabytes: twice that of others
# (decision 39).
_SLOW_SECONDS = 10.0
# The oldest boto3 release that is tested. The Lambda runtime includes its own release, which cannot
# be pinned.
_FLOOR = (1, 40)


class OldSdkError(Exception):
    """The runtime's boto3 is older than the version this code was tested with."""


def check_sdk(version: str) -> None:
    """Require a boto3 that is new enough; every client checks it when it is created.

    Raises:
        OldSdkError: the message names the version that was found.
    """
    numbers = tuple(int(part) for part in version.split(".")[:2])
    if numbers < _FLOOR:
        floor = ".".join(map(str, _FLOOR))
        raise OldSdkError(
            f"the Lambda runtime has boto3 {version}, which is older than {floor}: "
            "add boto3 to the dependency layer"
        )


def sdk_version() -> str:
    """Return the version of boto3 in the runtime."""
    return boto3.__version__


def agent(app: str | None) -> str:
    """Return the user agent of requests. The SDK ignores its setting `app` if a name is set."""
    names = f"vitrine/{PRODUCT_VERSION} Boto3/{boto3.__version__}"
    return f"{names} app/{app}" if app else names


_APP = os.environ.get("AWS_SDK_UA_APP_ID")  # noqa: TID251 - no setting of ours, but the SDK's
_CONFIG = Config(
    connect_timeout=2,
    read_timeout=10,
    retries={"mode": "standard", "total_max_attempts": 4},
    max_pool_connections=16,
    # The SDK would build its own name for each request: a tenth of a small request's time.
    user_agent=agent(_APP),
)
# DynamoDB validates requests; S3 must not be sent an empty key, which means the bucket.
_DYNAMODB_CONFIG = _CONFIG.merge(Config(parameter_validation=False))
# For calls that a request must not wait for: one short attempt.
_IMPATIENT_CONFIG = _DYNAMODB_CONFIG.merge(
    Config(connect_timeout=1, read_timeout=2, retries={"mode": "standard", "total_max_attempts": 1})
)
# Two attempts: a read that cannot be reported is refused, so a lost packet must not refuse it.
# Together at most six seconds (decision 15).
_IMPATIENT_SQS_CONFIG = _CONFIG.merge(
    Config(connect_timeout=1, read_timeout=2, retries={"mode": "standard", "total_max_attempts": 2})
)
# Presigned URLs need signature version 4, also where a region still accepts version 2, and the
# region's own host: the global one redirects, or does not know regions opened since 2019. The SDK
# puts a bucket whose name has dots into the path, because certificates cover no such host.
_S3_CONFIG = _CONFIG.merge(
    Config(
        signature_version="s3v4",
        # S3 replies to a copy of gigabytes only when it is done; a request lasts 24 seconds.
        read_timeout=25,
        s3={"addressing_style": "virtual", "us_east_1_regional_endpoint": "regional"},
    )
)
# Other stores have one host, usually an address, and no host name per bucket.
_OTHER_STORE_CONFIG = _S3_CONFIG.merge(Config(s3={"addressing_style": "path"}))


class _AtFirstUse:
    """A client that is created when its first attribute is read."""

    def __init__(self, make: Callable[[], object]) -> None:
        self._make = make

    def __getattr__(self, name: str) -> Any:
        # `cache` lets threads that begin together create a client each, of which it keeps one: what
        # is taken from the others, such as a signer, fails when they are gone.
        with _CREATION:
            made = self._make()
        return getattr(made, name)


def at_first_use(make: Callable[[], C]) -> C:
    """Return the client that `make` (one of those below) returns, created when it is first used.

    Creating a client reads the whole description of its service, which takes longer than the rest
    of a function's start; many invocations need only one of a function's clients.
    """
    return cast("C", _AtFirstUse(make))


@cache
def _session() -> boto3.Session:
    check_sdk(boto3.__version__)
    return _on_time(boto3.Session())


def _on_time(session: boto3.Session) -> boto3.Session:
    """Let clients of this session refuse attempts, the SDK's own too, near the deadline."""
    session.events.register("before-send", _check_time)
    return session


def _check_time(event_name: str, **_: object) -> None:
    slow = event_name.rpartition(".")[2] in _SLOW
    deadline.check(_SLOW_SECONDS if slow else REPLY_SECONDS)


@cache
def dynamodb() -> "DynamoDBClient":
    return _dynamodb(_DYNAMODB_CONFIG)


@cache
def short_timeout_dynamodb() -> "DynamoDBClient":
    """Return a client that times out within seconds, for writes that may be left out."""
    return _dynamodb(_IMPATIENT_CONFIG)


def _dynamodb(config: Config) -> "DynamoDBClient":
    client = _session().client("dynamodb", config=config)
    return_items_unparsed(client)
    return client


@cache
def s3() -> "S3Client":
    is_other = "AWS_ENDPOINT_URL_S3" in os.environ  # noqa: TID251 - the SDK's setting
    config = _OTHER_STORE_CONFIG if is_other else _S3_CONFIG
    check_sdk(boto3.__version__)
    client = _on_time(session_with_iso_times()).client("s3", config=config)
    parse_versions_minimally(client)
    return client


@cache
def sqs() -> "SQSClient":
    return _session().client("sqs", config=_CONFIG)


@cache
def short_timeout_sqs() -> "SQSClient":
    """Return a client that times out within seconds, for calls while a caller waits for a reply."""
    return _session().client("sqs", config=_IMPATIENT_SQS_CONFIG)


@cache
def sns() -> "SNSClient":
    return _session().client("sns", config=_CONFIG)


@cache
def events() -> "EventBridgeClient":
    return _session().client("events", config=_CONFIG)


@cache
def cognito_idp() -> "CognitoIdentityProviderClient":
    return _session().client("cognito-idp", config=_CONFIG)


@cache
def secrets_manager() -> "SecretsManagerClient":
    return _session().client("secretsmanager", config=_CONFIG)


@cache
def waiting_lambda(seconds: int) -> Any:
    """Return a client that waits so long for a function, in one attempt."""
    config = _CONFIG.merge(
        Config(
            read_timeout=seconds,
            retries={"mode": "standard", "total_max_attempts": 1},
            tcp_keepalive=True,  # nothing is sent while the function runs
        )
    )
    session: Any = _session()  # types of this client are not installed
    return session.client("lambda", config=config)


@cache
def lambda_account() -> Any:
    """Return a client that reads the account's settings of Lambda."""
    session: Any = _session()  # types of this client are not installed
    return session.client("lambda", config=_CONFIG)


@cache
def step_functions() -> "SFNClient":
    return _session().client("stepfunctions", config=_CONFIG)
