"""The methods of MLflow's tracking store for traces. Thin, as the store is."""

# ruff: noqa: ARG002 - the signatures are MLflow's
# pyright: reportIncompatibleMethodOverride=false

from typing import Any

from mlflow.entities import Assessment, Span, Trace, TraceInfo
from mlflow.entities.trace_info_v2 import TraceInfoV2
from mlflow.entities.trace_status import TraceStatus
from mlflow.store.tracking import SEARCH_TRACES_DEFAULT_MAX_RESULTS
from mlflow.store.tracking.abstract_store import AbstractStore

from vitrine_mlflow.mlflow_api import page_of
from vitrine_mlflow.search.traces import TraceSearch, completed_sessions
from vitrine_mlflow.traces.assessments import Assessments
from vitrine_mlflow.traces.metrics import MetricQuery, TraceMetrics
from vitrine_mlflow.traces.traces import DeprecatedTraces, Traces


class TraceMethods(AbstractStore):
    """Traces, their assessments and their sessions."""

    traces: Traces
    deprecated_traces: DeprecatedTraces
    assessments: Assessments
    trace_search: TraceSearch
    trace_metrics: TraceMetrics

    def start_trace(self, trace_info: TraceInfo) -> TraceInfo:
        return self.traces.start(trace_info)

    def deprecated_start_trace_v2(
        self,
        experiment_id: str,
        timestamp_ms: int,
        request_metadata: dict[str, str],
        tags: dict[str, str],
    ) -> TraceInfoV2:
        return self.deprecated_traces.start(experiment_id, timestamp_ms, request_metadata, tags)

    def deprecated_end_trace_v2(
        self,
        request_id: str,
        timestamp_ms: int,
        status: TraceStatus,
        request_metadata: dict[str, str],
        tags: dict[str, str],
    ) -> TraceInfoV2:
        return self.deprecated_traces.end(request_id, timestamp_ms, status, request_metadata, tags)

    def log_spans(
        self, location: str, spans: list[Span], tracking_uri: str | None = None
    ) -> list[Span]:
        return self.traces.log_spans(location, spans)

    def get_trace_info(self, trace_id: str) -> TraceInfo:
        return self.traces.info(trace_id)

    def get_trace(self, trace_id: str, *, allow_partial: bool = False) -> Trace:
        return self.traces.get(trace_id, allow_partial=allow_partial)

    def batch_get_traces(
        self,
        trace_ids: list[str],
        location: str | None = None,
        experiment_ids: list[str] | None = None,
    ) -> list[Trace]:
        return self.traces.get_many(trace_ids, experiment_ids)

    def batch_get_trace_infos(
        self,
        trace_ids: list[str],
        location: str | None = None,
        experiment_ids: list[str] | None = None,
    ) -> list[TraceInfo]:
        return self.traces.infos(trace_ids, experiment_ids)

    def query_trace_metrics(self, experiment_ids: list[str], *arguments: Any, **named: Any) -> Any:
        query = MetricQuery(*arguments, **named)
        # MLflow's own store has no further pages either
        return page_of(self.trace_metrics.query(experiment_ids, query), None)

    def search_traces(
        self,
        experiment_ids: list[str] | None = None,
        filter_string: str | None = None,
        max_results: int = SEARCH_TRACES_DEFAULT_MAX_RESULTS,
        order_by: list[str] | None = None,
        page_token: str | None = None,
        model_id: str | None = None,
        locations: list[str] | None = None,
    ) -> tuple[list[TraceInfo], str | None]:
        return self.trace_search.search(
            experiment_ids, locations, filter_string, max_results, order_by, page_token
        )

    def find_completed_sessions(
        self,
        experiment_id: str,
        min_last_trace_timestamp_ms: int,
        max_last_trace_timestamp_ms: int,
        max_results: int | None = None,
        filter_string: str | None = None,
    ) -> list[Any]:
        return completed_sessions(
            self.trace_search,
            experiment_id,
            (min_last_trace_timestamp_ms, max_last_trace_timestamp_ms),
            max_results,
            filter_string,
        )

    def set_trace_tag(self, trace_id: str, key: str, value: str) -> None:
        self.traces.set_tag(trace_id, key, value)

    def delete_trace_tag(self, trace_id: str, key: str) -> None:
        self.traces.delete_tag(trace_id, key)

    def _delete_traces(
        self,
        experiment_id: str,
        max_timestamp_millis: int | None = None,
        max_traces: int | None = None,
        trace_ids: list[str] | None = None,
    ) -> int:
        return self.traces.delete(experiment_id, max_timestamp_millis, max_traces, trace_ids)

    def link_traces_to_run(self, trace_ids: list[str], run_id: str) -> None:
        self.traces.link_to_run(trace_ids, run_id)

    def link_prompts_to_trace(self, trace_id: str, prompt_versions: list[Any]) -> None:
        self.traces.link_prompts(trace_id, prompt_versions)

    def create_assessment(self, assessment: Assessment) -> Assessment:
        return self.assessments.create(assessment)

    def get_assessment(self, trace_id: str, assessment_id: str) -> Assessment:
        return self.assessments.get(trace_id, assessment_id)

    def update_assessment(
        self,
        trace_id: str,
        assessment_id: str,
        name: str | None = None,
        expectation: Any = None,
        feedback: Any = None,
        rationale: str | None = None,
        metadata: dict[str, str] | None = None,
    ) -> Assessment:
        return self.assessments.update(
            trace_id,
            assessment_id,
            name=name,
            expectation=expectation,
            feedback=feedback,
            rationale=rationale,
            metadata=metadata,
        )

    def delete_assessment(self, trace_id: str, assessment_id: str) -> None:
        self.assessments.delete(trace_id, assessment_id)
