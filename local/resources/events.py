"""EventBridge rules on the default bus: patterns over events, and schedules."""

import json
from typing import Literal

from pydantic import JsonValue

from local import arns
from local.assembly import Resource
from local.plan import Rule, Target
from local.resources.base import Context, Created, Properties, parse


class RuleTarget(Properties):
    """A queue or a function; input transformers are not supported.

    Retries and dead letters of the bus itself have no effect: the pump retries until it succeeds.
    """

    no_effect = "DeadLetterConfig RetryPolicy"

    id: str
    arn: str
    input: str | None = None
    input_path: str | None = None


class EventRule(Properties):
    """`AWS::Events::Rule`."""

    no_effect = "Description RoleArn Tags"

    event_pattern: dict[str, JsonValue] | None = None
    schedule_expression: str | None = None
    state: Literal["ENABLED", "DISABLED"] = "ENABLED"
    targets: tuple[RuleTarget, ...] = ()
    name: str | None = None
    event_bus_name: Literal["default"] = "default"


def create_rule(context: Context, resource: Resource) -> Created:
    """Add the rule to the plan, for the pumps."""
    declared = parse(EventRule, resource)
    name = declared.name or arns.physical_name(resource.stack, resource.logical_id, limit=64)
    rule_arn = arns.arn("events", f"rule/{name}")
    if declared.state == "ENABLED":
        context.plan.rules.append(
            Rule(
                id=arns.stable_id(resource.stack, resource.logical_id),
                arn=rule_arn,
                pattern=json.dumps(declared.event_pattern) if declared.event_pattern else None,
                schedule=declared.schedule_expression,
                targets=tuple(
                    Target(id=t.id, arn=t.arn, input=t.input, input_path=t.input_path)
                    for t in declared.targets
                ),
            )
        )
    return Created(name, {"Arn": rule_arn})
