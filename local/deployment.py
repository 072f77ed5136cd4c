"""Creates all resources of an assembly, in CloudFormation's order.

It runs in a thread of its own, because it waits for the engines. The result is in `Context.plan`.
"""

from dataclasses import dataclass, field, replace

from botocore.exceptions import BotoCoreError, ClientError
from pydantic import JsonValue

from local.assembly import Assembly, Resource, Stack
from local.errors import LocalError
from local.intrinsics import Scope, UnresolvableError, holds, resolve
from local.resources.base import Context, Created, refusal
from local.resources.registry import INERT, creator_of, engine_of, inert_names

CREATED_FILE = "resources.json"
"""The file in the state folder with the values of `Ref` and `Fn::GetAtt`, by stack and resource."""

# The parameter of the default synthesizer with the version of `cdk bootstrap`; read from SSM on
# AWS.
_SSM_PARAMETER = "AWS::SSM::Parameter::Value<"


@dataclass
class _Deployed:
    """The state while stacks are created one after the other."""

    created: dict[tuple[str, str], Created] = field(default_factory=dict[tuple[str, str], Created])
    exports: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])


def deploy(assembly: Assembly, context: Context) -> None:
    """Create the resources of all stacks, and store their outputs in the plan.

    Raises:
        LocalError: a resource has an unknown type, cannot be resolved or cannot be created.
    """
    refuse_unknown_types(assembly)
    deployed = _Deployed()
    for stack in assembly.stacks:
        scope = _scope(stack, deployed)
        for resource in stack.in_order():
            created = _create(resource, scope, context)
            if created is not None:
                deployed.created[stack.name, resource.logical_id] = created
        _record_outputs(stack, scope, context, deployed)
    values: dict[str, dict[str, JsonValue]] = {stack.name: {} for stack in assembly.stacks}
    for (name, logical_id), created in deployed.created.items():
        values[name][logical_id] = {"ref": created.ref, "attributes": dict(created.attributes)}
    context.state.write(CREATED_FILE, values)


def refuse_unknown_types(assembly: Assembly) -> None:
    """Reject unknown resource types before anything is started or created.

    Raises:
        AssemblyError: a type is unknown.
    """
    for stack in assembly.stacks:
        for resource in stack.resources.values():
            if creator_of(resource.kind) is None and resource.kind not in INERT:
                raise refusal(resource, "this type is not supported by the local runtime")


def engines_of(assembly: Assembly) -> frozenset[str]:
    """Return the engines that the assembly needs."""
    kinds = {resource.kind for stack in assembly.stacks for resource in stack.resources.values()}
    # moto is always needed: it serves all services for which the templates declare nothing.
    return frozenset({"aws", *filter(None, map(engine_of, kinds))})


def _create(resource: Resource, scope: Scope, context: Context) -> Created | None:
    try:
        if resource.condition is not None and not holds(resource.condition, scope):
            return None
        properties = resolve(resource.properties, scope)
    except UnresolvableError as error:
        raise refusal(resource, str(error)) from error
    resolved = replace(resource, properties=properties if isinstance(properties, dict) else {})
    creator = creator_of(resource.kind)
    if creator is None:
        return inert_names(resolved)
    try:
        return creator(context, resolved)
    except (BotoCoreError, ClientError) as error:
        raise refusal(resource, f"cannot be created: {error}") from error


def _scope(stack: Stack, deployed: _Deployed) -> Scope:
    def find(name: str) -> Created:
        created = deployed.created.get((stack.name, name))
        if created is None:
            raise UnresolvableError(f"refers to {name}, which is not created in {stack.name}")
        return created

    def ref(name: str) -> JsonValue:
        return _parameter(stack, name) if name in stack.parameters else find(name).ref

    def attribute(name: str, wanted: str) -> JsonValue:
        attributes = find(name).attributes
        if wanted not in attributes:
            raise UnresolvableError(f"{name} has no attribute {wanted} in the local runtime")
        return attributes[wanted]

    def imported(name: str) -> JsonValue:
        if name not in deployed.exports:
            raise UnresolvableError(f"no stack before {stack.name} exports {name}")
        return deployed.exports[name]

    return Scope(stack.name, ref, attribute, imported, stack.conditions, stack.mappings)


def _parameter(stack: Stack, name: str) -> JsonValue:
    parameter = stack.parameters[name]
    if str(parameter.get("Type", "")).startswith(_SSM_PARAMETER):
        raise UnresolvableError(f"the parameter {name} is read from SSM, which is not supported")
    if "Default" not in parameter:
        raise UnresolvableError(f"the parameter {name} has no default")
    return parameter["Default"]


def _record_outputs(stack: Stack, scope: Scope, context: Context, deployed: _Deployed) -> None:
    for name, output in stack.outputs.items():
        try:
            condition = output.get("Condition")
            if isinstance(condition, str) and not holds(condition, scope):
                continue
            value = resolve(output.get("Value"), scope)
            context.plan.outputs[name] = value
            export = output.get("Export")
            if isinstance(export, dict):
                deployed.exports[str(resolve(export.get("Name"), scope))] = value
        except UnresolvableError as error:
            raise LocalError(f"{stack.name}: output {name}: {error}") from error
