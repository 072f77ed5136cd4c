"""The parts of MLflow's tracing without public names or types, in one place."""

# pyright: reportUnknownVariableType=false

import json
from collections.abc import Callable, Iterable
from typing import Any

from mlflow.entities import span as span_entities
from mlflow.tracing import constant
from mlflow.tracing import utils as tracing_utils
from mlflow.tracing.constant import SpansLocation, TraceMetadataKey, TraceTagKey
from mlflow.tracing.otel import translation
from mlflow.utils import search_utils, validation
from mlflow.utils.mlflow_tags import MLFLOW_ARTIFACT_LOCATION

_untyped_search: Any = search_utils
_untyped_spans: Any = span_entities
_untyped_tracing: Any = tracing_utils
_untyped_translation: Any = translation
_untyped_validation: Any = validation

SearchTraceUtils: Any = _untyped_search.SearchTraceUtils

ARTIFACT_LOCATION_TAG: str = MLFLOW_ARTIFACT_LOCATION
# The tags from which a server reads artifacts of a trace, or its archived spans.
LOCATION_TAGS = (ARTIFACT_LOCATION_TAG, str(TraceTagKey.ARCHIVE_LOCATION))
COST: str = TraceMetadataKey.COST
FINALIZED: str = TraceMetadataKey.TRACE_INFO_FINALIZED
LINKED_PROMPTS: str = TraceTagKey.LINKED_PROMPTS
NAME_TAG: str = TraceTagKey.TRACE_NAME
SESSION: str = TraceMetadataKey.TRACE_SESSION
SIZE_STATS: str = TraceMetadataKey.SIZE_STATS
SOURCE_RUN: str = TraceMetadataKey.SOURCE_RUN
SPANS_LOCATION: str = TraceTagKey.SPANS_LOCATION
TOKEN_USAGE: str = TraceMetadataKey.TOKEN_USAGE
TRACKING_STORE: str = SpansLocation.TRACKING_STORE.value
USER: str = TraceMetadataKey.TRACE_USER

resolved_locations: Callable[..., Any] = _untyped_validation._resolve_experiment_ids_and_locations
stored_span: Callable[[Any], dict[str, Any]] = _untyped_translation.translate_span_when_storing
span_of_content: Callable[[str], Any] = _untyped_spans.LazySpan.from_stored_content
validate_trace_tag: Callable[[str, Any], tuple[str, Any]] = _untyped_validation._validate_trace_tag


def validated_name(value: Any) -> Any:
    return _untyped_validation._validate_length_limit(
        "Trace name", constant.MAX_CHARS_IN_TRACE_INFO_TAGS_VALUE, value
    )


def validated_session(value: Any) -> Any:
    return _untyped_validation._validate_length_limit(
        "Session ID", constant.MAX_CHARS_IN_TRACE_INFO_METADATA, value
    )


def span_content(span: dict[str, Any]) -> str:
    """A span as text."""
    # Not escaped, so that searches find the characters that users type.
    return json.dumps(span, cls=_untyped_tracing.TraceJSONEncoder, ensure_ascii=False)


def preview(text: Any, role: str) -> str | None:
    # loads MLflow's registry of stores, which loads this package
    from mlflow.tracing.utils import truncation  # noqa: PLC0415

    untyped: Any = truncation
    return untyped._get_truncated_preview(text, role=role)


def resource_of(span: Any) -> dict[str, Any]:
    """Attributes of the OpenTelemetry resource that produced a span; it has no public name."""
    resource = getattr(getattr(span, "_span", None), "resource", None)
    return dict(resource.attributes) if resource is not None and resource.attributes else {}


def token_usage(nodes: Iterable[tuple[str, str | None, Any]]) -> dict[str, Any]:
    """Tokens of a tree of spans, each its id, its parent's and its own usage."""
    return _untyped_tracing.aggregate_usage_from_span_nodes(_nodes(nodes)) or {}


def cost(nodes: Iterable[tuple[str, str | None, Any]]) -> dict[str, Any]:
    return _untyped_tracing.aggregate_cost_from_span_nodes(_nodes(nodes)) or {}


def _nodes(nodes: Iterable[tuple[str, str | None, Any]]) -> list[Any]:
    node: Any = _untyped_tracing.SpanAggregationNode
    return [node(span_id=own, parent_id=parent, data=data) for own, parent, data in nodes]


def completed_session(session_id: str, first: int, last: int) -> Any:
    from mlflow.genai.scorers.online import entities  # noqa: PLC0415 - slow, and rarely needed

    session: Any = entities.CompletedSession
    return session(
        session_id=session_id, first_trace_timestamp_ms=first, last_trace_timestamp_ms=last
    )
