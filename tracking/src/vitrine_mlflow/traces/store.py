"""The items of traces: reading and conditional writing."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from vitrine_mlflow import keys
from vitrine_mlflow.config import TRACES_EXPIRE
from vitrine_mlflow.context import Context
from vitrine_mlflow.database import Range
from vitrine_mlflow.encoding import escape, iso_time
from vitrine_mlflow.errors import ConflictError, missing_error, wrong_state
from vitrine_mlflow.expressions import ABSENT, Delete, Item, Put, Update, Write, key_of, with_key
from vitrine_mlflow.keys import Key
from vitrine_mlflow.runs import indexed_name
from vitrine_mlflow.table import EXPIRES_AT, LSI2, LSI3, LSI4, PARTITION_KEY, SORT_KEY, Index
from vitrine_mlflow.traces.document import TraceDocument
from vitrine_mlflow.traces.spans import StoredSpan, merge_spans, unpack

_Result = TypeVar("_Result")
_DOCUMENT, _SPANS = "trace", "spans"
# Traces that this process writes at the moment: `start_trace` and `log_spans` of one follow each
# other (decision 59).
_REMEMBERED = 1_000


@dataclass(frozen=True)
class StoredTrace:
    """A trace as its item has it; revision 0 is a new one."""

    experiment_id: str
    trace_id: str
    document: TraceDocument
    revision: int = 0
    indexed: Mapping[str, str] = field(default_factory=dict[str, str])  # its keys in local indexes

    @property
    def key(self) -> Key:
        return trace_key(self.experiment_id, self.trace_id)


class TraceStore:
    """Reads and writes traces; a trace and all that searches return of it is one item."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._database = context.owned_database
        # What this process wrote last. Only writes begin from it, and their condition on the
        # revision makes them repeat if another process came between.
        self._written: dict[str, tuple[str, int, bytes]] = {}
        self._experiment_ids: dict[str, str] = {}

    def change(self, trace_id: str, change: Callable[[StoredTrace], _Result]) -> _Result:
        """Apply a change to a trace, repeated until no other writer comes between.

        Raises:
            MlflowException: there is no such trace.
        """
        return self._database.retry(lambda: change(self.find(trace_id)))

    def upsert(
        self,
        experiment_id: str,
        trace_id: str,
        change: Callable[[StoredTrace | None], _Result],
        *,
        probably_new: bool = False,
    ) -> _Result:
        """Change a trace that may not exist yet.

        The first attempt begins from what this process wrote last, or from nothing if the trace
        is probably new; it saves a read, and its conditions fail if that is not the state.

        Raises:
            MlflowException: a trace of this id has expired and is not archived yet.
        """
        first = [self._read_remembered(trace_id)]

        def attempt() -> _Result:
            known = first.pop() if first else None
            if known is None and not (probably_new and not tried):
                known = self.found(experiment_id, [trace_id])[0]
            tried.append(trace_id)
            return change(known)

        tried: list[str] = []
        try:
            return self._database.retry(attempt)
        except ConflictError as error:
            lookup = self._database.get(keys.TRACE_LOOKUP.key(trace_id=trace_id))
            # Only the look-up is left: the archival deletes it last.
            if lookup is not None and self.found(experiment_id, [trace_id]) == [None]:
                raise wrong_state(
                    f"Trace '{trace_id}' has expired and is being archived. Repeat the request "
                    "when it is archived."
                ) from error
            raise

    def _read_remembered(self, trace_id: str) -> StoredTrace | None:
        known = self._written.get(trace_id)
        if known is None or not self._database.owns(known[0]):
            return None
        document = TraceDocument.unpack(known[2])
        indexed = _index_attributes(trace_id, document)
        return StoredTrace(known[0], trace_id, document, known[1], indexed)

    def experiment_of(self, trace_id: str) -> str | None:
        """The experiment of a trace by the item that was written with it."""
        return self._experiments_of([trace_id]).get(trace_id)

    def _experiments_of(self, trace_ids: Sequence[str]) -> dict[str, str]:
        unknown = {
            keys.TRACE_LOOKUP.key(trace_id=trace_id): trace_id
            for trace_id in trace_ids
            if trace_id and trace_id not in self._experiment_ids
        }
        for key, item in (self._database.get_many(unknown) if unknown else {}).items():
            self._remember_experiment(unknown[key], item["experiment_id"])
        known = {
            trace_id: self._experiment_ids[trace_id]
            for trace_id in trace_ids
            if trace_id in self._experiment_ids
        }
        held = {trace_id for trace_id in set(known.values()) if self._database.owns(trace_id)}
        return {trace_id: known[trace_id] for trace_id in known if known[trace_id] in held}

    def _remember_experiment(self, trace_id: str, experiment_id: str) -> None:
        if len(self._experiment_ids) >= _REMEMBERED:
            self._experiment_ids.clear()
        self._experiment_ids[trace_id] = experiment_id

    def find(self, trace_id: str) -> StoredTrace:
        """A trace, read consistently.

        Raises:
            MlflowException: there is no such trace.
        """
        traces = self.find_many([trace_id])
        if not traces:
            raise not_found(trace_id)
        return traces[0]

    def find_many(self, trace_ids: Iterable[str]) -> list[StoredTrace]:
        """The traces that exist, in the order of their ids."""
        wanted = list(dict.fromkeys(trace_ids))
        experiments = self._experiments_of(wanted)
        return self.read(
            [(experiments[trace_id], trace_id) for trace_id in wanted if trace_id in experiments]
        )

    def read(self, traces: Sequence[tuple[str, str]]) -> list[StoredTrace]:
        """The traces that exist, of their experiments and ids."""
        items = self._database.get_many(trace_key(*trace) for trace in traces) if traces else {}
        return [
            _stored_trace(*trace, items[trace_key(*trace)])
            for trace in traces
            if trace_key(*trace) in items
        ]

    def found(self, experiment_id: str, trace_ids: Sequence[str]) -> list[StoredTrace | None]:
        """Traces that probably belong to an experiment, in one request if they do."""
        lookups = {trace_id: keys.TRACE_LOOKUP.key(trace_id=trace_id) for trace_id in trace_ids}
        expected = {trace_id: trace_key(experiment_id, trace_id) for trace_id in trace_ids}
        items = self._database.get_many([*lookups.values(), *expected.values()])
        results: list[StoredTrace | None] = []
        for trace_id in trace_ids:
            lookup = items.get(lookups[trace_id])
            if lookup is None:
                results.append(None)
            elif lookup["experiment_id"] == experiment_id and expected[trace_id] in items:
                results.append(_stored_trace(experiment_id, trace_id, items[expected[trace_id]]))
            elif not self._database.owns(lookup["experiment_id"]):
                raise not_found(trace_id)
            else:
                others = self.read([(lookup["experiment_id"], trace_id)])
                results.append(others[0] if others else None)
        return results

    def write(self, stored: StoredTrace, more: Sequence[Write] = ()) -> StoredTrace:
        """Write a new or a changed trace, with other writes, if it was not changed meanwhile.

        Raises:
            ConflictError: another writer came between, or created it.
        """
        experiment_id, trace_id = stored.experiment_id, stored.trace_id
        packed = stored.document.pack()
        revision = stored.revision + 1
        attributes: Item = {_DOCUMENT: packed, "revision": revision}
        indexed = _index_attributes(trace_id, stored.document)
        writes: list[Write] = [*more]
        if stored.revision:
            # an update of these only: writing equal keys again would write the indexes, too
            changed = {
                key: value for key, value in indexed.items() if stored.indexed.get(key) != value
            }
            removed = [key for key in stored.indexed if key not in indexed]
            condition = {"revision": stored.revision}
            writes.append(Update(stored.key, {**attributes, **changed}, removed, {}, condition))
        else:
            attributes |= keys.TRACE.index_keys(experiment_id=experiment_id, trace_id=trace_id)
            expiry = self._context.config.expires_at(TRACES_EXPIRE, self._context.sources.now_ms())
            if expiry is not None:
                attributes[EXPIRES_AT] = expiry
            lookup = with_key(
                keys.TRACE_LOOKUP.key(trace_id=trace_id), {"experiment_id": experiment_id}
            )
            new = {PARTITION_KEY: ABSENT}
            writes.append(Put(with_key(stored.key, attributes | indexed), new))
            writes.append(Put(lookup, new))
        try:
            self._database.write(writes)
        except ConflictError:
            self.drop_cached(trace_id)
            raise
        # Emptied, not ordered by use: what is missing costs one read.
        if len(self._written) >= _REMEMBERED:
            self._written.clear()
        self._written[trace_id] = (experiment_id, revision, packed)
        self._remember_experiment(trace_id, experiment_id)
        return StoredTrace(experiment_id, trace_id, stored.document, revision, indexed)

    def drop_cached(self, trace_id: str) -> None:
        self._written.pop(trace_id, None)
        self._experiment_ids.pop(trace_id, None)

    def write_parts(self, stored: StoredTrace, batch: str, parts: Sequence[bytes]) -> None:
        """Write a batch of several items. No reader sees it before the trace's item names it."""
        for number, part in enumerate(parts):
            self._database.write([span_put(stored, batch, number, part)])

    def spans(self, stored: StoredTrace) -> list[StoredSpan]:
        """All spans of a trace."""
        return self.spans_of([stored])[0]

    def spans_of(self, traces: Sequence[StoredTrace]) -> list[list[StoredSpan]]:
        wanted = [
            [_part_keys(trace, batch, count) for batch, count in trace.document.batches]
            for trace in traces
        ]
        names = [key for batches in wanted for parts in batches for key in parts]
        items = self._database.get_many(names) if names else {}
        return [
            merge_spans(unpack(items[key][_SPANS] for key in parts) for parts in batches)
            for batches in wanted
        ]

    def whole(self, trace_id: str) -> tuple[StoredTrace, list[StoredSpan]]:
        """A trace with its spans, by one range of its partition.

        Raises:
            MlflowException: there is no such trace.
        """
        experiment_id = self.experiment_of(trace_id)
        if experiment_id is None:
            raise not_found(trace_id, whole=True)
        key = trace_key(experiment_id, trace_id)
        # Its parts sort directly after its own item.
        last = Range.of_prefix(keys.SPANS.prefix(trace_id=trace_id)).high
        items = {key_of(item): item for item in self._database.query(key.pk, Range(key.sk, last))}
        if key not in items:
            self.drop_cached(trace_id)
            raise not_found(trace_id, whole=True)
        stored = _stored_trace(experiment_id, trace_id, items[key])
        batches = [
            [items[part][_SPANS] for part in _part_keys(stored, batch, count)]
            for batch, count in stored.document.batches
        ]
        return stored, merge_spans(map(unpack, batches))

    def ids_by_time(
        self, experiment_id: str, low: str = "", high: str = "", **options: bool | int
    ) -> Iterator[tuple[str, str]]:
        """Return times and ids of an experiment's traces in the order of time."""
        return self._ids(experiment_id, LSI2, Range("T#" + low, "T#" + (high or "~")), **options)

    def ids_by_status(
        self, experiment_id: str, status: str, low: str = "", high: str = "", **options: bool | int
    ) -> Iterator[tuple[str, str]]:
        """Return times and ids of the traces with one status in the order of time."""
        keys_of_status = Range(f"{status}#{low}", f"{status}#{high or '~'}")
        return self._ids(experiment_id, LSI3, keys_of_status, **options)

    def ids_by_name(
        self, experiment_id: str, name: str, **options: bool | int
    ) -> Iterator[tuple[str, str]]:
        """Return times and ids of the traces with one name in the order of time."""
        wanted = Range.of_prefix(f"T#{indexed_name(name)}#")
        return self._ids(experiment_id, LSI4, wanted, **options)

    def _ids(
        self, experiment_id: str, index: Index, wanted: Range, **options: bool | int
    ) -> Iterator[tuple[str, str]]:
        if wanted.low > wanted.high:
            return  # DynamoDB refuses such a range
        pk = keys.EXPERIMENT.key(experiment_id=experiment_id).pk
        for item in self._database.query(pk, wanted, index=index, **options):  # type: ignore[arg-type]
            fields = keys.TRACE.sk.parse(item[SORT_KEY])
            if fields is not None:
                yield item[index.sk].rsplit("#", 2)[-2], fields["trace_id"]

    def remove(self, stored: StoredTrace) -> None:
        """Remove a trace."""
        items = self._database.query_prefix(stored.key.pk, f"{stored.key.sk}#")
        removals = [Delete(key_of(item)) for item in items]
        lookup = keys.TRACE_LOOKUP.key(trace_id=stored.trace_id)
        # First: no part of the trace is visible without its own item.
        self._database.write([Delete(stored.key), Delete(lookup)])
        self.drop_cached(stored.trace_id)
        self._database.write_in_batches(removals)


def not_found(trace_id: str, *, whole: bool = False) -> Exception:
    if whole:
        return missing_error(f"Trace with ID {trace_id} is not found.")
    return missing_error(f"Trace with ID '{trace_id}' not found.")


def trace_key(experiment_id: str, trace_id: str) -> Key:
    return keys.TRACE.key(experiment_id=experiment_id, trace_id=trace_id)


def span_put(stored: StoredTrace, batch: str, number: int, part: bytes) -> Put:
    key = _part_key(stored, batch, number)
    return Put(with_key(key, {_SPANS: part}))


def _part_keys(stored: StoredTrace, batch: str, count: int) -> list[Key]:
    return [_part_key(stored, batch, number) for number in range(count)]


def _part_key(stored: StoredTrace, batch: str, number: int) -> Key:
    own = {"experiment_id": stored.experiment_id, "trace_id": stored.trace_id}
    if not batch:
        return keys.SPANS.key(**own)
    return keys.MORE_SPANS.key(**own, batch=batch, number=f"{number + 1:04d}")


def _stored_trace(experiment_id: str, trace_id: str, item: Item) -> StoredTrace:
    document = TraceDocument.unpack(item[_DOCUMENT])
    indexed = _index_attributes(trace_id, document)
    return StoredTrace(experiment_id, trace_id, document, item["revision"], indexed)


def _index_attributes(trace_id: str, document: TraceDocument) -> dict[str, str]:
    time, trace_id = iso_time(document.time), escape(trace_id)
    attributes = {
        # `T#` keeps traces apart from runs, of which an experiment may have very many
        "lsi2sk": f"T#{time}#{trace_id}",
        "lsi3sk": f"{document.state}#{time}#{trace_id}",
    }
    if document.name is not None:
        attributes["lsi4sk"] = f"T#{indexed_name(document.name)}#{time}#{trace_id}"
    return attributes
