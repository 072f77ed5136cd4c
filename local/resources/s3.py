"""S3 buckets: versioning and CORS. The pumps send their events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

from pydantic import Field

from local import arns
from local.plan import Bucket
from local.resources.base import Context, Created, Properties, parse

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import CORSRuleTypeDef

    from local.assembly import Resource


class Versioning(Properties):
    """Whether previous versions are kept."""

    status: Literal["Enabled", "Suspended"]


class CorsRule(Properties):
    """The CORS rule for browsers of other origins."""

    allowed_methods: list[str]
    allowed_origins: list[str]
    allowed_headers: tuple[str, ...] = ()
    exposed_headers: tuple[str, ...] = ()
    max_age: int | None = None
    id: str | None = None


class Cors(Properties):
    """The rules in their order."""

    cors_rules: list[CorsRule]


class EventBridge(Properties):
    """Whether the bucket's events go to EventBridge."""

    event_bridge_enabled: bool = True


class Notifications(Properties):
    """The destination of the bucket's events: EventBridge.

    Queues, topics and functions are not supported.
    """

    event_bridge_configuration: EventBridge | None = None


class ByDefault(Properties):
    """The encryption of an object that does not name one."""

    no_effect = "SSEAlgorithm"

    kms_master_key_id: str | None = Field(default=None, alias="KMSMasterKeyID")


class EncryptionRule(Properties):
    """One rule; S3 accepts one only."""

    no_effect = "BucketKeyEnabled"

    server_side_encryption_by_default: ByDefault = ByDefault()


class Encryption(Properties):
    """Encryption settings.

    The engine does not encrypt; the key determines the permissions that callers need.
    """

    server_side_encryption_configuration: tuple[EncryptionRule, ...] = ()


class S3Bucket(Properties):
    """`AWS::S3::Bucket`; the engine has no lifecycle, access logs, encryption or tags."""

    no_effect = (
        "AccessControl IntelligentTieringConfigurations LifecycleConfiguration "
        "LoggingConfiguration OwnershipControls PublicAccessBlockConfiguration Tags"
    )

    bucket_name: str | None = None
    cors_configuration: Cors | None = None
    notification_configuration: Notifications | None = None
    versioning_configuration: Versioning | None = None
    bucket_encryption: Encryption | None = None
    object_lock_enabled: Literal[False] = Field(default=False)


def create_bucket(context: Context, resource: Resource) -> Created:
    """Create the bucket if it does not exist, and apply its settings."""
    bucket = parse(S3Bucket, resource)
    name = bucket.bucket_name or arns.bucket_name(resource.stack, resource.logical_id)
    client = context.clients.s3
    if name not in {bucket.get("Name") for bucket in client.list_buckets().get("Buckets", [])}:
        client.create_bucket(Bucket=name)
        context.fresh.append(f"bucket {name}")
    context.stateful.append(f"bucket {name}")
    if bucket.versioning_configuration:
        client.put_bucket_versioning(
            Bucket=name,
            VersioningConfiguration={"Status": bucket.versioning_configuration.status},
        )
    _set_cors(client, name, bucket.cors_configuration)
    notifications = bucket.notification_configuration
    event_bridge = notifications.event_bridge_configuration if notifications else None
    sends = event_bridge is not None and event_bridge.event_bridge_enabled
    context.plan.buckets.append(Bucket(name, sends))
    bucket_arn = f"arn:aws:s3:::{name}"
    if bucket.bucket_encryption:
        for rule in bucket.bucket_encryption.server_side_encryption_configuration:
            key = rule.server_side_encryption_by_default.kms_master_key_id
            context.roles.record_encryption_key(bucket_arn, key)
    domain = f"{name}.s3.amazonaws.com"
    return Created(
        name,
        {
            "Arn": bucket_arn,
            "DomainName": domain,
            "RegionalDomainName": f"{name}.s3.{arns.REGION}.amazonaws.com",
        },
    )


def _set_cors(client: S3Client, name: str, cors: Cors | None) -> None:
    if cors is None:
        return
    rules: list[CORSRuleTypeDef] = []
    for rule in cors.cors_rules:
        shape: dict[str, object] = {
            "AllowedMethods": rule.allowed_methods,
            "AllowedOrigins": rule.allowed_origins,
        }
        if rule.allowed_headers:
            shape["AllowedHeaders"] = rule.allowed_headers
        if rule.exposed_headers:
            shape["ExposeHeaders"] = rule.exposed_headers
        if rule.max_age is not None:
            shape["MaxAgeSeconds"] = rule.max_age
        rules.append(cast("CORSRuleTypeDef", shape))
    client.put_bucket_cors(Bucket=name, CORSConfiguration={"CORSRules": rules})
