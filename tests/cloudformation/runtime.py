"""A builder that creates declared resources in the local runtime, on real engines.

A change stops the runtime and starts it again, with the templates of all stacks and the published
assets, on the same state. Resources that a stack no longer declares are not removed from the
engines.
"""

import hashlib
import json
import re
import shutil
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast, get_args

import httpx
from pydantic import JsonValue

from backend.spec.functions.model import Packages
from infra.assets import REQUIREMENTS, layer_hash, requirements_of
from local.assembly import Object
from local.deployment import CREATED_FILE
from local.engines.ports import free_port
from local.intrinsics import resolve, stack_id
from local.resources.base import Created
from tests.cloudformation.building import DesiredStack, Names, ResourceFailedError, scope_of

ROOT = Path(__file__).parents[2]
_CODE = {"AWS::Lambda::Function": "Code", "AWS::Lambda::LayerVersion": "Content"}
_FAILURE = re.compile(r"error: (?P<stack>[\w-]+)/(?P<name>\w+) \([\w:]+\): (?P<fact>.*)", re.DOTALL)
_CALL_SECONDS = 400
Fetch = Callable[[str, str, Path], None]
"""Unpacks an asset, by its bucket and key, to a folder."""


def layers() -> dict[str, Path]:
    """The requirements of each layer that is built for Lambda, by the key of its asset."""
    requirements = [REQUIREMENTS, *map(requirements_of, get_args(Packages))]
    return {
        f"{hashlib.sha256(facts.encode()).hexdigest()}.zip": requirement
        for requirement in requirements
        for compiled in (False, True)
        if (facts := layer_hash(bundle=True, compiled=compiled, requirements=requirement))
    }


class LocalRuntime:
    """See the module; `answers` are the responses to custom resources, by request."""

    def __init__(
        self,
        state: Path,
        fetch: Fetch,
        response_url: str,
        answers: Mapping[str, Object],
    ) -> None:
        """Use a state folder, and a function that unpacks published assets."""
        self._state = state
        self._fetch = fetch
        self._response_url = response_url
        self._answers = answers
        self._assembly = state.with_name("deployed")
        self._port = str(free_port())  # the address of the API is an output, which must not change

    def build(self, stacks: Sequence[DesiredStack], building: str) -> Mapping[str, Created]:
        """See `Builder.build`."""
        local = [stack for stack in stacks if not _is_at_edge(stack)]
        if building not in {stack.name for stack in local}:
            return Names().build(stacks, building)
        self.stop()
        write_assembly(self._assembly, local, self._fetch)
        command = ("up", "--detach", "--port", self._port, "--assembly", str(self._assembly))
        done = self._run(*command, "--state", str(self._state))
        if done.returncode != 0:
            stack, name, fact = failure(done.stdout) or (building, building, done.stdout)
            raise ResourceFailedError(name if stack == building else building, fact)
        return self._created()[building]

    def remove(self, stack: DesiredStack, logical_id: str) -> None:
        """See `Builder.remove`: the function of a custom resource gets the event Delete."""
        resource = stack.template.stack.resources[logical_id]
        serves = (self._state / "endpoint.json").exists()
        if not resource.kind.startswith("Custom::") or not serves or _is_at_edge(stack):
            return  # a start that failed has ended the functions
        created = self._created()[stack.name]
        properties = resolve(resource.properties, scope_of(stack, created, {}))
        request = str(uuid.uuid4())
        event: Object = {
            "RequestType": "Delete",
            "ResponseURL": f"{self._response_url}{request}",
            "StackId": stack_id(stack.name),
            "RequestId": request,
            "ResourceType": resource.kind,
            "LogicalResourceId": logical_id,
            "PhysicalResourceId": created[logical_id].ref,
            "ResourceProperties": properties,
        }
        function = str(cast("Object", properties)["ServiceToken"])
        self._invoke(function, event)
        answer = self._answers.get(request, {})
        if answer.get("Status") != "SUCCESS":
            raise ResourceFailedError(logical_id, f"its function answered {answer}")

    def stop(self) -> None:
        """Stop the runtime, if it runs."""
        if self._state.exists():
            self._run("down", "--state", str(self._state))

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "local", *arguments],
            check=False,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def _invoke(self, function: str, event: Object) -> None:
        endpoint: dict[str, Any] = json.loads((self._state / "endpoint.json").read_text())
        httpx.post(
            f"{endpoint['admin']}/functions/{function.rpartition(':')[2]}/invocations",
            json=event,
            headers={"Authorization": f"Bearer {endpoint['adminToken']}"},
            timeout=_CALL_SECONDS,
        ).raise_for_status()

    def _created(self) -> dict[str, dict[str, Created]]:
        document = cast(
            "dict[str, dict[str, Any]]", json.loads((self._state / CREATED_FILE).read_text())
        )
        return {
            stack: {name: Created(**resource) for name, resource in resources.items()}
            for stack, resources in document.items()
        }


def _is_at_edge(stack: DesiredStack) -> bool:
    """Return whether a stack is CloudFront's: the local gateway serves the page itself."""
    resources = stack.template.stack.resources.values()
    return any(resource.kind == "AWS::CloudFront::Distribution" for resource in resources)


def failure(output: str) -> tuple[str, str, str] | None:
    """The stack, the name and the reason of the resource that failed a start of the runtime."""
    match = _FAILURE.search(output)
    return (match["stack"], match["name"], match["fact"].strip()) if match else None


def write_assembly(folder: Path, stacks: Sequence[DesiredStack], fetch: Fetch) -> None:
    """Write an assembly of the templates, and unpack their assets."""
    folder.mkdir(parents=True, exist_ok=True)
    keys: set[str] = set()
    for stack in stacks:
        (folder / f"{stack.name}.json").write_text(stack.template.text)
        for bucket, key in _assets(stack):
            _unpack(folder / key, bucket, fetch)
            keys.add(key)
    files = {
        key: {"source": {"path": key}, "destinations": {"here": {"objectKey": key}}} for key in keys
    }
    (folder / "assets.json").write_text(json.dumps({"files": files}))
    artifacts: dict[str, Any] = {
        "assets": {"type": "cdk:asset-manifest", "properties": {"file": "assets.json"}}
    }
    before: list[str] = []
    for stack in stacks:
        artifacts[stack.name] = {
            "type": "aws:cloudformation:stack",
            "dependencies": before,
            "properties": {"templateFile": f"{stack.name}.json"},
        }
        before = [stack.name]
    (folder / "manifest.json").write_text(json.dumps({"artifacts": artifacts}))


def _unpack(target: Path, bucket: str, fetch: Fetch) -> None:
    if target.exists():
        return
    scratch = target.with_suffix(".part")
    fetch(bucket, target.name, scratch)
    if (scratch / "python").is_dir():  # built for Lambda's processor: here its requirements
        requirements = layers()[target.name]
        shutil.rmtree(scratch)
        scratch.mkdir()
        shutil.copyfile(requirements, scratch / "requirements.txt")
    scratch.rename(target)


def _assets(stack: DesiredStack) -> Iterator[tuple[str, str]]:
    """The bucket and key of all assets of a stack."""
    scope = scope_of(stack, {}, {})
    for resource in stack.template.stack.resources.values():
        if resource.kind in _CODE:
            place = cast("dict[str, JsonValue]", resource.properties[_CODE[resource.kind]])
            if "S3Key" in place:
                yield str(resolve(place["S3Bucket"], scope)), str(resolve(place["S3Key"], scope))
