"""The properties of deployed resources with data that an update may not change.

The files contain these facts of the released templates, by stack and logical id. After a release,
`.venv/bin/python -m tests.infra.released` writes them again.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from cfnlint.schema import PROVIDER_SCHEMA_MANAGER

from tests.infra.templates import Assembly, Resource

FOLDER = Path(__file__).parent
ASSEMBLIES = ("prod", "hardened", "locked")
"""The assemblies whose facts are stored: together they have every kind of resource with data."""

_IMMUTABLE: dict[str, tuple[str, ...]] = {
    "AWS::DynamoDB::Table": (
        "StreamSpecification",  # a new stream has another ARN, and mappings lose their position
        "TimeToLiveSpecification",
    ),
    "AWS::S3::Bucket": ("ObjectLockEnabled", "VersioningConfiguration"),
    "AWS::KMS::Key": ("KeySpec", "KeyUsage", "MultiRegion", "Origin"),
    "AWS::Cognito::UserPool": (
        "AliasAttributes",
        "Schema",
        "UsernameAttributes",
        "UsernameConfiguration",
    ),
    "AWS::Cognito::UserPoolClient": (),
    "AWS::OpenSearchService::Domain": ("NodeToNodeEncryptionOptions",),
    "AWS::SecretsManager::Secret": ("GenerateSecretString",),  # a new one is another secret
    "AWS::SQS::Queue": (),
    "AWS::SNS::Topic": (),
    "AWS::CloudTrail::Trail": (),
}
"""Types of resources with data, and the properties that the service cannot change, besides those
for which CloudFormation's schemas replace the resource. Source: "Update requires" in
CloudFormation's reference of each type."""
DATA_TYPES = frozenset(_IMMUTABLE)

Facts = dict[str, Any]


def immutable_facts(assembly: Assembly) -> dict[str, Facts]:
    """Return the facts that no update may change of each resource that holds data."""
    return {
        f"{item.stack}: {item.name}": {
            name: fact for name, fact in _facts(item) if fact is not None
        }
        for item in assembly.all
        if item.type in _IMMUTABLE
    }


def released(name: str) -> dict[str, Facts]:
    """Return the facts of the released assembly of that name."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def losses(old: dict[str, Facts], new: dict[str, Facts]) -> list[str]:
    """Return each change by which an update from `old` to `new` would lose data, or fail."""
    result: list[str] = []
    for resource, before in old.items():
        after = new.get(resource)
        if after is None:
            result.append(f"{resource} is gone")
            continue
        # DynamoDB builds a new index beside the others.
        added = {fact for fact in after.keys() - before.keys() if fact.startswith("index ")}
        changed = [
            fact
            for fact in sorted((before.keys() | after.keys()) - added)
            if before.get(fact) != after.get(fact)
        ]
        result += [f"{resource} has another {fact}" for fact in changed]
    return result


def _facts(resource: Resource) -> Iterator[tuple[str, Any]]:
    yield "type", resource.type
    result = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", resource.type)
    schema = cast("dict[str, list[str] | None]", result.schema)
    for key in ("createOnlyProperties", "conditionalCreateOnlyProperties"):
        for path in schema.get(key) or ():
            name = path.removeprefix("/properties/")
            yield name, _at(resource.properties, name.split("/"))
    for name in _IMMUTABLE[resource.type]:
        yield name, resource.properties.get(name)
    if resource.type == "AWS::DynamoDB::Table":
        yield from _keys(resource.properties)


def _keys(table: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the keys of a table and its indexes, with the types of their attributes."""
    types = {
        definition["AttributeName"]: definition["AttributeType"]
        for definition in table["AttributeDefinitions"]
    }

    def described(schema: list[dict[str, str]]) -> str:
        return ", ".join(
            f"{key['KeyType']} {key['AttributeName']} {types[key['AttributeName']]}"
            for key in schema
        )

    yield "key", described(table["KeySchema"])
    for kind in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        for index in table.get(kind, []):
            projected = index["Projection"]["ProjectionType"]
            yield f"index {index['IndexName']}", f"{described(index['KeySchema'])}: {projected}"


def _at(properties: dict[str, Any], path: list[str]) -> Any:
    value: Any = properties
    for name in path:
        value = cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None
    return value
