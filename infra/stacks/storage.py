"""Resources that outlive every other stack: tables, buckets, secrets, users, and their key."""

from typing import cast

from aws_cdk import Duration, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from backend.spec.buckets import (
    ACCESS_LOGS_BUCKET,
    ASSET_BUCKET,
    AUDIT_ARCHIVE_BUCKET,
    BUCKETS,
    FAILURE_BUCKET,
)
from backend.spec.secrets import ADMIN_API_KEY, SECRETS, Secret
from backend.spec.tables import TABLES
from backend.spec.topics import TOPICS
from backend.spec.versions import PRODUCT_VERSION, RELEASE_OUTPUT
from infra.constructs.asset_bucket import accept_cloudtrail, declared_bucket, declared_trail
from infra.constructs.malware_scan import scan_bucket
from infra.constructs.naming import name_exactly, output
from infra.constructs.tables import declared_table
from infra.constructs.topic import declared_topic
from infra.constructs.updates import RETAINED, export
from infra.constructs.user_pool import declared_user_pool, protect_user_pool
from infra.resources import Resources
from infra.settings import Settings


class StorageStack(Stack):
    """Retained and protected from deletion, on every stage."""

    def __init__(
        self, scope: Construct, name: str, *, settings: Settings, resources: Resources
    ) -> None:
        super().__init__(
            scope,
            name,
            description="Vitrine: tables, buckets, secrets",
            termination_protection=True,
        )
        if settings.customer_managed_key:
            resources.key = self._key(settings)
        for table in TABLES:
            resources.tables[table.name] = declared_table(self, table, key=resources.key)
        self._buckets(settings, resources)
        for secret in SECRETS:
            resources.secrets[secret.name] = self._secret(secret, resources.key)
        for topic in TOPICS:
            resources.topics[topic.name] = declared_topic(self, topic, key=resources.key)
        if settings.user_pool:
            resources.user_pool, resources.user_pool_client = declared_user_pool(self)
            pool_id = resources.user_pool.user_pool_id
            output(self, "UserPoolId", pool_id, "The Cognito user pool")
            if settings.user_pool_firewall:
                limit = settings.user_pool_requests_per_address
                protect_user_pool(self, resources.user_pool, requests=limit)
        self._outputs(resources)
        self._export(resources)

    def _key(self, settings: Settings) -> kms.IKey:
        key = kms.Key(
            self,
            "DataKey",
            description="Encrypts what Vitrine keeps: tables, buckets, queues, secrets, logs",
            enable_key_rotation=True,
            removal_policy=RETAINED,
        )
        name_exactly(key, "DataKey")
        self._allow_services(key, describe=settings.events == "bus")
        return cast("kms.IKey", key)

    def _allow_services(self, key: kms.Key, *, describe: bool) -> None:
        """Allow the services that use the key without a caller: logs, and EventBridge.

        `describe`: also the request with which EventBridge checks the key of a bus.
        """
        group = f"arn:{self.partition}:logs:{self.region}:{self.account}:log-group:*"
        writing = ["kms:Decrypt*", "kms:Describe*", "kms:Encrypt*", "kms:GenerateDataKey*"]
        for service, actions, condition in (
            (
                f"logs.{self.region}.{self.url_suffix}",
                [*writing, "kms:ReEncrypt*"],
                {"ArnLike": {"kms:EncryptionContext:aws:logs:arn": group}},
            ),
            (
                "events.amazonaws.com",
                ["kms:Decrypt", *(["kms:DescribeKey"] if describe else []), "kms:GenerateDataKey"],
                {"StringEquals": {"aws:SourceAccount": self.account}},
            ),
        ):
            key.add_to_resource_policy(
                iam.PolicyStatement(
                    principals=[cast("iam.IPrincipal", iam.ServicePrincipal(service))],
                    actions=actions,
                    resources=["*"],  # in a key's own policy, `*` is that key
                    conditions=condition,
                )
            )

    def _buckets(self, settings: Settings, resources: Resources) -> None:
        # S3 delivers access logs only to a bucket whose default encryption is S3's own.
        logs = declared_bucket(self, ACCESS_LOGS_BUCKET, key=None, logs=None, web_origins=())
        accept_cloudtrail(logs, account=self.account)
        if settings.cloud_trail:
            declared_trail(self, logs=logs)
        resources.buckets[ACCESS_LOGS_BUCKET.name] = logs
        period = Duration.days(settings.audit_lock_days)
        lock = {
            "none": None,
            "governance": s3.ObjectLockRetention.governance(period),
            "compliance": s3.ObjectLockRetention.compliance(period),
        }[settings.audit_lock]
        for bucket in BUCKETS:
            if bucket is not ACCESS_LOGS_BUCKET:
                resources.buckets[bucket.name] = declared_bucket(
                    self,
                    bucket,
                    key=resources.key,
                    logs=logs,
                    web_origins=settings.web_origins(),
                    lock=lock if bucket is AUDIT_ARCHIVE_BUCKET else None,
                )
        if settings.malware_scan:
            scan_bucket(
                self,
                resources.buckets[ASSET_BUCKET.name],
                key=resources.key,
                roles=f"arn:{self.partition}:iam::{self.account}:role/vitrine-{settings.stage}-*",
            )

    def _secret(self, spec: Secret, key: kms.IKey | None) -> secretsmanager.Secret:
        secret = secretsmanager.Secret(
            self,
            spec.name,
            encryption_key=key,
            description=spec.description,
            generate_secret_string=secretsmanager.SecretStringGenerator(
                exclude_punctuation=True, include_space=False, password_length=spec.length
            ),
            removal_policy=RETAINED,
        )
        name_exactly(secret, spec.name)
        return secret

    def _outputs(self, resources: Resources) -> None:
        output(self, RELEASE_OUTPUT, PRODUCT_VERSION, "The release that was deployed last")
        output(
            self,
            "AdminApiKeySecret",
            resources.secrets[ADMIN_API_KEY.name].secret_arn,
            "The secret that holds the administrator's API key, once bootstrap has run",
        )
        for name, bucket, description in (
            ("AssetBucketName", ASSET_BUCKET, "The bucket of all files of assets"),
            ("FailureBucketName", FAILURE_BUCKET, "What could not be indexed, until replayed"),
        ):
            output(self, name, resources.buckets[bucket.name].bucket_name, description)

    def _export(self, resources: Resources) -> None:
        """Export all attributes that other stacks may refer to, whether or not they do."""
        if resources.key is not None:
            export(self, resources.key.key_arn, resources.key.key_id)
        for table in resources.tables.values():
            export(self, table.table_name, table.table_arn)
            if table.table_stream_arn is not None:
                export(self, table.table_stream_arn)
        for bucket in resources.buckets.values():
            export(self, bucket.bucket_name, bucket.bucket_arn)
        for secret in resources.secrets.values():
            export(self, secret.secret_arn)
        for topic in resources.topics.values():
            export(self, topic.topic_arn)
        pool, client = resources.user_pool, resources.user_pool_client
        if pool is not None and client is not None:
            export(self, pool.user_pool_id, pool.user_pool_arn, client.user_pool_client_id)
