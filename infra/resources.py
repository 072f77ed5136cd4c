"""The stateful resources of a deployment, looked up by their declarations."""

from dataclasses import dataclass, field

from aws_cdk import aws_cognito as cognito
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_events as events
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_opensearchservice as opensearch
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs

from infra.constructs.alarms import Alarms
from infra.constructs.network import Network


@dataclass(slots=True)
class Resources:
    """The physical resources; the stacks add them in their order. Keys are the declared names."""

    tables: dict[str, dynamodb.Table] = field(default_factory=dict[str, dynamodb.Table])
    buckets: dict[str, s3.Bucket] = field(default_factory=dict[str, s3.Bucket])
    secrets: dict[str, secretsmanager.Secret] = field(
        default_factory=dict[str, secretsmanager.Secret]
    )
    queues: dict[str, sqs.Queue] = field(default_factory=dict[str, sqs.Queue])
    dead_letters: dict[str, sqs.Queue] = field(default_factory=dict[str, sqs.Queue])
    topics: dict[str, sns.Topic] = field(default_factory=dict[str, sns.Topic])
    readers: dict[str, lambda_.Function] = field(default_factory=dict[str, lambda_.Function])
    """Functions of the same stack that other functions call."""
    event_bus: events.CfnEventBus | None = None
    user_pool: cognito.UserPool | None = None
    user_pool_client: cognito.UserPoolClient | None = None
    domain: opensearch.Domain | None = None
    network: Network | None = None
    readers_network: Network | None = None
    key: kms.IKey | None = None
    api: str = ""
    """The id of the HTTP API."""
    state_machine: str = ""
    """The ARN of the state machine of executions."""
    imported_buckets: tuple[str, ...] = ()
    """Names of existing buckets that are used like the asset bucket."""
    imported_keys: tuple[str, ...] = ()
    """ARNs of the customer-managed keys that encrypt them."""
    alarms: Alarms = field(default_factory=Alarms)
