"""Batches of spans: packed for storage, and what they imply for their trace."""

import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mlflow.entities import Span
from mlflow.exceptions import MlflowException

from vitrine_mlflow import mlflow_traces as mlflow_api
from vitrine_mlflow.traces.document import TraceDocument

# A DynamoDB item has at most 400 KB, including its key and other attributes.
PART_BYTES = 350_000
_USAGE, _COST = "mlflow.chat.tokenUsage", "mlflow.llm.cost"
_SESSIONS = ("session.id", "gen_ai.conversation.id")
_TAG_PREFIX = "mlflow.traceTag."
_UNSET = ("IN_PROGRESS", "STATE_UNSPECIFIED")


@dataclass(frozen=True)
class StoredSpan:
    """A span as text, with what it is found and ordered by."""

    content: str
    span_id: str
    parent_id: str | None
    name: str
    type: str | None
    status: str
    start: int

    @property
    def attributes(self) -> dict[str, Any]:
        return json.loads(self.content).get("attributes") or {}

    def record(self) -> list[Any]:
        return [
            self.content, self.span_id, self.parent_id, self.name, self.type, self.status,
            self.start,
        ]  # fmt: skip


def pack(spans: Iterable[StoredSpan]) -> list[bytes]:
    """The parts of a batch, each small enough for an item."""
    records = [span.record() for span in spans]
    packed = zlib.compress(json.dumps(records, ensure_ascii=False).encode())
    return [packed[start : start + PART_BYTES] for start in range(0, len(packed), PART_BYTES)]


def unpack(parts: Iterable[bytes]) -> list[StoredSpan]:
    return [StoredSpan(*record) for record in json.loads(zlib.decompress(b"".join(parts)))]


def merge_spans(batches: Iterable[Sequence[StoredSpan]]) -> list[StoredSpan]:
    """The spans of all batches, root first, then by start; a span that was sent again replaces."""
    spans = {span.span_id: span for batch in batches for span in batch}
    return sorted(spans.values(), key=lambda span: (span.parent_id is not None, span.start))


@dataclass
class SpanBatch:
    """Spans of one trace from one request."""

    spans: list[StoredSpan] = field(default_factory=list[StoredSpan])
    start: int = 0
    end: int | None = None
    root_state: str | None = None
    root: dict[str, Any] | None = None
    session: Any = None
    user: Any = None
    tags: dict[str, Any] = field(default_factory=dict[str, Any])
    resource: dict[str, Any] = field(default_factory=dict[str, Any])

    @classmethod
    def of(cls, spans: Sequence[Span]) -> "SpanBatch":
        """Read what a trace takes over from its spans.

        Raises:
            MlflowException: the session's id or the trace's name is too long.
        """
        batch = cls(start=min(span.start_time_ns for span in spans) // 1_000_000)
        ends = [span.end_time_ns for span in spans if span.end_time_ns is not None]
        batch.end = max(ends) // 1_000_000 if ends else None
        for span in spans:
            batch._add(span)
        for resource in map(mlflow_api.resource_of, spans):
            batch.resource = batch.resource or resource
        return batch

    def _add(self, span: Span) -> None:
        stored = mlflow_api.stored_span(span)
        attributes: dict[str, Any] = stored.get("attributes") or {}
        status = str(getattr(span.status.status_code, "value", span.status.status_code))
        self.spans.append(
            StoredSpan(
                mlflow_api.span_content(stored),
                span.span_id,
                span.parent_id,
                span.name,
                span.span_type,
                status,
                span.start_time_ns,
            )
        )
        if self.session is None:
            session = next((attributes[key] for key in _SESSIONS if attributes.get(key)), None)
            if session:
                self.session = mlflow_api.validated_session(text_of(session))
        if self.user is None and attributes.get("user.id"):
            self.user = text_of(attributes["user.id"])
        if span.parent_id is None:
            if self.root_state is None:
                self.root_state = "ERROR" if status == "ERROR" else "OK"
            self.root = stored
            self._add_tags(attributes)

    def _add_tags(self, attributes: dict[str, Any]) -> None:
        for name, value in attributes.items():
            if name.startswith(_TAG_PREFIX):
                tag = _valid_tag(name[len(_TAG_PREFIX) :], str(text_of(value)))
                self.tags.update(tag)
        if mlflow_api.NAME_TAG in self.tags:
            mlflow_api.validated_name(self.tags[mlflow_api.NAME_TAG])

    def new_document(self) -> TraceDocument:
        duration = self.end - self.start if self.end else None
        return TraceDocument(self.start, self.root_state or "IN_PROGRESS", duration)

    def apply(self, document: TraceDocument, stored: Sequence[StoredSpan] | None) -> None:
        """Change a trace by its new spans.

        Values that the trace itself reported remain. `stored` are its earlier spans, None if
        it has none.
        """
        usage, cost = self.usage(), self.costs()
        # MLflow's own store looks for the mark of a finished trace only in these cases
        finalized = bool(usage or cost or self.session) and mlflow_api.FINALIZED in (
            document.metadata
        )
        if not finalized:
            self._apply_times(document)
        if document.state in _UNSET and self.root_state:
            document.state = self.root_state
        self._apply_root(document)
        if usage and not (finalized and document.tokens):
            document.add_tokens(mlflow_api.token_usage(self._nodes(_USAGE, stored)))
        if cost and not (finalized and document.cost):
            document.add_cost(mlflow_api.cost(self._nodes(_COST, stored)))
        if self.session and document.session is None:
            document.session = self.session
        if self.user:
            document.metadata.setdefault(mlflow_api.USER, self.user)
        self._apply_tags(document)

    def needs_stored_spans(self, document: TraceDocument) -> bool:
        """Whether totals of the trace must be computed from its earlier spans too."""
        finalized = mlflow_api.FINALIZED in document.metadata
        return bool(
            (self.usage() and not (finalized and document.tokens))
            or (self.costs() and not (finalized and document.cost))
        )

    def usage(self) -> dict[str, Any]:
        return mlflow_api.token_usage(self._nodes(_USAGE, None))

    def costs(self) -> dict[str, Any]:
        return mlflow_api.cost(self._nodes(_COST, None))

    def _nodes(
        self, attribute: str, stored: Sequence[StoredSpan] | None
    ) -> list[tuple[str, str | None, Any]]:
        own = {span.span_id for span in self.spans}
        earlier = [span for span in stored or () if span.span_id not in own]
        return [
            (span.span_id, span.parent_id, _mapping_or_none(span.attributes.get(attribute)))
            for span in [*self.spans, *earlier]
        ]

    def _apply_times(self, document: TraceDocument) -> None:
        start = min(document.time, self.start)
        if self.end is not None:
            end = self.end
            if document.duration is not None:
                end = max(end, document.time + document.duration)
            document.duration = end - start
        document.time = start

    def _apply_root(self, document: TraceDocument) -> None:
        attributes: dict[str, Any] = (self.root or {}).get("attributes") or {}
        if document.request is None and attributes.get("mlflow.spanInputs"):
            document.request = mlflow_api.preview(attributes["mlflow.spanInputs"], "user")
        if document.response is None and attributes.get("mlflow.spanOutputs"):
            document.response = mlflow_api.preview(attributes["mlflow.spanOutputs"], "assistant")

    def _apply_tags(self, document: TraceDocument) -> None:
        document.tags[mlflow_api.SPANS_LOCATION] = mlflow_api.TRACKING_STORE
        for key, value in self.resource.items():
            # the reserved names, which a client's resource must not replace
            if not key.startswith(("telemetry.sdk.", "mlflow.")):
                text = value if isinstance(value, str) else json.dumps(value)
                document.tags.update(_valid_tag(key, text))
        for key, value in self.tags.items():
            if key == mlflow_api.NAME_TAG:
                document.name = value
            else:
                document.tags[key] = value


def _valid_tag(key: str, value: str) -> dict[str, Any]:
    """The tag, or nothing: spans are stored also if one of their attributes is no valid tag."""
    try:
        name, valid = mlflow_api.validate_trace_tag(key, value)
    except MlflowException:
        return {}
    return {name: valid}


def text_of(value: Any) -> Any:
    """An attribute that may be JSON of a text, unwrapped."""
    try:
        parsed = json.loads(value)
    except (TypeError, ValueError):
        return value
    return parsed if isinstance(parsed, str) else value


def _mapping_or_none(value: Any) -> Any:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return None
    return value if isinstance(value, dict) else None  # pyright: ignore[reportUnknownVariableType]
