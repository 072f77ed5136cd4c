"""A synthesized assembly, read from its folder: resources, outputs, and what they refer to."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

ROOT = Path(__file__).resolve().parents[2]
_KEPT = ("PATH", "HOME", "TMPDIR", "PYTHONPYCACHEPREFIX")


@dataclass(frozen=True)
class Resource:
    """One resource of a template."""

    stack: str
    name: str
    type: str
    body: dict[str, Any]

    @property
    def properties(self) -> dict[str, Any]:
        return self.body.get("Properties", {})


@dataclass(frozen=True)
class Assembly:
    """The output of `python app.py` in a folder."""

    folder: Path

    @cached_property
    def templates(self) -> dict[str, dict[str, Any]]:
        """The templates by the last part of their stack's name: storage, api, ..."""
        ending = ".template.json"
        return {
            path.name.removesuffix(ending).rpartition("-")[2]: json.loads(path.read_text())
            for path in sorted(self.folder.glob(f"*{ending}"))
        }

    @cached_property
    def manifest(self) -> dict[str, Any]:
        return json.loads((self.folder / "manifest.json").read_text())

    @cached_property
    def stage(self) -> str:
        """The name of the stage."""
        return next(self.folder.glob("*.template.json")).name.split("-")[1]

    @cached_property
    def all(self) -> list[Resource]:
        return [
            Resource(stack, name, body["Type"], body)
            for stack, template in self.templates.items()
            for name, body in template["Resources"].items()
        ]

    def of_type(self, kind: str) -> dict[str, Resource]:
        """The resources of a type by their logical ids."""
        return {resource.name: resource for resource in self.all if resource.type == kind}

    def resource(self, name: str) -> Resource:
        (resource,) = (resource for resource in self.all if resource.name == name)
        return resource

    @cached_property
    def exports(self) -> dict[str, Any]:
        return {
            output["Export"]["Name"]: output["Value"]
            for template in self.templates.values()
            for output in template.get("Outputs", {}).values()
            if "Export" in output
        }

    def text(self, value: Any) -> str:
        """A value with `<name>` or `<name.attribute>` for each reference to a resource."""
        match value:
            case str():
                return value
            case {"Ref": name}:
                return f"<{name}>"
            case {"Fn::GetAtt": [name, attribute]}:
                return f"<{name}.{attribute}>"
            case {"Fn::ImportValue": name}:
                return self.text(self.exports[name])
            case {"Fn::Sub": str(pattern)}:
                return re.sub(r"\$\{(.+?)\}", r"<\1>", pattern)
            case {"Fn::Join": [separator, parts]}:
                return separator.join(self.text(part) for part in parts)
            case _:
                raise AssertionError(f"no reference: {value}")

    def texts(self, value: Any) -> list[str]:
        """As `text`, for one value or a list of values."""
        if isinstance(value, list):
            return [self.text(member) for member in cast("list[Any]", value)]
        return [self.text(value)]

    def statements(self, role: Resource) -> Iterator[tuple[list[str], list[str]]]:
        """Actions and resources of each statement of a role's inline policies."""
        for policy in role.properties["Policies"]:
            for statement in policy["PolicyDocument"]["Statement"]:
                assert statement["Effect"] == "Allow"
                actions = statement["Action"]
                yield (
                    [actions] if isinstance(actions, str) else actions,
                    self.texts(statement["Resource"]),
                )

    def stack_order(self) -> dict[str, set[str]]:
        """The stacks on which each stack depends."""
        order: dict[str, set[str]] = {}
        for name, artifact in self.manifest["artifacts"].items():
            if artifact["type"] == "aws:cloudformation:stack":
                earlier = {d.rpartition("-")[2] for d in artifact.get("dependencies", [])}
                order[name.rpartition("-")[2]] = {d for d in earlier if not d.endswith(".assets")}
        return order


def synthesize_all(
    folder: Path, *halves: Mapping[str, Mapping[str, object]], nag: bool = False
) -> None:
    """Write assemblies into folders of their names, each half by a process with another hash seed.

    Each entry has a `context`, and may have `nag` and `without` (see `tests.infra.synthesizing`).
    """
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    environment = kept if nag else kept | {"CDK_VALIDATION": "false"}
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.infra.synthesizing", str(folder), json.dumps(half)],
            cwd=ROOT,
            env=environment | {"PYTHONHASHSEED": str(seed)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for seed, half in enumerate(halves)
    ]
    for process in processes:
        _, output = process.communicate()
        assert nag or (process.returncode, output) == (0, ""), output


ORDER = ("storage", "search", "bootstrap", "indexing", "pipelines", "api", "web", "alarms")


def refused(deployed: Assembly, wanted: Assembly, order: tuple[str, ...] = ORDER) -> list[str]:
    """Return the steps of an update that CloudFormation refuses."""
    state = dict(deployed.templates)
    steps: list[str] = []
    for stack in order:
        if stack not in state or stack not in wanted.templates:
            continue  # a stack that the settings no longer need remains unchanged
        before, after = exports(state[stack]), exports(wanted.templates[stack])
        steps += [
            f"{stack} removes or changes {name}, which {other} imports"
            for other, template in state.items()
            if other != stack
            for name in imports(template)
            if name in before and after.get(name) != before[name]
        ]
        state[stack] = wanted.templates[stack]
        exported = {name for template in state.values() for name in exports(template)}
        steps += [f"{stack} lacks {name}" for name in imports(state[stack]) if name not in exported]
    return steps


def exports(template: Mapping[str, Any]) -> dict[str, Any]:
    outputs = template.get("Outputs", {}).values()
    return {o["Export"]["Name"]: o["Value"] for o in outputs if "Export" in o}


def imports(template: Mapping[str, Any]) -> set[str]:
    return set(_imports(template))


def _imports(value: object) -> Iterator[str]:
    match value:
        case {"Fn::ImportValue": str(name)}:
            yield name
        case dict():
            for part in cast("dict[str, object]", value).values():
                yield from _imports(part)
        case list():
            for part in cast("list[object]", value):
                yield from _imports(part)
        case _:
            return
