"""The AWS clients of the runner itself, each bound to the engine of its service."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import boto3
from botocore.config import Config

from local import arns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mypy_boto3_cognito_idp import CognitoIdentityProviderClient
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodbstreams import DynamoDBStreamsClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_sns import SNSClient
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_stepfunctions import SFNClient


@dataclass(frozen=True)
class Credentials:
    """The access key and secret key that all engines accept."""

    access_key: str
    secret_key: str


@dataclass(frozen=True)
class Endpoints:
    """The address of each service. Functions and the runner may have different addresses."""

    dynamodb: str
    s3: str
    sqs: str
    opensearch: str
    states: str
    others: str

    def environment(self) -> Mapping[str, str]:
        """Return the SDK's own environment variables for these endpoints."""
        return {
            "AWS_ENDPOINT_URL": self.others,
            "AWS_ENDPOINT_URL_DYNAMODB": self.dynamodb,
            "AWS_ENDPOINT_URL_DYNAMODB_STREAMS": self.dynamodb,
            "AWS_ENDPOINT_URL_S3": self.s3,
            "AWS_ENDPOINT_URL_SFN": self.states,
            "AWS_ENDPOINT_URL_SQS": self.sqs,
            "AWS_ENDPOINT_URL_SECRETS_MANAGER": self.others,
            "AWS_ENDPOINT_URL_OPENSEARCH": self.opensearch,
        }


@dataclass(frozen=True)
class Clients:
    """One client per service; threads can share boto3's clients."""

    dynamodb: DynamoDBClient
    streams: DynamoDBStreamsClient
    s3: S3Client
    sqs: SQSClient
    secrets: SecretsManagerClient
    sns: SNSClient
    cognito: CognitoIdentityProviderClient
    states: SFNClient


def connect(endpoints: Endpoints, credentials: Credentials) -> Clients:
    """Create the runner's clients.

    They make one attempt per call: callers retry by their own rules.
    """
    session = boto3.Session(
        aws_access_key_id=credentials.access_key,
        aws_secret_access_key=credentials.secret_key,
        region_name=arns.REGION,
    )
    config = Config(
        retries={"total_max_attempts": 1},
        max_pool_connections=50,
        connect_timeout=5,
        read_timeout=60,
        s3={"addressing_style": "path"},
    )
    return Clients(
        dynamodb=session.client("dynamodb", endpoint_url=endpoints.dynamodb, config=config),
        streams=session.client("dynamodbstreams", endpoint_url=endpoints.dynamodb, config=config),
        s3=session.client("s3", endpoint_url=endpoints.s3, config=config),
        sqs=session.client("sqs", endpoint_url=endpoints.sqs, config=config),
        secrets=session.client("secretsmanager", endpoint_url=endpoints.others, config=config),
        sns=session.client("sns", endpoint_url=endpoints.others, config=config),
        cognito=session.client("cognito-idp", endpoint_url=endpoints.others, config=config),
        states=session.client("stepfunctions", endpoint_url=endpoints.states, config=config),
    )
