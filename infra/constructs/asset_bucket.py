"""An S3 bucket as declared: private, TLS only, logged, with its lifecycle and events."""

from typing import cast

from aws_cdk import Duration
from aws_cdk import aws_cloudtrail as cloudtrail
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from backend.spec.buckets import ABORT_MULTIPART_DAYS, Bucket
from backend.spec.key_layouts import CLOUDTRAIL_LOG_PREFIX
from infra.constructs.naming import name_exactly
from infra.constructs.updates import RETAINED


def declared_bucket(
    scope: Construct,
    spec: Bucket,
    *,
    key: kms.IKey | None,
    logs: s3.Bucket | None,
    web_origins: tuple[str, ...],
    lock: s3.ObjectLockRetention | None = None,
) -> s3.Bucket:
    """Return the bucket, which is retained.

    Access logs go to `logs`, and pages of `web_origins` may use it.

    With `lock` every version of an object is protected for that time; S3 requires versioning for
    locks.
    """
    logged = spec.log_prefix is not None and logs is not None
    bucket = s3.Bucket(
        scope,
        spec.name,
        versioned=spec.versioned or lock is not None,
        object_lock_enabled=True if lock else None,
        object_lock_default_retention=lock,
        enforce_ssl=True,
        block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
        object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
        encryption=s3.BucketEncryption.KMS if key else s3.BucketEncryption.S3_MANAGED,
        encryption_key=key,
        bucket_key_enabled=True if key else None,
        removal_policy=RETAINED,
        server_access_logs_bucket=logs if logged else None,
        server_access_logs_prefix=spec.log_prefix if logged else None,
        lifecycle_rules=_lifecycle(spec),
        cors=_cors(web_origins) if spec.cors and web_origins else None,
    )
    name_exactly(bucket, spec.name)
    if spec.events:
        _send_events(bucket)
    return bucket


def declared_trail(scope: Construct, *, logs: s3.Bucket) -> None:
    """Record the account's management calls of all regions below CloudTrail's prefix in `logs`."""
    # The plain resource: CDK's construct would add its own statements to the bucket's policy.
    trail = cloudtrail.CfnTrail(
        scope,
        "Trail",
        is_logging=True,
        is_multi_region_trail=True,
        include_global_service_events=True,
        enable_log_file_validation=True,
        s3_bucket_name=logs.bucket_name,
        s3_key_prefix=CLOUDTRAIL_LOG_PREFIX.removesuffix("/"),
    )
    if logs.policy is not None:  # CloudTrail tests the bucket when the trail is created
        trail.node.add_dependency(logs.policy)


def accept_cloudtrail(bucket: s3.Bucket, *, account: str) -> None:
    """Let CloudTrail write its logs below its prefix, if the stage has a trail."""
    service = cast("iam.IPrincipal", iam.ServicePrincipal("cloudtrail.amazonaws.com"))
    of_account = {"StringEquals": {"aws:SourceAccount": account}}
    bucket.add_to_resource_policy(
        iam.PolicyStatement(
            principals=[service],
            actions=["s3:GetBucketAcl"],
            resources=[bucket.bucket_arn],
            conditions=of_account,
        )
    )
    bucket.add_to_resource_policy(
        iam.PolicyStatement(
            principals=[service],
            actions=["s3:PutObject"],
            resources=[bucket.arn_for_objects(f"{CLOUDTRAIL_LOG_PREFIX}AWSLogs/{account}/*")],
            conditions=of_account,
        )
    )


def _send_events(bucket: s3.Bucket) -> None:
    # The property itself: the construct's own option would add a custom resource.
    resource = bucket.node.default_child
    if not isinstance(resource, s3.CfnBucket):
        raise TypeError(f"{bucket.node.path} is not a bucket")
    resource.notification_configuration = s3.CfnBucket.NotificationConfigurationProperty(
        event_bridge_configuration=s3.CfnBucket.EventBridgeConfigurationProperty(
            event_bridge_enabled=True
        )
    )


def _lifecycle(spec: Bucket) -> list[s3.LifecycleRule]:
    rules = [
        s3.LifecycleRule(
            id="abort-incomplete-multipart-uploads",
            abort_incomplete_multipart_upload_after=Duration.days(ABORT_MULTIPART_DAYS),
        )
    ]
    if spec.expire_days is not None:
        rules.append(_expiry(spec, prefix=None, days=spec.expire_days))
    for prefix, days in spec.expire_prefixes:
        rules.append(_expiry(spec, prefix=prefix, days=days))
        if spec.versioned:  # S3 accepts this flag only in a rule without an expiry
            rules.append(
                s3.LifecycleRule(
                    id=f"remove-markers-of-{prefix.strip('/')}",
                    prefix=prefix,
                    expired_object_delete_marker=True,
                )
            )
    return rules


def _expiry(spec: Bucket, *, prefix: str | None, days: int) -> s3.LifecycleRule:
    return s3.LifecycleRule(
        id=f"expire-{prefix.strip('/')}" if prefix else "expire",
        prefix=prefix,
        expiration=Duration.days(days),
        noncurrent_version_expiration=Duration.days(1) if spec.versioned else None,
    )


def _cors(web_origins: tuple[str, ...]) -> list[s3.CorsRule]:
    """Let browsers use presigned URLs, which contain the permission; no cookies are used."""
    exposed = ["ETag", "x-amz-version-id", "x-amz-checksum-sha256"]
    reads = s3.CorsRule(
        # After the API's redirect to S3 a browser sends `Origin: null`, which no list can contain.
        allowed_origins=["*"],
        allowed_methods=[s3.HttpMethods.GET, s3.HttpMethods.HEAD],
        allowed_headers=["*"],
        exposed_headers=[*exposed, "Accept-Ranges", "Content-Length", "Content-Range"],
        max_age=3600,
    )
    writes = s3.CorsRule(
        allowed_origins=list(web_origins),
        allowed_methods=[s3.HttpMethods.PUT],
        allowed_headers=["*"],
        exposed_headers=exposed,
        max_age=3600,
    )
    return [reads, writes]
