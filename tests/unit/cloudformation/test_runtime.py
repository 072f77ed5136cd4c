"""Deployed stacks as an assembly for the local runtime."""

import json
from pathlib import Path
from typing import Any

import pytest

from infra.assets import REQUIREMENTS
from local.assembly import read_assembly
from tests.cloudformation.building import DesiredStack
from tests.cloudformation.runtime import failure, layers, write_assembly
from tests.cloudformation.templates import read

BUCKET = {"Fn::Sub": "assets-${AWS::AccountId}-${AWS::Region}"}
LAYER = next(key for key, requirements in layers().items() if requirements == REQUIREMENTS)


def _wanted(name: str, kind: str, field: str, key: str) -> DesiredStack:
    properties: dict[str, Any] = {field: {"S3Bucket": BUCKET, "S3Key": key}}
    text = json.dumps({"Resources": {"A": {"Type": kind, "Properties": properties}}})
    return DesiredStack(name, read(name, text), {})


def _fetch(bucket: str, key: str, target: Path) -> None:
    assert bucket == "assets-000000000000-us-east-1"
    folder = target / "python" if key != "code.zip" else target
    folder.mkdir(parents=True)
    (folder / "module.py").touch()


def test_templates_and_assets_are_an_assembly_in_the_order_of_the_stacks(tmp_path: Path) -> None:
    stacks = [
        _wanted("b", "AWS::Lambda::LayerVersion", "Content", LAYER),
        _wanted("a", "AWS::Lambda::Function", "Code", "code.zip"),
    ]
    for _ in range(2):  # assets are unpacked once
        write_assembly(tmp_path, stacks, _fetch)
    assembly = read_assembly(tmp_path)
    assert [stack.name for stack in assembly.stacks] == ["b", "a"]
    assert (assembly.assets["code.zip"] / "module.py").is_file()
    requirements = assembly.assets[LAYER] / "requirements.txt"
    assert requirements.read_bytes() == REQUIREMENTS.read_bytes()


def test_a_layer_of_other_requirements_is_not_replaced(tmp_path: Path) -> None:
    stack = _wanted("a", "AWS::Lambda::LayerVersion", "Content", "other.zip")
    with pytest.raises(KeyError, match=r"other\.zip"):
        write_assembly(tmp_path, [stack], _fetch)


def test_the_resource_of_a_failed_start_is_found_by_name() -> None:
    output = "[ 3.0 s] Create Run\nerror: a-b/Run (Custom::Bootstrap): failed: no\nroom\n"
    assert failure(output) == ("a-b", "Run", "failed: no\nroom")
    assert failure("error: port 8080 is in use") is None
