"""The default event bus: finds the rules of an event, and sends it to their targets."""

from __future__ import annotations

import asyncio
import json
import logging
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

from local import arns
from local.errors import LocalError
from local.pumps.patterns import Matches, compile_pattern

if TYPE_CHECKING:
    from pydantic import JsonValue

    from local.clients import Clients
    from local.functions import Functions
    from local.plan import Object, Plan, Rule, Target

_ATTEMPTS = 3  # those of an asynchronous invocation on Lambda

_log = logging.getLogger(__name__)


class Bus:
    """Sends events to the targets of the rules that they match."""

    def __init__(self, plan: Plan, clients: Clients, functions: Functions) -> None:
        """Compile the patterns.

        Raises:
            LocalError: a pattern is malformed, or a target is neither a queue nor a function.
        """
        self._plan = plan
        self._clients = clients
        self._functions = functions
        self._rules: list[tuple[Matches, Rule]] = []
        for rule in plan.rules:
            for target in rule.targets:
                if target.arn.split(":")[2] not in {"sqs", "lambda"}:
                    raise LocalError(
                        f"{rule.arn}: the target {target.arn} is not supported locally"
                    )
            if rule.pattern is not None:
                try:
                    self._rules.append((compile_pattern(rule.pattern), rule))
                except ValueError as error:
                    raise LocalError(f"{rule.arn}: {error}") from error

    async def publish(self, event: Object) -> None:
        """Send an event; return when every target has received it.

        Raises:
            ClientError: the engine behind a target refuses; send the event again later.
            BotoCoreError: the engine does not respond; send the event again later.
        """
        for matches, rule in self._rules:
            if matches(event):
                await self.trigger(rule, event)

    async def trigger(self, rule: Rule, event: Object) -> None:
        """Send an event to the targets of a rule."""
        for target in rule.targets:
            payload = _input(target, event)
            if target.arn.split(":")[2] == "sqs":
                await asyncio.to_thread(
                    self._clients.sqs.send_message,
                    QueueUrl=self._plan.queues[target.arn].url,
                    MessageBody=json.dumps(payload, ensure_ascii=False),
                )
            else:
                payload = payload if isinstance(payload, dict) else {"input": payload}
                for _ in range(_ATTEMPTS):
                    result = await self._functions.invoke(target.arn, payload)
                    if result.error is None:
                        break
                    _log.warning("%s failed: %s", target.arn, result.message())


def new_event(source: str, detail_type: str, resources: list[str], detail: Object) -> Object:
    """Return an event in EventBridge's envelope."""
    return {
        "version": "0",
        "id": str(uuid.uuid4()),
        "detail-type": detail_type,
        "source": source,
        "account": arns.ACCOUNT,
        "time": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "region": arns.REGION,
        "resources": [*resources],
        "detail": detail,
    }


def _input(target: Target, event: Object) -> JsonValue:
    if target.input is not None:
        return json.loads(target.input)
    if target.input_path is None:
        return event
    value: JsonValue = event
    for part in target.input_path.removeprefix("$").split("."):
        if part:
            value = cast("Object", value).get(part) if isinstance(value, dict) else None
    return value
