"""The pump from a table's stream to a function: one task per shard, parents before children."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from local.pumps.batches import Policy, deliver, pause_while_away
from local.pumps.failures import FailedBatch, write_failure
from local.pumps.patterns import Matches, any_of
from local.pumps.records import created_at, cut, event_record, sequence_of

if TYPE_CHECKING:
    from mypy_boto3_dynamodbstreams.type_defs import GetRecordsOutputTypeDef, ShardTypeDef

    from local.clients import Clients
    from local.function_process import InvocationResult
    from local.functions import Functions
    from local.plan import Object, Plan, StreamMapping
    from local.pumps.activity import Activity
    from local.pumps.journal import Journal

# DynamoDB Local has no notification; its processor time grows with the polls of all streams.
_SHORTEST_POLL = 0.1
_LONGEST_POLL = 0.5
_IDLE_POLL = 2.0  # while no function runs, because there are few other writers
# For shards that begin while all others go on; the end of a shard is noticed at once.
_DISCOVER_EVERY = 30.0
# GetRecords' maximum.
_READ_LIMIT = 1000

_log = logging.getLogger(__name__)


class StreamPump:
    """Delivers one mapping."""

    def __init__(
        self,
        mapping: StreamMapping,
        *,
        clients: Clients,
        functions: Functions,
        journal: Journal,
        activity: Activity,
        plan: Plan,
    ) -> None:
        """Store the mapping and the pump's dependencies."""
        self.mapping = mapping
        self.reader = f"{mapping.id}@{mapping.stream_arn}"
        self.clients = clients
        self.functions = functions
        self.journal = journal
        self.activity = activity
        self.plan = plan
        self.in_work: dict[str, float] = {}
        self.matches: Matches = any_of(mapping.filters)
        self.policy = Policy(
            mapping.reports_failures,
            mapping.bisects,
            mapping.maximum_retries,
            mapping.maximum_age,
        )

    async def run(self) -> None:
        """Deliver records without end; shards are read after their parents."""
        running: dict[str, asyncio.Task[None]] = {}
        failures = 0
        try:
            while True:
                try:
                    await self._begin()
                    shards = await asyncio.to_thread(self._shards)
                    failures = 0
                except (BotoCoreError, ClientError) as error:
                    failures += 1
                    if failures == 1:
                        _log.warning("%s cannot be read: %s", self.mapping.stream_arn, error)
                    await asyncio.sleep(pause_while_away(failures))
                    continue
                for shard in shards:
                    name = shard.get("ShardId", "")
                    if name not in running and self._due(shard):
                        running[name] = asyncio.create_task(_Shard(self, name).run())
                await self._wait(running)
        finally:
            for task in running.values():
                task.cancel()
            await asyncio.gather(*running.values(), return_exceptions=True)

    def lag(self) -> float:
        """Return the age in seconds of the oldest change in progress; 0 if there is none."""
        return max((time.time() - when for when in self.in_work.values()), default=0.0)

    def may_rest(self, looked: float) -> bool:
        """Return whether a stream that was empty at `looked` need not be read again yet."""
        return (
            time.monotonic() - looked < _IDLE_POLL
            and self.functions.have_been_idle_since(looked)
            and self.activity.requested_at < looked
        )

    async def at_head(self) -> bool:
        """Return whether every change that is in the stream now is processed."""
        return await asyncio.to_thread(self._at_head)

    @staticmethod
    async def _wait(running: dict[str, asyncio.Task[None]]) -> None:
        """Wait until a shard is finished, a shard failed, or it is time to look for new ones."""
        alive = [task for task in running.values() if not task.done()]
        if not alive:
            await asyncio.sleep(_LONGEST_POLL)
            return
        done, _ = await asyncio.wait(
            alive, timeout=_DISCOVER_EVERY, return_when=asyncio.FIRST_COMPLETED
        )
        for task in done:
            task.result()

    async def _begin(self) -> None:
        if self.journal.has_started(self.reader):
            return
        positions: dict[str, str] = {}
        if not self.mapping.from_start:
            positions = await asyncio.to_thread(self._ends)
        self.journal.begin(self.reader, positions)

    def _ends(self) -> dict[str, str]:
        """Return the last record of every shard: LATEST, in a form that survives a restart."""
        ends: dict[str, str] = {}
        for shard in self._shards():
            name = shard.get("ShardId", "")
            iterator = self.iterator(name, None)
            while iterator:
                got = self.read(iterator, _READ_LIMIT)
                if got is None or not got["Records"]:
                    break
                last = got["Records"][-1].get("dynamodb", {})
                ends[name] = last.get("SequenceNumber", "")
                iterator = got.get("NextShardIterator", "")
        return ends

    def _at_head(self) -> bool:
        for shard in self._shards():
            name = shard.get("ShardId", "")
            sequence, finished = self.journal.position(self.reader, name)
            if finished:
                continue
            got = self.read(self.iterator(name, sequence), 1)
            if got is not None and got["Records"]:
                return False
        return True

    def _due(self, shard: ShardTypeDef) -> bool:
        _, finished = self.journal.position(self.reader, shard.get("ShardId", ""))
        if finished:
            return False
        parent = shard.get("ParentShardId")
        if parent is None or parent not in {shard.get("ShardId") for shard in self._known}:
            return True
        return self.journal.position(self.reader, parent)[1]

    _known: tuple[ShardTypeDef, ...] = ()

    def _shards(self) -> list[ShardTypeDef]:
        shards: list[ShardTypeDef] = []
        described = self.clients.streams.describe_stream(StreamArn=self.mapping.stream_arn)
        while True:
            description = described["StreamDescription"]
            shards += description.get("Shards", [])
            last = description.get("LastEvaluatedShardId")
            if not last:
                self._known = tuple(shards)
                return shards
            described = self.clients.streams.describe_stream(
                StreamArn=self.mapping.stream_arn, ExclusiveStartShardId=last
            )

    def iterator(self, shard: str, after: str | None) -> str:
        """Return an iterator after a sequence number, or at the beginning of the shard."""
        client = self.clients.streams
        if after is None:
            got = client.get_shard_iterator(
                StreamArn=self.mapping.stream_arn,
                ShardId=shard,
                ShardIteratorType="TRIM_HORIZON",
            )
        else:
            got = client.get_shard_iterator(
                StreamArn=self.mapping.stream_arn,
                ShardId=shard,
                ShardIteratorType="AFTER_SEQUENCE_NUMBER",
                SequenceNumber=after,
            )
        return got["ShardIterator"]

    def read(self, iterator: str, limit: int) -> GetRecordsOutputTypeDef | None:
        """Read once; None if the iterator has expired and a new one is needed."""
        client = self.clients.streams
        try:
            return client.get_records(ShardIterator=iterator, Limit=min(limit, _READ_LIMIT))
        except (
            client.exceptions.TrimmedDataAccessException,
            client.exceptions.ExpiredIteratorException,
        ):
            return None


class _Shard:
    """Reads and delivers one shard from its checkpoint to its end."""

    def __init__(self, pump: StreamPump, name: str) -> None:
        self._pump = pump
        self._name = name
        self._iterator: str | None = None
        self._after: str | None = None
        self._closed = False

    async def run(self) -> None:
        """Deliver until the shard is closed and read to its end."""
        pump = self._pump
        self._after, _ = pump.journal.position(pump.reader, self._name)
        while not self._closed:
            records = await self._collect()
            if records:
                pump.in_work[self._name] = created_at(records[0])
            matching = [record for record in records if pump.matches(record)]
            for part in cut(matching) if matching else ():
                await deliver(part, pump.policy, self)
            if records:
                # also past the last records, if the filters excluded them
                self.done(sequence_of(records[-1]))
            pump.in_work.pop(self._name, None)
        pump.journal.finish(pump.reader, self._name)

    async def _collect(self) -> list[Object]:
        """Return the next batch: full, or as received within the mapping's window.

        The window ends early if a client waits.
        """
        mapping = self._pump.mapping
        records: list[Object] = []
        begun, looked = 0.0, -math.inf
        pause = _SHORTEST_POLL
        while not self._closed and len(records) < mapping.batch_size:
            got: list[Object] = []
            if records or not self._pump.may_rest(looked):
                looked = time.monotonic()
                got = await self._read(mapping.batch_size - len(records))
            now = time.monotonic()
            if got and not records:
                begun = now
            records += got
            left = begun + mapping.window - now
            if records and (left <= 0 or self._pump.activity.requested_at >= begun):
                break
            if not got:
                left = left if records else pause
                await asyncio.sleep(max(0.0, min(pause, left)))
                pause = min(pause * 1.5, _LONGEST_POLL)
        return records

    async def _read(self, limit: int) -> list[Object]:
        failures = 0
        while True:
            try:
                return await asyncio.to_thread(self._read_once, limit)
            except (BotoCoreError, ClientError) as error:
                failures += 1
                self._iterator = None
                if failures == 1:
                    _log.warning("%s cannot be read: %s", self._name, error)
                await asyncio.sleep(pause_while_away(failures))

    def _read_once(self, limit: int) -> list[Object]:
        if self._iterator is None:
            self._iterator = self._pump.iterator(self._name, self._after)
        got = self._pump.read(self._iterator, limit)
        if got is None:
            self._iterator = None
            return []
        self._iterator = got.get("NextShardIterator")
        self._closed = not self._iterator
        stream = self._pump.mapping.stream_arn
        records = [event_record(record, stream) for record in got["Records"]]
        if records:
            self._after = sequence_of(records[-1])
        return records

    async def call(self, records: list[Object]) -> InvocationResult:
        """Call the function with a batch."""
        pump = self._pump
        with pump.activity.working():
            event: Object = {"Records": list(records)}
            result = await pump.functions.invoke(pump.mapping.function, event)
        if result.error is not None:
            _log.warning("%s failed: %s", pump.mapping.function, result.message())
        return result

    def done(self, sequence: str) -> None:
        """Checkpoint."""
        self._pump.journal.advance(self._pump.reader, self._name, sequence)

    async def store_failed(
        self, records: list[Object], condition: str, calls: int, result: InvocationResult | None
    ) -> None:
        """Write to the failure destination; retried until it succeeds."""
        pump = self._pump
        batch = FailedBatch(self._name, records, condition, calls, result)
        arn = pump.functions.spec(pump.mapping.function).arn
        failures = 0
        while True:
            try:
                await write_failure(pump.clients, pump.plan, pump.mapping, arn, batch)
            except (BotoCoreError, ClientError):
                failures += 1
                _log.exception("cannot write an abandoned batch of %s; retrying", self._name)
                await asyncio.sleep(pause_while_away(failures))
            else:
                return
