"""The stateful resources of a deployment, looked up by their declarations."""

from dataclasses import dataclass, field

from aws_cdk import aws_cognito as cognito
from aws_cdk import aws_dynamodb as dynamodb
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
    """Filled by the stacks in their order; keys are the declared names."""

    tables: dict[str, dynamodb.Table] = field(default_factory=dict[str, dynamodb.Table])
    buckets: dict[str, s3.Bucket] = field(default_factory=dict[str, s3.Bucket])
    secrets: dict[str, secretsmanager.Secret] = field(
        default_factory=dict[str, secretsmanager.Secret]
    )
    queues: dict[str, sqs.Queue] = field(default_factory=dict[str, sqs.Queue])
    dead_letters: dict[str, sqs.Queue] = field(default_factory=dict[str, sqs.Queue])
    topics: dict[str, sns.Topic] = field(default_factory=dict[str, sns.Topic])
    readers: dict[str, lambda_.Function] = field(default_factory=dict[str, lambda_.Function])
    """Functions that others of their stack call."""
    user_pool: cognito.UserPool | None = None
    user_pool_client: cognito.UserPoolClient | None = None
    domain: opensearch.Domain | None = None
    network: Network | None = None
    readers_network: Network | None = None
    key: kms.IKey | None = None
    state_machine: str = ""
    """The ARN of the state machine that runs executions."""
    imported_buckets: tuple[str, ...] = ()
    """Names of buckets that are used as the asset bucket is, and that others have made."""
    imported_keys: tuple[str, ...] = ()
    """ARNs of the keys that encrypt them, where those are keys of somebody's own."""
    alarms: Alarms = field(default_factory=Alarms)
