"""Step Functions state machines, in an engine without persistence."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal

from pydantic import JsonValue

from local import arns
from local.iam import actions
from local.plan import StateMachine
from local.resources.base import Context, Created, Properties, parse, refusal

if TYPE_CHECKING:
    from local.assembly import Resource
    from local.clients import Clients
    from local.plan import Plan


class LoggedTo(Properties):
    """A destination of logs."""

    no_effect = "CloudWatchLogsLogGroup"


class Logging(Properties):
    """The log settings; executions log nothing here, but the role must allow it."""

    no_effect = "IncludeExecutionData Level"

    destinations: tuple[LoggedTo, ...] = ()


class Machine(Properties):
    """`AWS::StepFunctions::StateMachine`; the engine has neither traces nor keys."""

    no_effect = "EncryptionConfiguration Tags TracingConfiguration"

    definition: dict[str, JsonValue] | None = None
    definition_string: str | None = None
    role_arn: str
    state_machine_name: str | None = None
    state_machine_type: Literal["STANDARD"] = "STANDARD"
    logging_configuration: Logging = Logging()


def create_state_machine(context: Context, resource: Resource) -> Created:
    """Create the state machine.

    Raises:
        AssemblyError: there is no definition, or its role may not log.
    """
    declared = parse(Machine, resource)
    text = declared.definition_string
    if declared.definition is not None:
        text = json.dumps(declared.definition)
    if text is None:
        raise refusal(resource, "it has no Definition and no DefinitionString")
    if declared.logging_configuration.destinations:
        lacking = context.roles.lacks(declared.role_arn, actions.log_delivery())
        if lacking is not None:
            fact = f"may not call {lacking.action} on {lacking.resource}, so it cannot log"
            raise refusal(resource, f"the role {declared.role_arn} {fact}")
    name = declared.state_machine_name or arns.physical_name(
        resource.stack, resource.logical_id, limit=80
    )
    machine_arn = arns.arn("states", f"stateMachine:{name}")
    machine = StateMachine(name, machine_arn, declared.role_arn, text)
    _create(context.clients, machine)
    context.plan.state_machines.append(machine)
    return Created(machine_arn, {"Arn": machine_arn, "Name": name})


def recreate(clients: Clients, plan: Plan) -> None:
    """Create the state machines that the engine has lost by its restart."""
    known = {machine["name"] for machine in clients.states.list_state_machines()["stateMachines"]}
    for machine in plan.state_machines:
        if machine.name not in known:
            _create(clients, machine)


def _create(clients: Clients, machine: StateMachine) -> None:
    clients.states.create_state_machine(
        name=machine.name, definition=machine.definition, roleArn=machine.role
    )
