"""Metrics over traces, their spans and assessments: counts, sums, percentiles by time or name.

MLflow's own query computes them, on a database in memory that holds the traces it is about. So
they equal those of its SQL store; all traces of the time range are read for each query.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mlflow.store.tracking import MAX_RESULTS_QUERY_TRACE_METRICS

from vitrine_mlflow.encoding import iso_time
from vitrine_mlflow.errors import invalid
from vitrine_mlflow.experiments import Experiments
from vitrine_mlflow.mlflow_api import parsed_experiment_id
from vitrine_mlflow.traces.spans import StoredSpan, text_of
from vitrine_mlflow.traces.store import StoredTrace, TraceStore

if TYPE_CHECKING:
    from vitrine_mlflow.mlflow_sql import TraceRows

# Traces that are in memory at once, with their assessments: five batch reads.
_READ = 500
_COST, _MODEL, _PROVIDER = "mlflow.llm.cost", "mlflow.llm.model", "mlflow.llm.provider"


@dataclass(frozen=True)
class MetricQuery:
    """The arguments of MLflow's method after the experiments, in its order and with its names."""

    view_type: Any
    metric_name: str
    aggregations: list[Any]
    dimensions: list[str] | None = None
    filters: list[str] | None = None
    time_interval_seconds: int | None = None
    start_time_ms: int | None = None
    end_time_ms: int | None = None
    max_results: int = MAX_RESULTS_QUERY_TRACE_METRICS
    page_token: str | None = None


class TraceMetrics:
    """Reads traces and lets MLflow's query aggregate them."""

    def __init__(self, experiments: Experiments, traces: TraceStore) -> None:
        self._experiments = experiments
        self._traces = traces

    def query(self, experiment_ids: Sequence[str], query: MetricQuery) -> list[Any]:
        """The data points, by time and dimensions.

        Raises:
            MlflowException: the metric, an aggregation, a dimension or a filter is invalid.
        """
        from vitrine_mlflow.mlflow_sql import (  # noqa: PLC0415 - loads SQLAlchemy
            TraceRows,
            trace_metrics,
            validate_trace_metrics,
        )

        validate_trace_metrics(query)
        if query.time_interval_seconds and (
            query.start_time_ms is None or query.end_time_ms is None
        ):
            raise invalid(
                "start_time_ms and end_time_ms are required if time_interval_seconds is set"
            )
        wanted = [str(parsed_experiment_id(experiment_id)) for experiment_id in experiment_ids]
        rows = TraceRows()
        for experiment_id in self._experiments.existing_of(wanted) if wanted else []:
            self._read(experiment_id, query, rows)
        return trace_metrics(rows, query)

    def _read(self, experiment_id: str, query: MetricQuery, rows: "TraceRows") -> None:
        low, high = "", ""
        spans = query.view_type.value == "SPANS"
        if not (
            spans and query.metric_name.endswith("_cost")
        ):  # those are selected by their spans' time
            low = "" if query.start_time_ms is None else iso_time(query.start_time_ms)
            high = "" if query.end_time_ms is None else f"{iso_time(query.end_time_ms)}~"
        ids = [trace_id for _, trace_id in self._traces.ids_by_time(experiment_id, low, high)]
        for start in range(0, len(ids), _READ):
            traces = self._traces.read(
                [(experiment_id, trace_id) for trace_id in ids[start : start + _READ]]
            )
            for stored in traces:
                _add_trace(rows, stored)
            if spans:
                for stored, own in zip(traces, self._traces.spans_of(traces), strict=True):
                    for span in own:
                        _add_span(rows, stored, span)


def _add_trace(rows: "TraceRows", stored: StoredTrace) -> None:
    document, experiment_id = stored.document, int(stored.experiment_id)
    rows.traces.append(
        {
            "request_id": stored.trace_id,
            "experiment_id": experiment_id,
            "timestamp_ms": document.time,
            "execution_time_ms": document.duration,
            "status": document.state,
            "trace_name": document.name,
            "session_id": document.session,
            **document.tokens,
            **document.cost,
        }
    )
    for target, values in ((rows.tags, document.tags), (rows.metadata, document.metadata)):
        target += [
            {"request_id": stored.trace_id, "key": key, "value": value}
            for key, value in values.items()
        ]
    rows.runs += [(stored.trace_id, run_id) for run_id in document.runs]
    info = document.entity(stored.experiment_id, stored.trace_id)
    rows.assessments += [
        (assessment, experiment_id, document.time) for assessment in info.assessments
    ]


def _add_span(rows: "TraceRows", stored: StoredTrace, span: StoredSpan) -> None:
    content: dict[str, Any] = json.loads(span.content)
    attributes: dict[str, Any] = content.get("attributes") or {}
    rows.spans.append(
        {
            "trace_id": stored.trace_id,
            "experiment_id": int(stored.experiment_id),
            "span_id": span.span_id,
            "parent_span_id": span.parent_id,
            "name": span.name,
            "type": span.type,
            "status": span.status,
            "start_time_unix_nano": span.start,
            "end_time_unix_nano": content.get("end_time_unix_nano"),
            "content": "",
            "cost": _cost_of(attributes.get(_COST)),
            "model_name": text_of(attributes.get(_MODEL)),
            "model_provider": text_of(attributes.get(_PROVIDER)),
        }
    )


def _cost_of(value: Any) -> dict[str, Any]:
    try:
        cost: Any = json.loads(value)
    except (TypeError, ValueError):
        return {}
    return cost if isinstance(cost, dict) else {}  # pyright: ignore[reportUnknownVariableType]
