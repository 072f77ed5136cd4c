"""One customer-managed key encrypts all resources that support it."""

from typing import Any

import pytest

from backend.spec.buckets import ACCESS_LOGS_BUCKET, BUCKETS
from backend.spec.functions import FUNCTIONS
from backend.spec.queues import QUEUES
from backend.spec.secrets import SECRETS
from backend.spec.tables import TABLES
from tests.infra.templates import Assembly

ENCRYPTED = {
    "AWS::DynamoDB::Table": {table.name for table in TABLES},
    "AWS::S3::Bucket": {bucket.name for bucket in BUCKETS},
    "AWS::SQS::Queue": {f"{q.name}{end}" for q in QUEUES for end in ("", "DeadLetters")},
    "AWS::SecretsManager::Secret": {secret.name for secret in SECRETS},
    "AWS::Logs::LogGroup": {f"{spec.name}Logs" for spec in FUNCTIONS}
    | {"ApiAccessLogs", "ExecutionsLogs"},
    "AWS::OpenSearchService::Domain": {"SearchDomain"},
}
"""Every resource that stores data, by its type, from the declarations."""
NAMES = sorted(name for names in ENCRYPTED.values() for name in names)


def _key_of(assembly: Assembly, name: str) -> Any:
    resource = assembly.resource(name)
    properties = resource.properties
    match resource.type:
        case "AWS::DynamoDB::Table":
            return properties.get("SSESpecification", {}).get("KMSMasterKeyId")
        case "AWS::S3::Bucket":
            (rule,) = properties["BucketEncryption"]["ServerSideEncryptionConfiguration"]
            by_default = rule["ServerSideEncryptionByDefault"]
            encrypted = by_default["SSEAlgorithm"] == "aws:kms"
            assert encrypted or by_default == {"SSEAlgorithm": "AES256"}
            return by_default.get("KMSMasterKeyID")
        case "AWS::SQS::Queue":
            assert ("SqsManagedSseEnabled" in properties) != ("KmsMasterKeyId" in properties)
            return properties.get("KmsMasterKeyId")
        case "AWS::OpenSearchService::Domain":
            return properties["EncryptionAtRestOptions"].get("KmsKeyId")
        case _:
            return properties.get("KmsKeyId")


def test_nothing_keeps_data_but_what_is_listed_here(prod: Assembly) -> None:
    for kind, names in ENCRYPTED.items():
        assert set(prod.of_type(kind)) == names


def test_whatever_keeps_data_is_encrypted_by_the_key(
    prod: Assembly, subtests: pytest.Subtests
) -> None:
    for name in NAMES:
        with subtests.test(name):
            key = _key_of(prod, name)
            if name == ACCESS_LOGS_BUCKET.name:  # S3 delivers access logs to no other
                assert key is None
            else:
                assert prod.text(key) in {"<DataKey.Arn>", "<DataKey>"}


def test_without_a_key_of_the_customer_nothing_names_one(small: Assembly) -> None:
    assert not small.of_type("AWS::KMS::Key")
    assert [name for name in NAMES if _key_of(small, name) is not None] == []
