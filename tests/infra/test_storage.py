"""The storage stack: every declared table, bucket and secret, retained and private."""

from typing import Any

import pytest

from backend.spec.buckets import (
    ABORT_MULTIPART_DAYS,
    ACCESS_LOGS_BUCKET,
    AUDIT_ARCHIVE_BUCKET,
    BUCKETS,
    Bucket,
)
from backend.spec.key_layouts import CLOUDTRAIL_LOG_PREFIX
from backend.spec.secrets import SECRETS
from backend.spec.tables import TABLES, Table
from local.assembly import read_assembly
from local.deployment import refuse_unknown_types
from tests.factories.tables import create_table_request
from tests.infra.contexts import WEB_URL
from tests.infra.templates import Assembly

TRAIL = "AWS::CloudTrail::Trail"
KEPT = ("AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::SecretsManager::Secret", "AWS::KMS::Key")


def _by_name(key: str, entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(entries, key=lambda entry: str(entry[key]))


def _comparable(request: dict[str, Any]) -> dict[str, Any]:
    """A table's properties, with lists in one order if their order has no meaning."""
    found = dict(request)
    found["AttributeDefinitions"] = _by_name("AttributeName", found["AttributeDefinitions"])
    for indexes in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        if indexes in found:
            found[indexes] = _by_name("IndexName", found[indexes])
    return found


def _expected(table: Table) -> dict[str, Any]:
    expected = create_table_request(table, "")
    del expected["TableName"]  # CloudFormation chooses it
    if table.stream:
        expected["StreamSpecification"] = {"StreamViewType": table.stream}
    if table.ttl:
        expected["TimeToLiveSpecification"] = {"AttributeName": table.ttl, "Enabled": True}
    return _comparable(
        expected
        | {
            "DeletionProtectionEnabled": True,
            "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
        }
    )


def test_the_tables_are_exactly_those_declared(assembly: Assembly) -> None:
    assert set(assembly.of_type("AWS::DynamoDB::Table")) == {table.name for table in TABLES}


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_a_table_has_the_declared_keys_indexes_stream_and_protection(
    assembly: Assembly, table: Table
) -> None:
    found = _comparable(assembly.resource(table.name).properties)
    found.pop("SSESpecification", None)
    assert found == _expected(table)


def _encryption(assembly: Assembly, bucket: Bucket) -> list[dict[str, Any]]:
    encryption = assembly.resource(bucket.name).properties["BucketEncryption"]
    return encryption["ServerSideEncryptionConfiguration"]


def test_whatever_holds_data_outlives_its_stack(assembly: Assembly) -> None:
    kept = [resource for resource in assembly.all if resource.type in KEPT]
    assert len(kept) >= len(TABLES) + len(BUCKETS) + len(SECRETS)
    for resource in kept:
        assert resource.stack == "storage"
        assert resource.body["DeletionPolicy"] == "RetainExceptOnCreate", resource.name
        assert resource.body["UpdateReplacePolicy"] == "Retain", resource.name


def test_the_storage_stack_cannot_be_deleted_by_mistake(assembly: Assembly) -> None:
    (storage,) = (a for n, a in assembly.manifest["artifacts"].items() if n.endswith("-storage"))
    assert storage["properties"]["terminationProtection"] is True


def test_the_buckets_are_exactly_those_declared(assembly: Assembly) -> None:
    assert set(assembly.of_type("AWS::S3::Bucket")) == {bucket.name for bucket in BUCKETS}


@pytest.mark.parametrize("bucket", BUCKETS, ids=lambda bucket: bucket.name)
def test_a_bucket_is_private_encrypted_and_versioned_as_declared(
    assembly: Assembly, bucket: Bucket
) -> None:
    properties = assembly.resource(bucket.name).properties
    assert properties["PublicAccessBlockConfiguration"] == {
        "BlockPublicAcls": True,
        "BlockPublicPolicy": True,
        "IgnorePublicAcls": True,
        "RestrictPublicBuckets": True,
    }
    assert properties["OwnershipControls"] == {
        "Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]
    }
    assert len(_encryption(assembly, bucket)) == 1
    assert ("VersioningConfiguration" in properties) == bucket.versioned
    if bucket.versioned:
        assert properties["VersioningConfiguration"] == {"Status": "Enabled"}


def _policy(assembly: Assembly, bucket: Bucket) -> list[dict[str, Any]]:
    (policy,) = (
        policy
        for policy in assembly.of_type("AWS::S3::BucketPolicy").values()
        if assembly.text(policy.properties["Bucket"]) == f"<{bucket.name}>"
    )
    return policy.properties["PolicyDocument"]["Statement"]


@pytest.mark.parametrize("bucket", BUCKETS, ids=lambda bucket: bucket.name)
def test_a_bucket_refuses_whatever_comes_without_tls(assembly: Assembly, bucket: Bucket) -> None:
    denials = [s for s in _policy(assembly, bucket) if s["Effect"] == "Deny"]
    (denied,) = (s for s in denials if "Bool" in s["Condition"])
    assert denied["Action"] == "s3:*"
    assert denied["Principal"] == {"AWS": "*"}
    assert denied["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    assert set(assembly.texts(denied["Resource"])) == {
        f"<{bucket.name}.Arn>",
        f"<{bucket.name}.Arn>/*",
    }


def test_only_the_log_services_are_allowed_by_a_bucket_policy(assembly: Assembly) -> None:
    for bucket in BUCKETS:
        allowed = [s for s in _policy(assembly, bucket) if s["Effect"] == "Allow"]
        services = {statement["Principal"]["Service"] for statement in allowed}
        expected = {"logging.s3.amazonaws.com", "cloudtrail.amazonaws.com"}
        assert services == (expected if bucket is ACCESS_LOGS_BUCKET else set())
        for statement in allowed:
            account = statement["Condition"]["StringEquals"]["aws:SourceAccount"]
            assert assembly.text(account) == "<AWS::AccountId>"


@pytest.mark.parametrize("bucket", BUCKETS, ids=lambda bucket: bucket.name)
def test_access_logs_go_below_the_declared_prefix(assembly: Assembly, bucket: Bucket) -> None:
    properties = assembly.resource(bucket.name).properties
    assert (bucket.log_prefix is None) == (bucket is ACCESS_LOGS_BUCKET)
    assert ("LoggingConfiguration" in properties) == (bucket.log_prefix is not None)
    if bucket.log_prefix is not None:
        logging = properties["LoggingConfiguration"]
        assert logging["LogFilePrefix"] == bucket.log_prefix
        assert assembly.text(logging["DestinationBucketName"]) == f"<{ACCESS_LOGS_BUCKET.name}>"


def test_the_log_bucket_lets_each_source_write_below_its_own_prefix(assembly: Assembly) -> None:
    written = {
        path
        for statement in _policy(assembly, ACCESS_LOGS_BUCKET)
        if statement["Effect"] == "Allow" and statement["Action"] == "s3:PutObject"
        for path in assembly.texts(statement["Resource"])
    }
    arn = f"<{ACCESS_LOGS_BUCKET.name}.Arn>"
    by_buckets = {f"{arn}/{bucket.log_prefix}*" for bucket in BUCKETS if bucket.log_prefix}
    by_trails = {f"{arn}/{CLOUDTRAIL_LOG_PREFIX}AWSLogs/<AWS::AccountId>/*"}
    assert written == by_buckets | by_trails


def test_no_stage_has_a_trail_unless_it_enables_one(assembly: Assembly) -> None:
    assert not assembly.of_type(TRAIL)


def test_a_trail_writes_where_the_log_bucket_lets_it(locked: Assembly) -> None:
    (trail,) = locked.of_type(TRAIL).values()
    properties = dict(trail.properties)
    assert locked.text(properties.pop("S3BucketName")) == f"<{ACCESS_LOGS_BUCKET.name}>"
    assert properties.pop("S3KeyPrefix") + "/" == CLOUDTRAIL_LOG_PREFIX
    assert properties == {
        "IsLogging": True,
        "IsMultiRegionTrail": True,
        "IncludeGlobalServiceEvents": True,
        "EnableLogFileValidation": True,
    }
    # CloudTrail refuses a trail whose bucket does not allow it to write yet.
    policies = locked.of_type("AWS::S3::BucketPolicy").items()
    (policy,) = (
        name
        for name, each in policies
        if locked.text(each.properties["Bucket"]) == f"<{ACCESS_LOGS_BUCKET.name}>"
    )
    assert policy in trail.body["DependsOn"]


def test_the_local_runtime_supports_the_type_of_every_resource(locked: Assembly) -> None:
    refuse_unknown_types(read_assembly(locked.folder))


@pytest.mark.parametrize("bucket", BUCKETS, ids=lambda bucket: bucket.name)
def test_a_bucket_expires_what_is_declared_and_nothing_else(
    assembly: Assembly, bucket: Bucket
) -> None:
    rules = assembly.resource(bucket.name).properties["LifecycleConfiguration"]["Rules"]
    assert all(rule["Status"] == "Enabled" for rule in rules)
    expiring = {r.get("Prefix"): r["ExpirationInDays"] for r in rules if "ExpirationInDays" in r}
    declared: dict[str | None, int] = dict(bucket.expire_prefixes)
    if bucket.expire_days is not None:
        declared[None] = bucket.expire_days
    assert expiring == declared
    old_versions = {r.get("Prefix") for r in rules if "NoncurrentVersionExpiration" in r}
    assert old_versions == (set(declared) if bucket.versioned else set[str | None]())


@pytest.mark.parametrize("bucket", BUCKETS, ids=lambda bucket: bucket.name)
def test_unfinished_multipart_uploads_are_abandoned(assembly: Assembly, bucket: Bucket) -> None:
    rules = assembly.resource(bucket.name).properties["LifecycleConfiguration"]["Rules"]
    aborting = [rule for rule in rules if "AbortIncompleteMultipartUpload" in rule]
    assert [rule["AbortIncompleteMultipartUpload"] for rule in aborting] == [
        {"DaysAfterInitiation": ABORT_MULTIPART_DAYS}
    ]
    assert "Prefix" not in aborting[0]


def test_no_bucket_is_locked_unless_the_stage_sets_it(assembly: Assembly) -> None:
    for bucket in assembly.of_type("AWS::S3::Bucket").values():
        assert not [name for name in bucket.properties if name.startswith("ObjectLock")]


def test_the_audit_archive_alone_is_locked_where_the_stage_sets_it(locked: Assembly) -> None:
    for name, bucket in locked.of_type("AWS::S3::Bucket").items():
        if name != AUDIT_ARCHIVE_BUCKET.name:
            assert "ObjectLockEnabled" not in bucket.properties
            continue
        assert bucket.properties["ObjectLockEnabled"] is True
        assert bucket.properties["ObjectLockConfiguration"] == {
            "ObjectLockEnabled": "Enabled",
            "Rule": {"DefaultRetention": {"Mode": "COMPLIANCE", "Days": 2555}},
        }
        assert bucket.properties["VersioningConfiguration"] == {"Status": "Enabled"}
        # Protected objects must not expire either.
        rules = bucket.properties["LifecycleConfiguration"]["Rules"]
        assert not [rule for rule in rules if "ExpirationInDays" in rule]


def test_no_function_may_go_around_the_lock(locked: Assembly) -> None:
    for role in locked.of_type("AWS::IAM::Role").values():
        for actions, _ in locked.statements(role):
            assert not [one for one in actions if "Retention" in one or "LegalHold" in one]


@pytest.mark.parametrize("bucket", BUCKETS, ids=lambda bucket: bucket.name)
def test_events_reach_where_declared_and_browsers_reach_no_bucket(
    assembly: Assembly, bucket: Bucket
) -> None:
    properties = assembly.resource(bucket.name).properties
    events = {"EventBridgeConfiguration": {"EventBridgeEnabled": True}}
    assert properties.get("NotificationConfiguration") == (events if bucket.events else None)
    assert "CorsConfiguration" not in properties  # the stages name no page


@pytest.mark.parametrize("bucket", BUCKETS, ids=lambda bucket: bucket.name)
def test_only_the_named_page_may_write_to_the_buckets_that_declare_it(
    hardened: Assembly, bucket: Bucket
) -> None:
    properties = hardened.resource(bucket.name).properties
    assert ("CorsConfiguration" in properties) == bucket.cors
    if bucket.cors:
        reads, writes = properties["CorsConfiguration"]["CorsRules"]
        # After the API's redirect a browser sends `Origin: null`: the URL carries the permission.
        assert (reads["AllowedOrigins"], writes["AllowedOrigins"]) == (["*"], [WEB_URL])
        assert (reads["AllowedMethods"], writes["AllowedMethods"]) == (["GET", "HEAD"], ["PUT"])
        assert "Content-Range" in reads["ExposedHeaders"]
        assert "ETag" in writes["ExposedHeaders"]  # the number of a part does not prove its content


def test_secrets_are_generated_and_in_no_template(assembly: Assembly) -> None:
    found = assembly.of_type("AWS::SecretsManager::Secret")
    assert set(found) == {secret.name for secret in SECRETS}
    for secret in SECRETS:
        properties = found[secret.name].properties
        assert "SecretString" not in properties
        assert properties["GenerateSecretString"] == {
            "ExcludePunctuation": True,
            "IncludeSpace": False,
            "PasswordLength": secret.length,
        }
