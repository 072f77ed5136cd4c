"""Reading an assembly, and refusing what the runtime does not know."""

import json
from pathlib import Path
from typing import cast

import pytest

from local.assembly import read_assembly
from local.deployment import deploy, engines_of
from local.errors import AssemblyError, LocalError
from local.resources.base import Context

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
