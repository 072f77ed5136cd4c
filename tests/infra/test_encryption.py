"""One customer-managed key encrypts all resources that support it, and no others may use it."""

from collections.abc import Callable
from typing import Any

import pytest

from backend.spec.buckets import ACCESS_LOGS_BUCKET, ASSET_BUCKET, BUCKETS
from backend.spec.functions import FUNCTIONS, Function
from backend.spec.queues import QUEUES, STREAM_SUBSCRIPTIONS
from backend.spec.requests import BUCKET_WRITES, TABLE_WRITES
from backend.spec.secrets import SECRETS
from backend.spec.tables import TABLES
from tests.infra.contexts import IMPORTED_KEY
from tests.infra.templates import Assembly

KEY = "<DataKey.Arn>"
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
KEPT = sorted((kind, name) for kind, names in ENCRYPTED.items() for name in names)


def _key_of(assembly: Assembly, name: str) -> Any:
    resource = assembly.resource(name)
    properties = resource.properties
    match resource.type:
        case "AWS::DynamoDB::Table":
            assert properties["SSESpecification"]["SSEEnabled"] is True
            assert properties["SSESpecification"]["SSEType"] == "KMS"
            return properties["SSESpecification"]["KMSMasterKeyId"]
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


def test_nothing_keeps_data_but_what_is_listed_here(assembly: Assembly) -> None:
    for kind, names in ENCRYPTED.items():
        assert set(assembly.of_type(kind)) == names


def test_whatever_keeps_data_is_encrypted_by_the_key(
    assembly: Assembly, subtests: pytest.Subtests
) -> None:
    for kind, name in KEPT:
        with subtests.test(name):
            assert assembly.resource(name).type == kind
            key = _key_of(assembly, name)
            if name == ACCESS_LOGS_BUCKET.name:  # S3 delivers access logs to no other
                assert key is None
            else:
                assert assembly.text(key) in {KEY, "<DataKey>"}


def test_the_key_is_kept_and_rotated(assembly: Assembly) -> None:
    assert set(assembly.of_type("AWS::KMS::Key")) == {"DataKey"}
    assert assembly.resource("DataKey").properties["EnableKeyRotation"] is True


def test_only_logs_and_rules_use_the_key_without_a_caller(assembly: Assembly) -> None:
    policy = assembly.resource("DataKey").properties["KeyPolicy"]["Statement"]
    services = {
        assembly.text(statement["Principal"]["Service"]): statement
        for statement in policy
        if "Service" in statement["Principal"]
    }
    logs, rules = "logs.<AWS::Region>.amazonaws.com", "events.amazonaws.com"
    assert set(services) == {logs, rules}
    context = services[logs]["Condition"]["ArnLike"]["kms:EncryptionContext:aws:logs:arn"]
    assert assembly.text(context).endswith(":<AWS::AccountId>:log-group:*")
    account = services[rules]["Condition"]["StringEquals"]["aws:SourceAccount"]
    assert assembly.text(account) == "<AWS::AccountId>"


def _uses(assembly: Assembly, spec: Function) -> dict[str, set[str]]:
    """The actions on the key by the service through which they are allowed."""
    found: dict[str, set[str]] = {}
    (policy,) = assembly.resource(f"{spec.name}Role").properties["Policies"]
    for statement in policy["PolicyDocument"]["Statement"]:
        actions: list[str] = (
            statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
        )
        if not actions[0].startswith("kms:"):
            continue
        assert assembly.texts(statement["Resource"]) == [KEY]
        ((operator, keys),) = statement["Condition"].items()
        assert (operator, list(keys)) == ("StringEquals", ["kms:ViaService"])
        for service in assembly.texts(keys["kms:ViaService"]):
            name, _, rest = service.partition(".")
            assert rest == "<AWS::Region>.<AWS::URLSuffix>"
            found.setdefault(name, set()).update(actions)
    return found


def test_a_function_uses_the_key_through_the_services_that_it_declares(
    assembly: Assembly, subtests: pytest.Subtests
) -> None:
    for spec in FUNCTIONS:
        with subtests.test(spec.name):
            consumed = any(s.consumer == spec.name for s in STREAM_SUBSCRIPTIONS)
            used = _uses(assembly, spec)
            assert ("dynamodb" in used) == bool(spec.tables or consumed)
            of_buckets = {request for bucket in spec.buckets for request in spec.uses[bucket]}
            of_tables = {request for table in spec.tables for request in spec.uses[table]}
            assert ("s3" in used) == bool(of_buckets)
            assert ("kms:Decrypt" in used.get("s3", set())) == bool(of_buckets - {"PutObject"})
            assert ("sqs" in used) == bool(spec.sends or spec.receives or spec.redrives)
            assert ("secretsmanager" in used) == bool(spec.secrets)
            changed, stored = of_tables & set(TABLE_WRITES), of_buckets & set(BUCKET_WRITES)
            assert ("kms:Encrypt" in used.get("dynamodb", set())) == bool(changed)
            assert ("kms:GenerateDataKey" in used.get("s3", set())) == bool(stored)


def test_without_a_key_of_the_customer_nothing_names_one(
    synthesized: Callable[[str], Assembly],
) -> None:
    found = synthesized("without-key")
    assert not found.of_type("AWS::KMS::Key")
    for kind, name in KEPT:
        if kind != "AWS::DynamoDB::Table":
            assert _key_of(found, name) is None, name
        else:
            assert "SSESpecification" not in found.resource(name).properties
    for spec in FUNCTIONS:
        assert not _uses(found, spec)


def test_functions_use_the_keys_of_imported_buckets_for_files_through_s3_only(
    synthesized: Callable[[str], Assembly], prod: Assembly, subtests: pytest.Subtests
) -> None:
    for spec in FUNCTIONS:
        with subtests.test(spec.name):
            found = _about_imported_keys(synthesized("locked"), spec)
            requests = set(spec.uses.get(ASSET_BUCKET, ()))
            reads, writes = requests - {"PutObject"}, requests & set(BUCKET_WRITES)
            actions = {
                *(["kms:Decrypt"] if reads else []),
                *(["kms:GenerateDataKey"] if writes else []),
            }
            assert {action for statement in found for action in statement["Action"]} == actions
            for statement in found:
                (via,) = statement["Condition"]["StringEquals"].values()
                assert synthesized("locked").text(via) == "s3.<AWS::Region>.<AWS::URLSuffix>"
            assert _about_imported_keys(prod, spec) == []


def _about_imported_keys(assembly: Assembly, spec: Function) -> list[dict[str, Any]]:
    (policy,) = assembly.resource(f"{spec.name}Role").properties["Policies"]
    statements = policy["PolicyDocument"]["Statement"]
    found = [each for each in statements if each["Resource"] == IMPORTED_KEY]
    for each in found:
        each["Action"] = [each["Action"]] if isinstance(each["Action"], str) else each["Action"]
    return found
