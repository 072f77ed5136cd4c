"""MLflow's query of trace metrics, on rows in memory. Imported when it is needed: it is slow."""

# MLflow declares no types of its tables.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

import uuid
from dataclasses import dataclass, field
from typing import Any

from mlflow.entities import Assessment
from mlflow.store.db import utils as databases
from mlflow.store.tracking.dbmodels import models
from mlflow.store.tracking.utils import sql_trace_metrics_utils, trace_analytics
from sqlalchemy import insert
from sqlalchemy.orm import Session
from sqlalchemy.schema import CreateTable

from vitrine_mlflow.traces.document import COST_KEYS, TOKEN_KEYS

_tables: Any = models
_databases: Any = databases
_analytics: Any = trace_analytics
_queries: Any = sql_trace_metrics_utils


@dataclass
class TraceRows:
    """Rows of MLflow's tables, without those of other entities."""

    traces: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    tags: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    metadata: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    spans: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    # the assessment, the id of its experiment, and the time of its trace
    assessments: list[tuple[Assessment, int, int]] = field(
        default_factory=list[tuple[Assessment, int, int]]
    )
    runs: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])  # trace, run


def validate_trace_metrics(query: Any) -> None:
    _queries.validate_query_trace_metrics_params(
        query.view_type, query.metric_name, query.aggregations, query.dimensions
    )


def trace_metrics(rows: TraceRows, query: Any) -> list[Any]:
    """MLflow's data points of a query over these rows."""
    engine = _databases.create_sqlalchemy_engine("sqlite://")
    try:
        used = [
            _tables.SqlTraceInfo, _tables.SqlTraceTag, _tables.SqlTraceMetadata, _tables.SqlSpan,
            _tables.SqlAssessments, _tables.SqlEntityAssociation,
        ]  # fmt: skip
        with Session(engine) as session:
            for part in used:
                # without its indexes, which MLflow declares for its migrations only
                session.execute(CreateTable(part.__table__))
            _insert(session, rows)
            return _queries.query_metrics(
                view_type=query.view_type,
                db_type="sqlite",
                query=_base(session, query),
                metric_name=query.metric_name,
                aggregations=query.aggregations,
                dimensions=query.dimensions,
                filters=query.filters,
                time_interval_seconds=query.time_interval_seconds,
                max_results=query.max_results,
                time_ranges_ms=[(query.start_time_ms, query.end_time_ms)],
            )
    finally:
        engine.dispose()


def _base(session: Session, query: Any) -> Any:
    assessed = query.view_type.value == "ASSESSMENTS"
    return session.query(_tables.SqlAssessments if assessed else _tables.SqlTraceInfo)


def _insert(session: Session, rows: TraceRows) -> None:
    absent = dict.fromkeys((*TOKEN_KEYS, *COST_KEYS))
    tables = (
        (_tables.SqlTraceInfo, [{**absent, **row} for row in rows.traces]),
        (_tables.SqlTraceTag, rows.tags),
        (_tables.SqlTraceMetadata, rows.metadata),
        (_tables.SqlSpan, [_span(span) for span in rows.spans]),
        (_tables.SqlEntityAssociation, [_link(*link) for link in rows.runs]),
    )
    for table, values in tables:
        if values:
            session.execute(insert(table), values)
    for assessment, experiment_id, time in rows.assessments:
        row = _tables.SqlAssessments.from_mlflow_entity(assessment)
        row.experiment_id, row.trace_timestamp_ms = experiment_id, time
        row.valid = assessment.valid  # MLflow's conversion takes each for a new one
        session.add(row)
    session.flush()


def _span(row: dict[str, Any]) -> dict[str, Any]:
    cost: dict[str, Any] = row["cost"]
    return {
        **{key: value for key, value in row.items() if key != "cost"},
        **{key: _analytics.finite_float_or_none(cost.get(key)) for key in COST_KEYS},
        "model_name": _analytics.bounded_model_dimension(row["model_name"]),
        "model_provider": _analytics.bounded_model_dimension(row["model_provider"]),
    }


def _link(trace_id: str, run_id: str) -> dict[str, Any]:
    return {
        "association_id": uuid.uuid4().hex,
        "source_type": "trace",
        "source_id": trace_id,
        "destination_type": "run",
        "destination_id": run_id,
    }
