"""A synthesized assembly, read from its folder: resources, outputs, and what they refer to."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

ROOT = Path(__file__).resolve().parents[2]
STATE_MACHINE = (
    "arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>:"
    "stateMachine:vitrine-{stage}-executions"
)
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
    def imported_buckets(self) -> list[str]:
        """The buckets that the stage imports."""
        stage = next(self.folder.glob("*.template.json")).name.split("-")[1]
        context = json.loads((ROOT / "cdk.json").read_text())["context"]
        return context["stages"][stage].get("importedBuckets", [])

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
        (found,) = (resource for resource in self.all if resource.name == name)
        return found

    def output(self, name: str) -> Any:
        (found,) = (
            template["Outputs"][name]["Value"]
            for template in self.templates.values()
            if name in template.get("Outputs", {})
        )
        return found

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
        found: dict[str, set[str]] = {}
        for name, artifact in self.manifest["artifacts"].items():
            if artifact["type"] == "aws:cloudformation:stack":
                waits = {d.rpartition("-")[2] for d in artifact.get("dependencies", [])}
                found[name.rpartition("-")[2]] = {d for d in waits if not d.endswith(".assets")}
        return found


def synthesize(folder: Path, context: dict[str, object], *, seed: str = "0") -> Assembly:
    """Run the app in a process of its own, with no credentials and no validation plugins."""
    settings = {"CDK_CONTEXT_JSON": json.dumps(context), "CDK_OUTDIR": str(folder)}
    _finish(_started("app.py", PYTHONHASHSEED=seed, **settings))
    return Assembly(folder)


def synthesize_all(folder: Path, contexts: Mapping[str, dict[str, object]]) -> None:
    """Write the assembly of each context into a folder of its name, in two processes."""
    module = ("-m", "tests.infra.synthesizing", str(folder))
    names = list(contexts)
    halves = [{name: contexts[name] for name in names[start::2]} for start in (0, 1)]
    for process in [_started(*module, json.dumps(half), PYTHONHASHSEED="0") for half in halves]:
        _finish(process)


def synthesize_without(folder: Path, what: str, name: str, context: dict[str, object]) -> Assembly:
    """Write the assembly of the product without a function, a queue or its uses."""
    module = ("-m", "tests.infra.without", what, name, str(folder), json.dumps(context))
    _finish(_started(*module, PYTHONHASHSEED="0"))
    return Assembly(folder)


def _started(*command: str, **settings: str) -> subprocess.Popen[str]:
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return subprocess.Popen(
        [sys.executable, *command],
        cwd=ROOT,
        env=kept | {"CDK_VALIDATION": "false"} | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _finish(process: subprocess.Popen[str]) -> None:
    _, output = process.communicate()
    assert (process.returncode, output) == (0, "")
