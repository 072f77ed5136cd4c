"""Reading an assembly, CloudFormation's functions, and names of resources."""

import json
import string
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import boto3
import pytest
from hypothesis import given
from hypothesis import strategies as st
from moto import mock_aws
from pydantic import JsonValue

from local import arns
from local.assembly import Resource, read_assembly
from local.clients import Clients
from local.deployment import deploy, engines_of
from local.errors import AssemblyError, LocalError
from local.intrinsics import Scope, UnresolvableError, holds, references, resolve
from local.plan import Plan
from local.resources import cognito, sns
from local.resources.base import Context
from local.resources.cognito import create_user_pool, create_user_pool_client
from local.resources.secretsmanager import Generate, generate_password
from local.resources.sns import create_topic

_Template = dict[str, object]


def _write(folder: Path, stacks: dict[str, tuple[_Template, list[str]]]) -> Path:
    artifacts: dict[str, object] = {}
    for name, (template, needs) in stacks.items():
        (folder / f"{name}.json").write_text(json.dumps(template), encoding="utf-8")
        artifacts[name] = {
            "type": "aws:cloudformation:stack",
            "properties": {"templateFile": f"{name}.json"},
            "dependencies": needs,
        }
    (folder / "manifest.json").write_text(json.dumps({"artifacts": artifacts}), encoding="utf-8")
    return folder


def _deploy(folder: Path) -> None:
    deploy(read_assembly(folder), cast("Context", None))  # fails before anything is created


def test_stacks_and_resources_come_after_what_they_need(tmp_path: Path) -> None:
    late: _Template = {
        "Resources": {
            "A": {"Type": "T", "Properties": {"x": {"Fn::GetAtt": ["B", "Arn"]}}},
            "B": {"Type": "T", "DependsOn": "C"},
            "C": {"Type": "T"},
        }
    }
    folder = _write(tmp_path, {"late": (late, ["early"]), "early": ({"Resources": {}}, [])})

    assembly = read_assembly(folder)

    assert [stack.name for stack in assembly.stacks] == ["early", "late"]
    assert [r.logical_id for r in assembly.stacks[1].in_order()] == ["C", "B", "A"]


def test_a_circle_is_named(tmp_path: Path) -> None:
    template: _Template = {
        "Resources": {
            "A": {"Type": "T", "Properties": {"x": {"Ref": "B"}}},
            "B": {"Type": "T", "DependsOn": ["A"]},
        }
    }
    (stack,) = read_assembly(_write(tmp_path, {"s": (template, [])})).stacks

    with pytest.raises(LocalError, match="refer to each other"):
        list(stack.in_order())


def test_assets_are_found_by_their_key(tmp_path: Path) -> None:
    manifest = {
        "files": {
            "1": {
                "source": {"path": "asset.1", "packaging": "zip"},
                "destinations": {"d": {"bucketName": "b", "objectKey": "1.zip"}},
            }
        }
    }
    (tmp_path / "s.assets.json").write_text(json.dumps(manifest), encoding="utf-8")
    artifacts = {"s": {"type": "cdk:asset-manifest", "properties": {"file": "s.assets.json"}}}
    (tmp_path / "manifest.json").write_text(json.dumps({"artifacts": artifacts}), encoding="utf-8")

    assert read_assembly(tmp_path).assets == {"1.zip": tmp_path / "asset.1"}


def test_a_folder_without_a_manifest_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LocalError, match=r"manifest\.json is missing"):
        read_assembly(tmp_path)


def test_a_type_that_is_not_known_is_named(tmp_path: Path) -> None:
    template: _Template = {"Resources": {"Machine": {"Type": "AWS::EC2::Instance"}}}

    with pytest.raises(AssemblyError, match=r"s/Machine \(AWS::EC2::Instance\)"):
        _deploy(_write(tmp_path, {"s": (template, [])}))


@pytest.mark.parametrize(
    ("properties", "fact"),
    [
        ({"Description": {"Fn::Transform": {"Name": "x"}}}, "Fn::Transform"),
        ({"Description": {"Ref": "Nowhere"}}, "Nowhere"),
        ({"Description": {"Fn::ImportValue": "other"}}, "no stack before s exports other"),
    ],
)
def test_what_cannot_be_resolved_is_named_with_its_place(
    tmp_path: Path, properties: _Template, fact: str
) -> None:
    template: _Template = {"Resources": {"R": {"Type": "AWS::IAM::Role", "Properties": properties}}}

    with pytest.raises(AssemblyError, match=r"s/R \(AWS::IAM::Role\)") as caught:
        _deploy(_write(tmp_path, {"s": (template, [])}))
    assert fact in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "properties", "fact"),
    [
        ("AWS::ApiGatewayV2::Api", {"Name": "a", "ProtocolType": "WEBSOCKET"}, "ProtocolType"),
        ("AWS::DynamoDB::Table", {"ImportSourceSpecification": {}}, "ImportSourceSpecification"),
        ("AWS::S3::Bucket", {"ReplicationConfiguration": {}}, "ReplicationConfiguration"),
        ("AWS::Events::Rule", {"EventBusName": "mine"}, "EventBusName"),
    ],
)
def test_a_property_that_is_not_known_is_an_error(
    tmp_path: Path, kind: str, properties: _Template, fact: str
) -> None:
    template: _Template = {"Resources": {"R": {"Type": kind, "Properties": properties}}}

    with pytest.raises(AssemblyError, match=fact):
        _deploy(_write(tmp_path, {"s": (template, [])}))


def test_an_assembly_needs_the_engines_of_what_it_declares_and_moto(tmp_path: Path) -> None:
    def needed(*kinds: str) -> frozenset[str]:
        resources = {f"R{number}": {"Type": kind} for number, kind in enumerate(kinds)}
        return engines_of(read_assembly(_write(tmp_path, {"s": ({"Resources": resources}, [])})))

    assert needed("AWS::IAM::Role", "AWS::SecretsManager::Secret") == {"aws"}
    assert needed("AWS::S3::Bucket") == {"aws", "s3"}
    assert needed("AWS::DynamoDB::Table", "AWS::SQS::Queue") == {"aws", "dynamodb", "queues"}
    assert needed("AWS::OpenSearchService::Domain") == {"aws", "opensearch"}


_ATTRIBUTES = {("Table", "Arn"): "arn:table", ("Domain", "Endpoint"): "host:1"}
_CONDITIONS: dict[str, JsonValue] = {
    "IsLocal": {"Fn::Equals": [{"Ref": "Stage"}, "local"]},
    "IsNot": {"Fn::Not": [{"Condition": "IsLocal"}]},
    "Either": {"Fn::Or": [{"Condition": "IsNot"}, {"Condition": "IsLocal"}]},
    "Both": {"Fn::And": [{"Condition": "IsNot"}, {"Condition": "IsLocal"}]},
}


def _ref(name: str) -> JsonValue:
    known: dict[str, JsonValue] = {"Table": "the-table", "Stage": "local", "List": ["a", "b"]}
    if name not in known:
        raise UnresolvableError(f"no {name}")
    return known[name]


def _attribute(name: str, wanted: str) -> JsonValue:
    return _ATTRIBUTES[name, wanted]


def _imported(name: str) -> JsonValue:
    return f"imported {name}"


_SCOPE = Scope("stack", _ref, _attribute, _imported, _CONDITIONS, {"Map": {"a": {"b": "mapped"}}})


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ({"Ref": "Table"}, "the-table"),
        ({"Ref": "AWS::Region"}, "us-east-1"),
        ({"Ref": "AWS::StackName"}, "stack"),
        ({"Fn::GetAtt": ["Table", "Arn"]}, "arn:table"),
        ({"Fn::GetAtt": "Domain.Endpoint"}, "host:1"),
        ({"Fn::Join": ["-", ["a", {"Ref": "Table"}, 1]]}, "a-the-table-1"),
        ({"Fn::Join": [",", {"Ref": "List"}]}, "a,b"),
        ({"Fn::Sub": "${Table}/${Domain.Endpoint}/${!Kept}"}, "the-table/host:1/${Kept}"),
        ({"Fn::Sub": ["${Own}:${AWS::AccountId}", {"Own": {"Ref": "Table"}}]}, None),
        ({"Fn::Select": ["1", {"Fn::Split": [":", "arn:aws:sqs"]}]}, "aws"),
        ({"Fn::ImportValue": {"Fn::Sub": "x-${Stage}"}}, "imported x-local"),
        ({"Fn::FindInMap": ["Map", "a", "b"]}, "mapped"),
        ({"Fn::If": ["IsLocal", "yes", "no"]}, "yes"),
        ({"Fn::If": ["Both", "yes", "no"]}, "no"),
        ({"Fn::Base64": "text"}, "dGV4dA=="),
        ({"a": [{"Ref": "AWS::NoValue"}, 1], "b": {"Ref": "AWS::NoValue"}}, {"a": [1]}),
    ],
)
def test_an_expression_is_resolved(expression: JsonValue, expected: JsonValue) -> None:
    assert resolve(expression, _SCOPE) == (expected or "the-table:000000000000")


@pytest.mark.parametrize(
    "expression",
    [
        {"Fn::Cidr": ["10.0.0.0/8", 1, 8]},
        {"Fn::Select": [5, ["a"]]},
        {"Fn::Join": ["-", "text"]},
        {"Fn::FindInMap": ["Map", "a", "z"]},
        {"Fn::GetAtt": "NoDot"},
        {"Fn::If": ["NoSuch", 1, 2]},
        {"Ref": "Unknown"},
        {"Ref": "AWS::NoValue"},
    ],
)
def test_what_cannot_be_resolved_is_an_error(expression: JsonValue) -> None:
    with pytest.raises(UnresolvableError):
        resolve(expression, _SCOPE)


def test_conditions_are_combined() -> None:
    assert holds("Either", _SCOPE)
    assert not holds("Both", _SCOPE)


def test_references_are_found_wherever_they_stand() -> None:
    properties: JsonValue = {
        "a": [{"Ref": "One"}, {"Fn::GetAtt": ["Two", "Arn"]}],
        "b": {"Fn::Join": ["", [{"Fn::GetAtt": "Three.Arn"}]]},
        "c": {"Fn::Sub": ["${Four} ${Own} ${!No}", {"Own": {"Ref": "Five"}}]},
    }

    assert set(references(properties)) == {"One", "Two", "Three", "Four", "Five"}


@given(
    length=st.integers(8, 64),
    lower=st.booleans(),
    digits=st.booleans(),
    excluded=st.text(string.ascii_letters, max_size=5),
)
def test_a_password_has_the_required_characters(
    length: int, lower: bool, digits: bool, excluded: str
) -> None:
    generate = Generate(
        password_length=length,
        exclude_lowercase=lower,
        exclude_numbers=digits,
        exclude_punctuation=True,
        exclude_characters=excluded,
    )

    password = generate_password(generate)

    assert len(password) == length
    assert not set(password) & set(excluded)
    assert any(c.islower() for c in password) is not lower
    assert any(c.isdigit() for c in password) is not digits
    assert not set(password) & set(string.punctuation)


def test_bucket_names_are_valid_and_differ() -> None:
    long = "a-stack-with-a-name", "ALogicalIdThatIsLongerThanABucketsNameMayBeByFar"
    name = arns.bucket_name(*long)

    assert arns.bucket_name("Stack_1", "AssetBucket") == "stack-1-assetbucket"
    assert len(name) <= 63
    assert name == name.lower()
    assert name != arns.bucket_name(long[0], long[1] + "2")


def test_a_physical_name_keeps_to_the_limit() -> None:
    assert arns.physical_name("stack", "Function", limit=64) == "stack-Function"
    assert len(arns.physical_name("s" * 50, "f" * 50, limit=64)) == 64
    assert arns.stable_id("a", "b") == arns.stable_id("a", "b") != arns.stable_id("a", "c")


class Keys:
    """Return the published messages about keys."""

    def __init__(self) -> None:
        self.noted: dict[str, str | None] = {}

    def record_encryption_key(self, topic: str, key: str | None) -> None:
        self.noted[topic] = key


def topic(**properties: Any) -> Resource:
    return cast(
        "Resource",
        SimpleNamespace(
            stack="vitrine-local-storage",
            logical_id="Notifications",
            kind="AWS::SNS::Topic",
            properties=properties,
        ),
    )


@pytest.fixture
def topic_context() -> Any:
    clients = SimpleNamespace(sns=boto3.client("sns", region_name="us-east-1"))
    return SimpleNamespace(clients=clients, roles=Keys(), plan=Plan())


@mock_aws
def test_a_topic_has_the_same_arn_at_every_start_and_after_a_restart_of_its_engine(
    topic_context: Any,
) -> None:
    declared = topic(DisplayName="Vitrine", KmsMasterKeyId="key")
    made = create_topic(cast("Context", topic_context), declared)
    assert create_topic(cast("Context", topic_context), declared).ref == made.ref
    assert topic_context.roles.noted == {made.ref: "key"}
    topic_context.clients.sns.delete_topic(TopicArn=made.ref)
    sns.recreate(cast("Clients", topic_context.clients), topic_context.plan)
    listed = topic_context.clients.sns.list_topics()["Topics"]
    assert [topic["TopicArn"] for topic in listed] == [made.ref]


def pool_part(kind: str, **properties: Any) -> Resource:
    return cast(
        "Resource",
        SimpleNamespace(
            stack="vitrine-local-storage",
            logical_id=kind,
            kind=f"AWS::Cognito::{kind}",
            properties=properties,
        ),
    )


@pytest.fixture
def pool_context(monkeypatch: pytest.MonkeyPatch) -> Any:
    """As the runtime's engine is started: ids follow from names."""
    monkeypatch.setenv("MOTO_COGNITO_IDP_USER_POOL_ID_STRATEGY", "HASH")
    monkeypatch.setenv("MOTO_COGNITO_IDP_USER_POOL_CLIENT_ID_STRATEGY", "HASH")
    clients = SimpleNamespace(cognito=boto3.client("cognito-idp", region_name="us-east-1"))
    return SimpleNamespace(clients=clients, plan=Plan())


def made(pool_context: Any) -> tuple[str, str]:
    pool = create_user_pool(cast("Context", pool_context), pool_part("UserPool"))
    declared = pool_part("UserPoolClient", UserPoolId=pool.ref, GenerateSecret=False)
    client = create_user_pool_client(cast("Context", pool_context), declared)
    assert pool.attributes["Arn"] == (
        f"arn:aws:cognito-idp:us-east-1:000000000000:userpool/{pool.ref}"
    )
    return pool.ref, client.ref


@mock_aws
def test_a_pool_has_the_same_ids_at_every_start_and_after_a_restart_of_its_engine(
    pool_context: Any,
) -> None:
    pool, client = made(pool_context)
    assert made(pool_context) == (pool, client)
    client_of_pools = pool_context.clients.cognito
    client_of_pools.delete_user_pool(UserPoolId=pool)
    assert client_of_pools.list_user_pools(MaxResults=5)["UserPools"] == []
    cognito.recreate(cast("Clients", pool_context.clients), pool_context.plan)
    result = client_of_pools.describe_user_pool_client(UserPoolId=pool, ClientId=client)
    assert result["UserPoolClient"]["ClientId"] == client


@mock_aws
def test_messages_of_topics_and_pools_are_not_dropped_in_silence(
    topic_context: Any, pool_context: Any
) -> None:
    with pytest.raises(AssemblyError, match="FifoTopic"):
        create_topic(cast("Context", topic_context), topic(FifoTopic=True))
    with pytest.raises(AssemblyError, match="LambdaConfig"):
        create_user_pool(cast("Context", pool_context), pool_part("UserPool", LambdaConfig={}))
