"""CloudFormation's functions, as the local runtime resolves them."""

import pytest
from pydantic import JsonValue

from local.intrinsics import Scope, UnresolvableError, holds, references, resolve

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
