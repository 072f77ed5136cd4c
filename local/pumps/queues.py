"""The pump from a queue to a function: batches, partial failures, limited concurrency.

The queue engine moves messages to the dead-letter queue after too many receives.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import logging
import os
import time
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from local import arns
from local.pumps.batches import failed_identifiers, pause_after, pause_while_away
from local.pumps.patterns import Matches, any_of

if TYPE_CHECKING:
    from mypy_boto3_sqs.type_defs import MessageAttributeValueOutputTypeDef, MessageTypeDef
    from pydantic import JsonValue

    from local.clients import Clients
    from local.functions import Functions
    from local.plan import Object, Queue, QueueMapping
    from local.pumps.activity import Activity

# Seconds. A stop waits that long; each poll costs the engine and this process some 3 ms, and twenty
# queues are polled for ever.
_LONG_POLL = 3
_IN_WINDOW_POLL = 1  # seconds; SQS accepts whole ones only
# SQS's limit for one request.
_MOST_PER_RECEIVE = 10
# Seconds for which a message is hidden, extended while its function runs. The messages of a runtime
# that was killed are delivered again after this time.
_HIDDEN = 20
_DEFAULT_VISIBILITY = "30"  # SQS's own, where a queue declares none
_MOST_REFUSALS = 6  # of a delete: twelve seconds, in which a restarted engine restores its messages
# Lambda begins with five and increases up to the mapping's maximum; more than cores have no use
# here.
_MOST_AT_ONCE = max(2, os.cpu_count() or 2)

_log = logging.getLogger(__name__)


class QueuePump:
    """Delivers one mapping."""

    def __init__(
        self,
        mapping: QueueMapping,
        queue: Queue,
        *,
        clients: Clients,
        functions: Functions,
        activity: Activity,
    ) -> None:
        """Store the mapping and the pump's dependencies."""
        self._mapping = mapping
        self._queue = queue
        self._clients = clients
        self._functions = functions
        self._activity = activity
        self._matches: Matches = any_of(mapping.filters)
        self._visibility = int(queue.attributes.get("VisibilityTimeout", _DEFAULT_VISIBILITY))
        self._hidden = min(_HIDDEN, self._visibility)
        self._held: dict[str, float] = {}  # when each message was received, by receipt

    async def run(self) -> None:
        """Deliver messages without end."""
        slots = asyncio.Semaphore(min(self._mapping.concurrency or _MOST_AT_ONCE, _MOST_AT_ONCE))
        running: set[asyncio.Task[None]] = set()
        extending = asyncio.create_task(self._extend())
        failures = 0
        try:
            while True:
                # Before receiving: a received message is hidden from others while it waits.
                await slots.acquire()
                try:
                    messages = await self._receive()
                    failures = 0
                except (BotoCoreError, ClientError) as error:
                    failures += 1
                    if failures == 1:
                        _log.warning("%s cannot be read: %s", self._queue.name, error)
                    messages = []
                    await asyncio.sleep(pause_while_away(failures))
                if not messages:
                    slots.release()
                    continue
                task = asyncio.create_task(self._deliver(messages))
                running.add(task)
                task.add_done_callback(running.discard)
                task.add_done_callback(lambda _: slots.release())
        finally:
            for task in (*running, extending):
                task.cancel()
            await asyncio.gather(*running, extending, return_exceptions=True)

    async def _extend(self) -> None:
        """Keep messages hidden while they are processed."""
        while True:
            # Two attempts may fail before a message becomes visible.
            await asyncio.sleep(self._hidden / 3)
            try:
                await asyncio.to_thread(self._hide, list(self._held), self._hidden)
            except (BotoCoreError, ClientError) as error:
                _log.info("%s: visibility is not extended: %s", self._queue.name, error)

    async def _receive(self) -> list[MessageTypeDef]:
        """Return the next batch: full, or as received within the mapping's window.

        There is no window while a client waits.

        Raises:
            BotoCoreError: the engine does not respond, and nothing was received before.
            ClientError: the engine refuses, and nothing was received before.
        """
        messages: list[MessageTypeDef] = []
        until = 0.0
        while len(messages) < self._mapping.batch_size:
            room = min(_MOST_PER_RECEIVE, self._mapping.batch_size - len(messages))
            wait = _IN_WINDOW_POLL if messages else _LONG_POLL
            receiving = asyncio.create_task(asyncio.to_thread(self._receive_once, room, wait))
            try:
                # The thread cannot be stopped: its messages would be hidden until their time-out.
                got = await asyncio.shield(receiving)
            except asyncio.CancelledError:
                # the task may be cancelled, too
                with contextlib.suppress(BotoCoreError, ClientError):
                    messages += await receiving
                await asyncio.to_thread(self._release, _receipts(messages))
                raise
            except (BotoCoreError, ClientError):
                if messages:  # they are hidden: no other receiver would get them
                    break
                raise
            if got and not messages:
                until = time.monotonic() + self._mapping.window
            messages += got
            now = time.monotonic()
            if not messages or now >= until or now - self._activity.requested_at < _IN_WINDOW_POLL:
                break
        return messages

    def _receive_once(self, room: int, wait: int) -> list[MessageTypeDef]:
        messages = self._clients.sqs.receive_message(
            QueueUrl=self._queue.url,
            MaxNumberOfMessages=room,
            WaitTimeSeconds=wait,
            VisibilityTimeout=self._hidden,
            MessageSystemAttributeNames=["All"],
            MessageAttributeNames=["All"],
        ).get("Messages", [])
        self._held |= dict.fromkeys(_receipts(messages), time.monotonic())
        return messages

    def _hide(self, receipts: list[str], seconds: int) -> None:
        for first in range(0, len(receipts), _MOST_PER_RECEIVE):
            part = receipts[first : first + _MOST_PER_RECEIVE]
            answer = self._clients.sqs.change_message_visibility_batch(
                QueueUrl=self._queue.url,
                Entries=[
                    {"Id": str(index), "ReceiptHandle": receipt, "VisibilityTimeout": seconds}
                    for index, receipt in enumerate(part)
                ],
            )
            for failure in answer.get("Failed", []):
                # It was deleted meanwhile, or is delivered again within seconds.
                _log.info("%s: visibility is not extended: %s", self._queue.name, failure)

    async def _deliver(self, messages: list[MessageTypeDef]) -> None:
        try:
            wanted = [m for m in messages if self._matches(_filtered(m))]
            failed = await self._call(wanted) if wanted else set[str]()
        except asyncio.CancelledError:
            await asyncio.to_thread(self._release, _receipts(messages))
            raise
        finally:
            for receipt in _receipts(messages):
                self._held.pop(receipt, None)
        # Also those that the filter dropped: Lambda deletes them.
        await self._delete([m for m in messages if m.get("MessageId") not in failed])

    async def _call(self, messages: list[MessageTypeDef]) -> set[str]:
        """Return the ids of the messages that failed."""
        everything = {m.get("MessageId", "") for m in messages}
        event: Object = {"Records": [_record(m, self._queue.arn) for m in messages]}
        with self._activity.working():
            result = await self._functions.invoke(self._mapping.function, event)
        if result.error is not None:
            _log.warning("%s failed: %s", self._mapping.function, result.message())
            # As on AWS, they are delivered again when the queue's visibility time-out ends.
            receipts = _receipts(messages)
            since = min(self._held.get(receipt, 0.0) for receipt in receipts)
            left = max(0, int(since + self._visibility - time.monotonic()))
            await asyncio.to_thread(self._release, receipts, left)
            return everything
        # Without `ReportBatchItemFailures`, a returned list means nothing.
        if not self._mapping.reports_failures:
            return set()
        named = failed_identifiers(result)
        # As Lambda: a reply that names unknown messages fails the batch.
        return everything if named is None or named - everything else named

    async def _delete(self, messages: list[MessageTypeDef]) -> None:
        for first in range(0, len(messages), _MOST_PER_RECEIVE):
            await self._delete_part(messages[first : first + _MOST_PER_RECEIVE])

    async def _delete_part(self, messages: list[MessageTypeDef]) -> None:
        """Delete up to ten messages, and retry those that the engine refuses to delete."""
        failures = refusals = 0
        while messages and refusals < _MOST_REFUSALS:
            try:
                # An engine that was restarted responds before it has restored its messages, and
                # refuses all of them until then.
                messages = await asyncio.to_thread(self._delete_once, messages)
                failures, refusals = 0, refusals + 1
            except (BotoCoreError, ClientError):
                failures += 1
            if messages:
                pause = pause_while_away(failures) if failures else pause_after(refusals)
                await asyncio.sleep(pause)
        # A message that is still refused was deleted, or is being processed by another receiver;
        # otherwise it is better delivered again now than later.
        if messages:
            _log.warning("%s: %d messages are not deleted", self._queue.name, len(messages))
            await asyncio.to_thread(self._release, _receipts(messages))

    def _delete_once(self, messages: list[MessageTypeDef]) -> list[MessageTypeDef]:
        """Return the messages that the engine refuses to delete."""
        answer = self._clients.sqs.delete_message_batch(
            QueueUrl=self._queue.url,
            Entries=[
                {"Id": str(index), "ReceiptHandle": receipt}
                for index, receipt in enumerate(_receipts(messages))
            ],
        )
        refused = answer.get("Failed", [])
        for failure in refused:
            _log.info("%s: a message is not deleted: %s", self._queue.name, failure)
        return [messages[int(failure["Id"])] for failure in refused]

    def _release(self, receipts: list[str], seconds: int = 0) -> None:
        """Make messages visible again; the queue does it soon if the engine does not respond."""
        for receipt in receipts:
            self._held.pop(receipt, None)
        try:
            self._hide(receipts, seconds)
        except (BotoCoreError, ClientError) as error:
            _log.info("%s: messages are not released: %s", self._queue.name, error)


def _receipts(messages: list[MessageTypeDef]) -> list[str]:
    return [m.get("ReceiptHandle", "") for m in messages]


def _record(message: MessageTypeDef, queue_arn: str) -> Object:
    return {
        "messageId": message.get("MessageId", ""),
        "receiptHandle": message.get("ReceiptHandle", ""),
        "body": message.get("Body", ""),
        "attributes": {**message.get("Attributes", {})},
        "messageAttributes": {
            name: _attribute(value) for name, value in message.get("MessageAttributes", {}).items()
        },
        "md5OfBody": message.get("MD5OfBody", ""),
        "eventSource": "aws:sqs",
        "eventSourceARN": queue_arn,
        "awsRegion": arns.REGION,
    }


def _attribute(value: MessageAttributeValueOutputTypeDef) -> Object:
    shape: Object = {
        "dataType": value["DataType"],
        "stringListValues": [],
        "binaryListValues": [],
    }
    if "StringValue" in value:
        shape["stringValue"] = value["StringValue"]
    if "BinaryValue" in value:
        shape["binaryValue"] = base64.b64encode(value["BinaryValue"]).decode()
    return shape


def _filtered(message: MessageTypeDef) -> Object:
    """Return the message for filters: a JSON body is parsed."""
    text = message.get("Body", "")
    try:
        body: JsonValue = json.loads(text)
    except ValueError:
        body = text
    return {"body": body, "messageId": message.get("MessageId", "")}
