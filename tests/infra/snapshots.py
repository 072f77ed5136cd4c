"""The templates of a stage as text to review: a file for each stack, a line for each fact.

The files of `prod` contain its differences from `small`, and the other files those of further
settings from both: `null` is removed. References are texts such as `<DataKey.Arn>`, in which `{}`
is the resource itself. Statements of policies are sentences. A variable of a function without a
value names a resource, such as `TABLE_Jobs`. What most resources of a type have is stated once,
under `(every)`. Not contained are hashes of assets, which are replaced by what they contain, and
the order in which routes and alarms are created (`test_alarms.py`).

`make snapshots` writes the files, for the review of a change of `infra` or of its declarations.
"""

import json
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import yaml

from tests.infra.contexts import BASES, CONTEXTS
from tests.infra.templates import ROOT, Assembly, synthesize_all

FOLDER = Path(__file__).parent / "snapshots"
STAGES = ("small", "prod")
Facts = dict[str, Any]
"""Facts by the path of their property."""
_HASH = re.compile("[0-9a-f]{64}")
_REFERENCES = {"Ref", "Fn::GetAtt", "Fn::ImportValue", "Fn::Join", "Fn::Sub"}
_LEFT_OUT = {"Type", "Metadata", "Properties"}
_IN_TURN = ("AWS::CloudWatch::Alarm", "AWS::ApiGatewayV2::")
"""Types whose `DependsOn` only limits how many resources are created at once."""


class _Dumper(yaml.SafeDumper):
    """Writes lists of names on one line, and lists of sentences on several."""

    def represent_list(self, data: Any) -> yaml.SequenceNode:
        node = super().represent_list(data)
        node.flow_style = not any(isinstance(item, str) and " " in item for item in data)
        return node


_Dumper.add_representer(list, _Dumper.represent_list)


def describe(assembly: Assembly) -> dict[str, Facts]:
    """Return the facts of each stack by type and resource, and those of the stacks themselves."""
    assets = dict(_assets(assembly.folder))
    stacks: dict[str, Facts] = {"stacks": dict(_stacks(assembly))}
    for stack, template in assembly.templates.items():
        types: dict[str, dict[str, Facts]] = {}
        for name, body in template["Resources"].items():
            facts = _Describer(assembly, assets, name).describe(body)
            types.setdefault(body["Type"], {})[name] = facts
        stacks[stack] = {kind: _share(resources) for kind, resources in types.items()}
        outputs = template.get("Outputs", {}).items()
        stacks[stack]["outputs"] = {name: assembly.text(o["Value"]) for name, o in outputs}
    return stacks


def snapshots(assemblies: Callable[[str], Assembly]) -> dict[str, str]:
    """Return the text of each file: of a stage by stack, and what further settings change."""
    facts = {name: describe(assemblies(name)) for name in CONTEXTS}
    texts: dict[str, str] = {}
    for name, stacks in facts.items():
        shown = differences(facts[BASES[name]], stacks) if name in BASES else stacks
        if name in STAGES:
            texts |= {f"{name}/{stack}.yaml": dump(shown[stack]) for stack in sorted(shown)}
        else:
            texts[f"{name}.yaml"] = dump(shown)
    return texts


def dump(facts: object) -> str:
    """Return facts as YAML, with statements and other sentences on lines of their own."""
    return yaml.dump(facts, Dumper=_Dumper, width=100, allow_unicode=True, default_flow_style=None)


def differences(base: object, other: object) -> Any:
    """Return what other settings add, change and remove (`null`); in lists by element."""
    if isinstance(base, dict) and isinstance(other, dict):
        old, new = cast("Facts", base), cast("Facts", other)
        return {
            key: differences(old.get(key), new.get(key))
            for key in sorted({*old, *new})
            if old.get(key) != new.get(key)
        }
    if isinstance(base, list) and isinstance(other, list):
        before, after = cast("list[object]", base), cast("list[object]", other)
        removed = [element for element in before if element not in after]
        added = [element for element in after if element not in before]
        if not removed and not added:
            return {"reordered": after}
        return ({"removed": removed} if removed else {}) | ({"added": added} if added else {})
    return other


def _assets(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the hash of each asset with what it contains."""
    locks = {path.read_bytes(): path.name for path in (ROOT / "backend").glob("requirements*.txt")}
    for path in folder.glob("asset.*"):
        if path.suffix == ".zip":
            yield path.stem.removeprefix("asset."), "the AWS command for BucketDeployment"
            continue
        lock = path / "requirements.txt"
        content = locks[lock.read_bytes()] if lock.exists() else next(path.iterdir()).name
        yield path.name.removeprefix("asset."), content


def _stacks(assembly: Assembly) -> Iterator[tuple[str, Facts]]:
    """Yield the order and the protection of each stack, and the messages of its synthesis."""
    order = assembly.stack_order()
    for name, artifact in assembly.manifest["artifacts"].items():
        stack = name.rpartition("-")[2]
        if stack in order:
            metadata = json.loads((assembly.folder / f"{name}.metadata.json").read_text())
            yield (
                stack,
                {
                    "after": sorted(order[stack]),
                    "messages": [
                        entry["data"]
                        for entries in metadata.values()
                        for entry in entries
                        if entry["type"] in {"aws:cdk:warning", "aws:cdk:error"}
                    ],
                    "protected": artifact["properties"]["terminationProtection"],
                },
            )


class _Describer:
    """Describes one resource."""

    def __init__(self, assembly: Assembly, assets: Mapping[str, str], name: str) -> None:
        self._assembly, self._assets = assembly, assets
        self._own_name = re.compile(rf"(?<![A-Za-z0-9]){name}(?![a-z0-9])")

    def describe(self, body: Facts) -> Facts:
        """Return the facts of the resource by their path."""
        others = {key: value for key, value in body.items() if key not in _LEFT_OUT}
        if body["Type"].startswith(_IN_TURN):
            others.pop("DependsOn", None)
        facts = self._simplify(others | body.get("Properties", {}))
        return dict(_flatten(cast("Facts", facts)))

    def _simplify(self, value: object) -> Any:
        match value:
            case str():
                return self._name(value)
            case list():
                parts: list[Any] = [self._simplify(part) for part in cast("list[object]", value)]
                return (
                    cast("list[Any]", parts[0])
                    if len(parts) == 1 and isinstance(parts[0], list)
                    else parts
                )
            case dict():
                return self._simplify_object(cast("Facts", value))
            case _:
                return value

    def _simplify_object(self, value: Facts) -> Any:
        if not _REFERENCES.isdisjoint(value):
            return self._name(self._assembly.text(value))
        facts = {key: self._simplify(part) for key, part in value.items()}
        inline = facts.keys() == {"PolicyDocument", "PolicyName"}  # more has a policy of its own
        if inline and isinstance(facts["PolicyDocument"], dict):
            return cast("Facts", facts["PolicyDocument"])["Statement"]
        if {"Effect", "Action"} <= facts.keys():
            return _sentence(facts)
        if facts.keys() == {"Variables"}:
            return [
                name if text == f"<{name.partition('_')[2]}>" else f"{name}={text}"
                for name, text in sorted(facts["Variables"].items())
            ]
        return facts

    def _name(self, text: str) -> str:
        """Return a text in which assets, the stage and the resource itself have fixed names."""
        text = _HASH.sub(lambda digest: self._assets.get(digest[0], "(hash)"), text)
        text = text.replace(f"vitrine-{self._assembly.stage}", "vitrine-(stage)")
        return self._own_name.sub("{}", text.replace("<AWS::", "<"))


def _flatten(facts: Facts, path: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in facts.items():
        if isinstance(value, dict) and value:
            yield from _flatten(cast("Facts", value), f"{path}{key}.")
        else:
            yield f"{path}{key}", value


def _sentence(statement: Facts) -> str:
    """Return a statement of a policy as one line."""

    def join(value: Any) -> str:
        return " ".join(cast("list[str]", value)) if isinstance(value, list) else str(value)

    words = [statement["Effect"], join(statement["Action"])]
    if "Principal" in statement:
        words += [f"to {join(names)}" for _, names in _flatten({"": statement["Principal"]})]
    if "Resource" in statement:
        words.append(f"on {join(statement['Resource'])}")
    for path, value in _flatten(statement.get("Condition", {})):
        words.append(f"if {path} {join(value)}")
    return " ".join(words)


def _share(resources: dict[str, Facts]) -> dict[str, Facts]:
    """Return resources of a type without facts that more than half have, which are `every`."""
    members = list(resources.values())
    shared: Facts = {}
    for path in members[0] if len(members) > 2 else ():
        values = Counter(json.dumps(facts.get(path, "(none)")) for facts in members)
        text, count = values.most_common(1)[0]
        if 2 * count > len(members) and all(path in facts for facts in members):
            shared[path] = json.loads(text)
    return ({"(every)": shared} if shared else {}) | {
        name: {
            path: value
            for path, value in facts.items()
            if path not in shared or shared[path] != value
        }
        for name, facts in resources.items()
    }


def main() -> None:
    """Synthesize the assemblies and write the snapshots."""
    with tempfile.TemporaryDirectory() as folder:
        synthesize_all(Path(folder), {name: {"context": CONTEXTS[name]} for name in CONTEXTS})
        texts = snapshots(lambda name: Assembly(Path(folder) / name))
    shutil.rmtree(FOLDER, ignore_errors=True)
    for name, text in texts.items():
        path = FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
