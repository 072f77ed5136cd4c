"""Reads a synthesized cloud assembly: stacks in order, resources, assets.

It reads `manifest.json`, the templates and the asset manifests. It neither resolves expressions
(`intrinsics.py`) nor creates resources (`deployment.py`).
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import cast

from pydantic import JsonValue

from local.errors import LocalError
from local.intrinsics import references

Object = dict[str, JsonValue]


@dataclass(frozen=True)
class Resource:
    """One resource of a template; its properties are as written, or resolved (see `deployment`)."""

    stack: str
    logical_id: str
    kind: str
    properties: Object
    depends_on: tuple[str, ...]
    condition: str | None


@dataclass(frozen=True)
class Stack:
    """One template, and its entry in the manifest."""

    name: str
    resources: Mapping[str, Resource]
    outputs: Mapping[str, Object]
    parameters: Mapping[str, Object]
    conditions: Object
    mappings: Object

    def in_order(self) -> Iterator[Resource]:
        """Yield the resources, each after those that it refers to or depends on.

        Raises:
            LocalError: the references are circular.
        """
        graph = {
            name: [
                other
                for other in (*resource.depends_on, *references(resource.properties))
                if other in self.resources and other != name
            ]
            for name, resource in self.resources.items()
        }
        try:
            for name in TopologicalSorter(graph).static_order():
                yield self.resources[name]
        except CycleError as error:
            circle = " → ".join(cast("list[str]", error.args[1]))
            raise LocalError(f"{self.name}: resources refer to each other: {circle}") from error


@dataclass(frozen=True)
class Assembly:
    """All stacks, each after those that it depends on, and the folders of their assets."""

    stacks: tuple[Stack, ...]
    assets: Mapping[str, Path]


def read_assembly(folder: Path) -> Assembly:
    """Read the assembly in `folder`.

    Raises:
        LocalError: there is no assembly, or it cannot be read.
    """
    if not (folder / "manifest.json").is_file():
        raise LocalError(f"no assembly in {folder}: manifest.json is missing")
    manifest = _read_object(folder / "manifest.json")
    artifacts = {
        name: artifact
        for name, artifact in _object(manifest, "artifacts").items()
        if isinstance(artifact, dict)
    }
    stacks: list[Stack] = []
    assets: dict[str, Path] = {}
    for name in _ordered(artifacts):
        artifact = artifacts[name]
        properties = _object(artifact, "properties")
        match artifact.get("type"):
            case "aws:cloudformation:stack":
                template = _read_object(folder / str(properties["templateFile"]))
                stacks.append(stack_of(str(properties.get("stackName", name)), template))
            case "cdk:asset-manifest":
                assets |= _read_assets(folder / str(properties["file"]))
            case "cdk:cloud-assembly":
                nested = read_assembly(folder / str(properties["directoryName"]))
                stacks.extend(nested.stacks)
                assets |= nested.assets
            case _:  # the construct tree and validation reports are not deployed
                pass
    return Assembly(tuple(stacks), assets)


def _ordered(artifacts: Mapping[str, Object]) -> Iterable[str]:
    graph: dict[str, list[str]] = {}
    for name, artifact in artifacts.items():
        needed = artifact.get("dependencies", [])
        graph[name] = [
            other
            for other in (needed if isinstance(needed, list) else [])
            if isinstance(other, str) and other in artifacts
        ]
    return TopologicalSorter(graph).static_order()


def stack_of(name: str, template: Object) -> Stack:
    """Return the stack that a template declares."""
    resources = {
        logical_id: _resource(name, logical_id, declared)
        for logical_id, declared in _object(template, "Resources").items()
        if isinstance(declared, dict)
    }
    return Stack(
        name=name,
        resources=resources,
        outputs=_objects(template, "Outputs"),
        parameters=_objects(template, "Parameters"),
        conditions=_object(template, "Conditions"),
        mappings=_object(template, "Mappings"),
    )


def _resource(stack: str, logical_id: str, declared: Object) -> Resource:
    depends = declared.get("DependsOn", [])
    condition = declared.get("Condition")
    return Resource(
        stack=stack,
        logical_id=logical_id,
        kind=str(declared["Type"]),
        properties=_object(declared, "Properties"),
        depends_on=tuple(
            str(name) for name in (depends if isinstance(depends, list) else [depends])
        ),
        condition=condition if isinstance(condition, str) else None,
    )


def _read_assets(manifest: Path) -> dict[str, Path]:
    assets: dict[str, Path] = {}
    for asset in _objects(_read_object(manifest), "files").values():
        source = _object(asset, "source")
        if "path" not in source:
            continue
        for destination in _objects(asset, "destinations").values():
            assets[str(destination["objectKey"])] = manifest.parent / str(source["path"])
    return assets


def _read_object(path: Path) -> Object:
    try:
        read = cast("JsonValue", json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise LocalError(f"cannot read {path}: {error}") from error
    if not isinstance(read, dict):
        raise LocalError(f"{path} does not contain an object")
    return read


def _object(parent: Object, key: str) -> Object:
    value = parent.get(key)
    return value if isinstance(value, dict) else {}


def _objects(parent: Object, key: str) -> dict[str, Object]:
    return {name: value for name, value in _object(parent, key).items() if isinstance(value, dict)}
