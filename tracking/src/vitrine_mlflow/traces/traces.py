"""Operations on traces: start, log spans, read, tag, link, delete."""

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from mlflow.entities import Span, Trace, TraceData, TraceInfo
from mlflow.entities.trace_info_v2 import TraceInfoV2
from mlflow.entities.trace_status import TraceStatus
from mlflow.exceptions import MlflowTracingException

from vitrine_mlflow import keys
from vitrine_mlflow.addresses import require_folder
from vitrine_mlflow.context import Context
from vitrine_mlflow.encoding import iso_time
from vitrine_mlflow.errors import invalid, missing_error, parent_required, wrong_state
from vitrine_mlflow.experiment_items import StoredExperiment
from vitrine_mlflow.experiments import Experiments
from vitrine_mlflow.expressions import Delete, Put, Write, with_key
from vitrine_mlflow.keys import Key
from vitrine_mlflow.mlflow_api import joined_uri, parsed_experiment_id
from vitrine_mlflow.mlflow_traces import (
    ARTIFACT_LOCATION_TAG,
    LOCATION_TAGS,
    NAME_TAG,
    SIZE_STATS,
    SPANS_LOCATION,
    TRACKING_STORE,
    span_of_content,
    validate_trace_tag,
    validated_name,
)
from vitrine_mlflow.traces.document import TraceDocument, count_of, load_json
from vitrine_mlflow.traces.spans import SpanBatch, StoredSpan, pack
from vitrine_mlflow.traces.store import StoredTrace, TraceStore, span_put

# As MLflow's own store, with its message.
_LINKS = 100
_EXPORT_SECONDS = (1, 2)  # how long a reader waits for spans that are being exported


class Traces:
    """Commands and queries of traces; searches and assessments are apart."""

    def __init__(self, context: Context, experiments: Experiments) -> None:
        self._context = context
        self._experiments = experiments
        self.items = TraceStore(context)

    def start(self, info: TraceInfo) -> TraceInfo:
        """Write what a finished trace reports of itself, over what its spans implied."""
        validated_name(info.tags.get(NAME_TAG))
        require_locations_storable(info.tags)
        experiment = self._experiments.recent(info.experiment_id)
        experiment.require_active()
        experiment_id, trace_id = experiment.experiment_id, info.trace_id

        def change(stored: StoredTrace | None) -> StoredTrace:
            if stored is None:
                stored = StoredTrace(experiment_id, trace_id, TraceDocument(0, ""))
            elif stored.experiment_id != experiment_id:
                raise invalid(
                    f"Trace '{trace_id}' belongs to the experiment {stored.experiment_id}."
                )
            elif _location(stored) not in (None, TRACKING_STORE):
                raise wrong_state(
                    f"Cannot update traces that are no longer DB-backed: '{trace_id}'."
                )
            stored.document.start(info)
            stored.document.tags |= artifact_tag(self._experiments, experiment, trace_id)
            stored.document.add_assessments(info, self._context.sources.now_ms)
            return self.items.write(stored)

        return _info(self.items.upsert(experiment_id, trace_id, change, probably_new=True))

    def log_spans(self, location: str, spans: Sequence[Span]) -> list[Span]:
        """Add spans to their traces, which are created if they do not exist."""
        by_trace: dict[str, list[Span]] = defaultdict(list)
        for span in spans:
            by_trace[span.trace_id].append(span)
        batches = {trace_id: SpanBatch.of(group) for trace_id, group in by_trace.items()}
        for trace_id in sorted(batches):
            self._log(location, trace_id, batches[trace_id])
        return list(spans)

    def _log(self, location: str, trace_id: str, batch: SpanBatch) -> None:
        parts = pack(batch.spans)

        def change(stored: StoredTrace | None) -> None:
            earlier: list[StoredSpan] | None = None
            if stored is None:
                experiment = self._experiments.recent(location)
                stored = StoredTrace(experiment.experiment_id, trace_id, batch.new_document())
                stored.document.tags = artifact_tag(self._experiments, experiment, trace_id)
            else:
                _require_open(stored)
                if batch.needs_stored_spans(stored.document):
                    earlier = self.items.spans(stored)
            batch.apply(stored.document, earlier)
            self._write_batch(stored, parts)

        experiment_id = str(parsed_experiment_id(location))
        self.items.upsert(experiment_id, trace_id, change)

    def _write_batch(self, stored: StoredTrace, parts: list[bytes]) -> None:
        is_first = not stored.document.batches and len(parts) == 1
        batch = "" if is_first else self._context.sources.new_hex()
        stored.document.batches.append((batch, len(parts)))
        if len(parts) == 1:
            self.items.write(stored, [span_put(stored, batch, 0, parts[0])])
        else:
            self.items.write_parts(stored, batch, parts)
            self.items.write(stored)

    # Queries

    def info(self, trace_id: str) -> TraceInfo:
        return _info(self.items.find(trace_id))

    def get(self, trace_id: str, *, allow_partial: bool) -> Trace:
        """A trace with its spans; waits a little for those that are being exported.

        Raises:
            MlflowException: there is no such trace, or it is not whole yet.
        """
        for seconds in (*_EXPORT_SECONDS, None):
            stored, spans = self.items.whole(trace_id)
            if _location(stored) != TRACKING_STORE:
                raise MlflowTracingException("Trace data not stored in tracking store")
            if allow_partial or (spans and _is_whole(stored, spans)):
                return _trace(stored, spans)
            if seconds is not None:
                time.sleep(seconds)
        raise missing_error(
            f"Trace with ID {trace_id} is not fully exported yet, please try again later."
        )

    def get_many(
        self, trace_ids: Sequence[str], experiment_ids: Sequence[str] | None
    ) -> list[Trace]:
        """The traces of these ids that are whole."""
        traces = self._scoped_traces(trace_ids, experiment_ids)
        if any(_location(stored) != TRACKING_STORE for stored in traces):
            raise MlflowTracingException("Trace data not stored in tracking store")
        return [
            _trace(stored, spans)
            for stored, spans in zip(traces, self.items.spans_of(traces), strict=True)
            if spans and _is_whole(stored, spans)
        ]

    def infos(
        self, trace_ids: Sequence[str], experiment_ids: Sequence[str] | None
    ) -> list[TraceInfo]:
        return [_info(stored) for stored in self._scoped_traces(trace_ids, experiment_ids)]

    def _scoped_traces(
        self, trace_ids: Sequence[str], experiment_ids: Sequence[str] | None
    ) -> list[StoredTrace]:
        traces = self.items.find_many(trace_ids)
        if experiment_ids is None:
            return traces
        scope = {str(parsed_experiment_id(experiment_id)) for experiment_id in experiment_ids}
        return [stored for stored in traces if stored.experiment_id in scope]

    # Tags and links

    def set_tag(self, trace_id: str, key: str, value: Any) -> None:
        key, value = validate_trace_tag(key, value)
        if key == NAME_TAG:
            value = validated_name(value)
        require_locations_storable({key: value})

        def change(stored: StoredTrace) -> None:
            more: list[Write] = []
            if key == NAME_TAG:
                stored.document.name = value
            else:
                stored.document.tags[key] = value
                item = with_key(_tag_key(stored, key), {"key": key, "value": value})
                more.append(Put(item))
            self.items.write(stored, more)

        if key == NAME_TAG or self._context.isolation is not None:
            self.items.change(trace_id, change)
        else:
            with parent_required():
                self.items.change(trace_id, change)

    def delete_tag(self, trace_id: str, key: str) -> None:
        not_tagged = missing_error(f"No trace tag with key '{key}' for trace with ID '{trace_id}'")

        def change(stored: StoredTrace) -> None:
            document = stored.document
            has_it = document.name is not None if key == NAME_TAG else key in document.tags
            if not has_it:
                raise not_tagged
            more: list[Write] = []
            if key == NAME_TAG:
                document.name = None
            else:
                del document.tags[key]
                more.append(Delete(_tag_key(stored, key)))
            self.items.write(stored, more)

        if key != NAME_TAG and not self.items.find_many([trace_id]):
            raise not_tagged
        self.items.change(trace_id, change)

    def link_to_run(self, trace_ids: Sequence[str], run_id: str) -> None:
        if not trace_ids:
            return
        if len(trace_ids) > _LINKS:
            raise invalid(
                f"Cannot link more than {_LINKS} traces to a run in a single request. "
                f"Provided {len(trace_ids)} traces."
            )
        for stored in self.items.find_many(trace_ids):
            self.items.change(
                stored.trace_id, lambda trace: self._link(trace, trace.document.runs, run_id)
            )

    def link_prompts(self, trace_id: str, prompts: Sequence[Any]) -> None:
        for prompt in prompts:
            name = f"{prompt.name}/{prompt.version}"
            self.items.change(
                trace_id, lambda trace, name=name: self._link(trace, trace.document.prompts, name)
            )

    def _link(self, stored: StoredTrace, links: list[str], target: str) -> None:
        if target not in links:
            links.append(target)
            self.items.write(stored)

    def delete(
        self,
        experiment_id: str,
        max_time: int | None,
        max_traces: int | None,
        trace_ids: Sequence[str] | None,
    ) -> int:
        """Delete the oldest traces up to a time, or those of given ids; returns their number."""
        own_id = str(parsed_experiment_id(experiment_id))
        if trace_ids:
            traces = [
                trace for trace in self.items.find_many(trace_ids) if trace.experiment_id == own_id
            ]
        else:
            high = "" if max_time is None else f"{iso_time(max_time)}~"
            ids = self.items.ids_by_time(own_id, high=high)
            traces = [
                trace
                for trace in self.items.read([(own_id, trace_id) for _, trace_id in ids])
                if max_time is None or trace.document.time <= max_time
            ]
        chosen = traces if max_traces is None else traces[:max_traces]
        for stored in chosen:
            self.items.remove(stored)
        return len(chosen)


def _info(stored: StoredTrace) -> TraceInfo:
    return stored.document.entity(stored.experiment_id, stored.trace_id)


def _trace(stored: StoredTrace, spans: Sequence[StoredSpan]) -> Trace:
    return Trace(_info(stored), TraceData([span_of_content(span.content) for span in spans]))


def _location(stored: StoredTrace) -> str | None:
    return stored.document.tags.get(SPANS_LOCATION)


def _require_open(stored: StoredTrace) -> None:
    location = _location(stored)
    if location == "ARCHIVE_REPO":
        raise wrong_state(f"Cannot log spans to archived traces: '{stored.trace_id}'.")
    if location not in (None, TRACKING_STORE):
        raise wrong_state(
            "Cannot log spans because one or more traces are unavailable for DB-backed span "
            f"writes: other='{stored.trace_id}'"
        )


def _is_whole(stored: StoredTrace, spans: Sequence[StoredSpan]) -> bool:
    """Whether there are as many spans as the trace reported, if it reported a number."""
    statistics = load_json(stored.document.metadata.get(SIZE_STATS))
    return len(spans) >= (count_of(statistics.get("num_spans")) or 0)


def artifact_tag(
    experiments: Experiments, experiment: StoredExperiment, trace_id: str
) -> dict[str, Any]:
    """The tag that names where the artifacts of a trace are.

    Raises:
        MlflowException: a server may not use this place.
    """
    experiments.require_storable_artifacts(experiment)
    return {ARTIFACT_LOCATION_TAG: joined_uri(experiment.location, "traces", trace_id, "artifacts")}


def require_locations_storable(tags: Mapping[str, Any]) -> None:
    """Refuse tags that name a place that a server must not store.

    Raises:
        MlflowException: a server may not use it.
    """
    for key in LOCATION_TAGS:
        require_folder(tags.get(key), f"The tag {key}")


def _tag_key(stored: StoredTrace, key: str) -> Key:
    return keys.TRACE_TAG.key(experiment_id=stored.experiment_id, trace_id=stored.trace_id, key=key)


class DeprecatedTraces:
    """Writes traces whose spans the client uploads as an artifact."""

    def __init__(self, context: Context, experiments: Experiments, items: TraceStore) -> None:
        self._context = context
        self._experiments = experiments
        self._items = items

    def start(
        self,
        experiment_id: str,
        timestamp_ms: int,
        metadata: Mapping[str, str],
        tags: Mapping[str, str],
    ) -> TraceInfoV2:
        """Write a trace that is in progress; the id is new."""
        name = validated_name(tags.get(NAME_TAG))
        require_locations_storable(tags)
        experiment = self._experiments.find(experiment_id)
        experiment.require_active()
        trace_id = self._context.sources.new_hex()
        document = TraceDocument(timestamp_ms, TraceStatus.IN_PROGRESS.to_state().value, name=name)
        document.tags = {key: value for key, value in tags.items() if key != NAME_TAG}
        document.tags |= artifact_tag(self._experiments, experiment, trace_id)
        document.promote(metadata)
        return _info_v2(
            self._items.write(StoredTrace(experiment.experiment_id, trace_id, document))
        )

    def end(
        self,
        trace_id: str,
        timestamp_ms: int,
        status: TraceStatus,
        metadata: Mapping[str, str],
        tags: Mapping[str, str],
    ) -> TraceInfoV2:
        """Complete a trace.

        Raises:
            MlflowException: there is no such trace.
        """
        require_locations_storable(tags)

        def change(stored: StoredTrace) -> StoredTrace:
            document = stored.document
            document.duration = timestamp_ms - document.time
            document.state = status.to_state().value
            if NAME_TAG in tags:
                document.name = validated_name(tags[NAME_TAG])
            document.tags |= {key: value for key, value in tags.items() if key != NAME_TAG}
            document.promote(metadata)
            return self._items.write(stored)

        return _info_v2(self._items.change(trace_id, change))


def _info_v2(stored: StoredTrace) -> TraceInfoV2:
    info: Any = stored.document.entity(stored.experiment_id, stored.trace_id)
    return TraceInfoV2.from_v3(info)
