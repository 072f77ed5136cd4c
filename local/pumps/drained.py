"""Checks whether all changes so far have been processed.

The result is exact for changes before the request. Each source is checked again, and the checks are
consistent with each other because no consumer began or ended work and no event was sent in between
(`activity.py`). Changes by a consumer are included, because it made them before its work ended, and
therefore before the checks began.

OpenSearch makes indexed documents visible to searches once a second. A refresh before the result
"drained" makes all of them visible.

While a client waits for the result, streams and queues deliver collected changes immediately,
before their batching windows end.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx
from botocore.exceptions import BotoCoreError, ClientError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mypy_boto3_sqs.literals import QueueAttributeNameType
    from pydantic import JsonValue

    from local.clients import Clients
    from local.plan import Plan, Queue
    from local.pumps.activity import Activity
    from local.pumps.objects import ObjectPump
    from local.pumps.streams import StreamPump
    from local.states.executions import Executions

_COUNTS: tuple[QueueAttributeNameType, ...] = (
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesNotVisible",
    "ApproximateNumberOfMessagesDelayed",
)
# Maximum time of the bucket check, after which the result is "not drained" and the check continues.
# Clients wait for a minute; a bucket with 10,000 objects takes ten seconds on a busy machine.
_PATIENCE = 45.0
# So often a change of the epoch ends a check in progress, whose result would be outdated.
_GLANCE = 0.5


@dataclass(frozen=True)
class Drain:
    """Checks all sources of pending changes."""

    plan: Plan
    clients: Clients
    activity: Activity
    streams: Sequence[StreamPump]
    objects: ObjectPump | None
    executions: Executions | None = None
    search: str = ""
    """Address of OpenSearch; empty for an assembly without search."""

    async def report(self) -> dict[str, JsonValue]:
        """Return whether all changes are processed, or else the pending ones that were found."""
        try:
            return await self._state()
        except (BotoCoreError, ClientError, httpx.HTTPError) as error:
            return {"drained": False, "unavailable": str(error)}

    async def _state(self) -> dict[str, JsonValue]:
        self.activity.request_delivery()
        epoch = self.activity.epoch
        if (pending := self._in_progress()) is not None:
            return pending
        dead = self.plan.dead_letter_queues()
        consumed = {mapping.queue_arn for mapping in self.plan.queue_mappings} - dead
        queues = await asyncio.gather(
            *(
                asyncio.to_thread(self._count, queue)
                for arn, queue in self.plan.queues.items()
                if arn in consumed
            )
        )
        waiting = {name: count for name, count in queues if count}
        if waiting:
            return {"drained": False, "queues": {**waiting}}
        heads = await asyncio.gather(*(pump.at_head() for pump in self.streams))
        behind = [
            pump.mapping.function
            for pump, at_head in zip(self.streams, heads, strict=True)
            if not at_head
        ]
        if behind:
            return {"drained": False, "streams": _names(behind)}
        if self.objects is not None and not await self._has_seen_all(self.objects, epoch):
            return {"drained": False, "objects": True}
        if self.activity.epoch != epoch:
            return {"drained": False, "running": self.activity.running}
        if self.search:
            async with httpx.AsyncClient(timeout=_PATIENCE) as client:
                (await client.post(f"{self.search}/_refresh")).raise_for_status()
        return {"drained": True}

    def _in_progress(self) -> dict[str, JsonValue] | None:
        """Return the work in progress that can be determined without a request.

        None if there is none.
        """
        executing = self.executions.working if self.executions is not None else 0
        if self.activity.running or executing:
            pending: dict[str, JsonValue] = {"executions": executing} if executing else {}
            return {"drained": False, "running": self.activity.running, **pending}
        working = [pump.mapping.function for pump in self.streams if pump.in_work]
        return {"drained": False, "streams": _names(working)} if working else None

    async def _has_seen_all(self, objects: ObjectPump, epoch: int) -> bool:
        """Check the buckets, unless another source is already pending."""
        if objects.is_looking:
            return False
        look = asyncio.ensure_future(objects.compare())
        stop = time.monotonic() + _PATIENCE
        while not look.done() and self.activity.epoch == epoch and time.monotonic() < stop:
            await asyncio.wait({look}, timeout=_GLANCE)
        return look.done() and look.result() == 0

    def lags(self) -> dict[str, JsonValue]:
        """Return, for each stream mapping, the age in seconds of the change that it processes."""
        return {pump.mapping.function: pump.lag() for pump in self.streams}

    def _count(self, queue: Queue) -> tuple[str, int]:
        attributes = self.clients.sqs.get_queue_attributes(
            QueueUrl=queue.url, AttributeNames=_COUNTS
        ).get("Attributes", {})
        return queue.name, sum(int(attributes.get(name, "0")) for name in _COUNTS)


def _names(functions: list[str]) -> list[JsonValue]:
    return [*functions]
