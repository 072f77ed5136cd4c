"""Generated operations on traces and searches over them, for both stores."""

import base64
import json
import random
from dataclasses import dataclass, field
from typing import Any

from mlflow.entities import (
    AssessmentError,
    AssessmentSource,
    Expectation,
    Feedback,
    Span,
    TraceInfo,
    TraceLocation,
    TraceState,
)
from mlflow.entities.trace_metrics import AggregationType, MetricAggregation, MetricViewType

from tests.integration.tracking.histories import Call

START = 1_700_000_000_000
STATES = [TraceState.OK, TraceState.ERROR, TraceState.IN_PROGRESS]
NAMES = ["chat", "Chat", "näme#1", "a b", None]
SESSIONS = ["s1", "s2", None]
TEXTS = ["", "a", "A", "a#b", "100%", "ünï", '"q"', "yes"]
TAGS = ["team", "Team", "a/b"]
USAGES = [None, {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}]
FILTERS = [
    "", "status = 'OK'", "status != 'ERROR'", "status IN ('OK', 'ERROR')",
    "name = 'chat'", "name LIKE '%a%'", "name ILIKE 'CH%'", "name RLIKE '^[cC]h'", "name != 'chat'",
    "timestamp >= 1700000000003", "timestamp < 1700000000004", "timestamp = 1700000000002",
    "execution_time > 3", "end_time >= 1700000000006", "client_request_id = 'c1'",
    "tags.team = 'a'", "tags.team != 'a'", "tags.Team LIKE '%a%'", "tags.team IS NULL",
    "tags.team IS NOT NULL", "metadata.kind = 'k1'", "metadata.kind IS NULL",
    "metadata.`mlflow.trace.session` = 's1'", "metadata.`mlflow.trace.session` IS NULL",
    "metadata.`mlflow.trace.tokenUsage` IS NOT NULL", "run_id = 'r1'", "run_id = 'r2'",
    "span.name = 'root'", "span.name LIKE '%hild%' AND span.status = 'OK'",
    "span.status = 'ERROR'",
    "span.attributes.city LIKE '%is%'", "span.attributes.city RLIKE '^Par'",
    "trace.text LIKE '%Oslo%'", "trace.text ILIKE '%OSLO%'", "span.type = 'LLM'",
    "feedback.good = 'true'", "feedback.good != 'true'", "feedback.score > 2",
    "feedback.good IS NULL", "feedback.good IS NOT NULL", "expectation.answer = 'yes'",
    "expectation.answer LIKE '%e%'", "prompt = 'p/1'", "request_id = 'tr-1'",
    "status = 'OK' AND tags.team = 'a' AND timestamp > 1700000000001",
    # refused by both
    "nonsense = 'x'", "prompt = 'p'", "prompt != 'p/1'", "tags.team > 'a'", "span.x = '1'",
    "timestamp LIKE 'a'", "metadata.`mlflow.trace.cost` LIKE 'a'", "feedback.good IN ('a')",
]  # fmt: skip
AGGREGATIONS = [
    MetricAggregation(AggregationType.COUNT), MetricAggregation(AggregationType.SUM),
    MetricAggregation(AggregationType.AVG), MetricAggregation(AggregationType.MAX),
    MetricAggregation(AggregationType.PERCENTILE, 50.0),
    MetricAggregation(AggregationType.PERCENTILE, 90.0),
]  # fmt: skip
METRICS = {
    MetricViewType.TRACES: [
        "trace_count", "session_count", "latency", "input_tokens", "total_tokens",
        "cache_read_input_tokens", "nonsense",
    ],
    MetricViewType.SPANS: ["span_count", "latency", "input_cost", "total_cost"],
    MetricViewType.ASSESSMENTS: ["assessment_count", "assessment_value"],
}  # fmt: skip
DIMENSIONS = {
    MetricViewType.TRACES: ["trace_name", "trace_status"],
    MetricViewType.SPANS: ["span_name", "span_type", "span_status", "span_model_name"],
    MetricViewType.ASSESSMENTS: ["assessment_name", "assessment_value"],
}
METRIC_FILTERS = [
    "trace.status = 'OK'", "trace.tag.team = 'a'", "trace.metadata.kind = 'k1'",
    "trace.metadata.`mlflow.trace.session` = 's1'", "trace.tag.`mlflow.traceName` = 'chat'",
    "trace.metadata.`mlflow.sourceRun` = 'r1'", "span.name = 'root'", "span.status = 'OK'",
    "assessment.name = 'good'", "assessment.type = 'feedback'", "nonsense.x = 'y'", "trace.x = '1'",
]  # fmt: skip
ORDERS: list[list[str]] = [
    [], ["timestamp ASC"], ["timestamp DESC"], ["name ASC"], ["name DESC", "timestamp ASC"],
    ["status ASC"], ["execution_time DESC"], ["tags.team ASC"], ["metadata.kind DESC"],
    ["experiment_id ASC"], ["metadata.`mlflow.trace.session` ASC"], ["timestamp DESC", "status"],
    ["nonsense ASC"], ["status ASC", "status DESC"], ["metadata.`mlflow.trace.cost` ASC"],
]  # fmt: skip


def span_of(
    trace_id: str,
    number: int,
    parent: int | None = None,
    name: str = "root",
    attributes: dict[str, Any] | None = None,
    status: str = "STATUS_CODE_OK",
    times: tuple[int, int] = (START, START + 5),
) -> Span:
    """A span as a client sends it."""
    values = {"mlflow.traceRequestId": trace_id, "mlflow.spanType": "LLM", **(attributes or {})}
    return Span.from_dict({
        "trace_id": _encode(trace_id.encode().rjust(16, b"0")[-16:]),
        "span_id": _encode(number.to_bytes(8, "big")),
        "parent_span_id": None if parent is None else _encode(parent.to_bytes(8, "big")),
        "name": name,
        "start_time_unix_nano": times[0] * 1_000_000 + number,
        "end_time_unix_nano": times[1] * 1_000_000,
        "events": [],
        "status": {"code": status, "message": ""},
        "attributes": {key: json.dumps(value) for key, value in values.items()},
    })  # fmt: skip


def _encode(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def info_of(trace_id: str, experiment_id: str = "0", **fields: Any) -> TraceInfo:
    values: dict[str, Any] = {"request_time": START, "state": TraceState.OK, **fields}
    location = TraceLocation.from_experiment_id(experiment_id)
    return TraceInfo(trace_id=trace_id, trace_location=location, **values)


@dataclass
class TraceHistory:
    """A generator of the next operations on a few traces."""

    seed: int
    assessments: list[str] = field(default_factory=list[str])
    used: int = 0

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.traces = [f"tr-{number}" for number in range(1, 9)]
        # Difference.EXPERIMENT_OF_A_TRACE
        self.experiments = {trace: self.pick(["0", "1"]) for trace in self.traces}

    def pick(self, choices: Any) -> Any:
        return self.random.choice(choices)

    def operation(self) -> tuple[str, Call]:
        kinds = [
            (self._start, 6), (self._spans, 8), (self._set_tag, 3), (self._delete_tag, 2),
            (self._assess, 5), (self._update_assessment, 2), (self._delete_assessment, 1),
            (self._link, 2), (self._delete, 1), (self._read, 5), (self._sessions, 2),
        ]  # fmt: skip
        chosen = self.random.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])
        return chosen[0]()

    def _trace(self) -> str:
        return "tr-missing" if self.random.random() < 0.05 else self.pick(self.traces)

    def _start(self) -> tuple[str, Call]:
        trace_id, name, session = self.pick(self.traces), self.pick(NAMES), self.pick(SESSIONS)
        tags = {key: self.pick(TEXTS) for key in self.random.sample(TAGS, 2)}
        metadata = {"kind": self.pick(["k1", "k2"])} if self.random.random() < 0.6 else {}
        if name is not None:
            tags["mlflow.traceName"] = name
        if session is not None:
            metadata["mlflow.trace.session"] = session
        if self.random.random() < 0.3:
            metadata["mlflow.sourceRun"] = self.pick(["r1", "r2"])
        if self.random.random() < 0.3:
            metadata["mlflow.trace.tokenUsage"] = self.pick(['{"total_tokens": 9}', "{}", "[", "7"])
        if self.random.random() < 0.2:
            metadata["mlflow.trace.cost"] = '{"total_cost": 0.5, "input_cost": "x"}'
        fields = {
            "request_time": START + self.random.randrange(6), "state": self.pick(STATES),
            "execution_duration": self.pick([None, 2, 7]), "trace_metadata": metadata,
            "client_request_id": self.pick(["c1", None]), "tags": tags,
            "request_preview": self.pick(["hello", None]),
            "assessments": [self._feedback(trace_id)] if self.random.random() < 0.2 else [],
        }  # fmt: skip
        return "start_trace", lambda store: _start_trace(
            store, info_of(trace_id, self.experiments[trace_id], **fields)
        )

    def _spans(self) -> tuple[str, Call]:
        trace_id = self.pick(self.traces)
        spans = [self._span(trace_id, number) for number in self.random.sample(range(1, 6), 2)]
        other = self.pick(self.traces)
        if other != trace_id and self.experiments[other] == self.experiments[trace_id]:
            spans.append(self._span(other, self.random.randrange(1, 6)))
        location = self.experiments[trace_id]
        return "log_spans", lambda store: len(store.log_spans(location, spans))

    def _span(self, trace_id: str, number: int) -> Span:
        attributes: dict[str, Any] = {"city": self.pick(["Paris", "Oslo", "ünï"])}
        usage = self.pick(USAGES)
        if usage is not None:
            attributes["mlflow.chat.tokenUsage"] = usage
        if self.random.random() < 0.3:
            attributes["session.id"] = self.pick(["s1", "s3"])
        if self.random.random() < 0.2:
            attributes["user.id"] = "ann"
        if self.random.random() < 0.4:
            attributes["mlflow.llm.model"] = self.pick(["gpt", "claude"])
        if self.random.random() < 0.3:
            attributes["mlflow.llm.cost"] = {
                "input_cost": 0.25,
                "output_cost": 0.5,
                "total_cost": 0.75,
            }
        if number == 1:
            attributes["mlflow.spanInputs"] = {"q": self.pick(TEXTS)}
            attributes["mlflow.spanOutputs"] = "answer"
            attributes["mlflow.traceTag.team"] = self.pick(TEXTS)
        start = START + self.random.randrange(5)
        return span_of(
            trace_id, number, None if number == 1 else self.pick([1, 2]) if number != 2 else 1,
            "root" if number == 1 else "child", attributes,
            self.pick(["STATUS_CODE_OK", "STATUS_CODE_ERROR"]), (start, start + 4),
        )  # fmt: skip

    def _set_tag(self) -> tuple[str, Call]:
        trace_id, key = self._trace(), self.pick([*TAGS, "mlflow.traceName", "", "x#y"])
        value = self.pick([*TEXTS, "v" * 9_000])
        return "set_trace_tag", lambda store: store.set_trace_tag(trace_id, key, value)

    def _delete_tag(self) -> tuple[str, Call]:
        trace_id, key = self._trace(), self.pick([*TAGS, "mlflow.traceName"])
        return "delete_trace_tag", lambda store: store.delete_trace_tag(trace_id, key)

    def _feedback(self, trace_id: str, overrides: str | None = None) -> Any:
        self.used += 1
        identifier = f"a-{self.seed}-{self.used}"
        self.assessments.append(identifier)
        metadata = self.pick([None, {"mlflow.trace.session": "s1"}, {"x": "y"}])
        common: dict[str, Any] = {
            "source": AssessmentSource("HUMAN", "ann"), "trace_id": trace_id, "metadata": metadata,
            "create_time_ms": START, "last_update_time_ms": START,
        }  # fmt: skip
        if self.random.random() < 0.3:
            assessment: Any = Expectation(
                name="answer", value=self.pick(["yes", "no", 3]), **common
            )
        else:
            error = AssessmentError("code", "message") if self.random.random() < 0.2 else None
            name, value = self.pick([("good", True), ("good", False), ("score", 3), ("score", 1.5)])
            assessment = Feedback(
                name=name, value=value, error=error, overrides=overrides, **common
            )
        assessment.assessment_id = identifier
        return assessment

    def _assess(self) -> tuple[str, Call]:
        trace_id = self._trace()
        overrides = self.pick([*self.assessments, None, None]) if self.assessments else None
        assessment = self._feedback(trace_id, overrides)
        return "create_assessment", lambda store: store.create_assessment(assessment)

    def _update_assessment(self) -> tuple[str, Call]:
        trace_id, identifier = self._trace(), self.pick([*self.assessments, "none"])
        name, rationale = self.pick([None, "good"]), self.pick([None, "because"])
        metadata = self.pick([None, {"n": "1"}])
        return "update_assessment", lambda store: store.update_assessment(
            trace_id, identifier, name=name, rationale=rationale, metadata=metadata
        )

    def _delete_assessment(self) -> tuple[str, Call]:
        trace_id, identifier = self._trace(), self.pick([*self.assessments, "none"])
        return "delete_assessment", lambda store: store.delete_assessment(trace_id, identifier)

    def _link(self) -> tuple[str, Call]:
        known = [self.pick(self.traces)]
        return "link_prompts", lambda store: store.link_prompts_to_trace(
            known[0], [_Prompt("p", self.pick([1]))]
        )

    def _delete(self) -> tuple[str, Call]:
        experiment_id = self.pick(["0", "1"])
        arguments = self.pick([
            {"trace_ids": self.random.sample(self.traces, 2)},
            {"max_timestamp_millis": START + 1, "max_traces": 1},
            {"max_timestamp_millis": START},
            {},
        ])  # fmt: skip
        return "delete_traces", lambda store: store.delete_traces(experiment_id, **arguments)

    def _read(self) -> tuple[str, Call]:
        trace_id, some = self._trace(), self.random.sample(self.traces, 4)
        scope = self.pick([None, ["0"], ["0", "1"]])
        reads: list[tuple[str, Call]] = [
            ("get_trace_info", lambda store: store.get_trace_info(trace_id)),
            ("get_trace", lambda store: store.get_trace(trace_id)),
            ("infos", lambda store: store.batch_get_trace_infos(some, experiment_ids=scope)),
            ("traces", lambda store: store.batch_get_traces(some, experiment_ids=scope)),
        ]
        return self.pick(reads)

    def _sessions(self) -> tuple[str, Call]:
        low, high = START + self.random.randrange(3), START + self.random.randrange(2, 7)
        limit, text = self.pick([None, 1]), self.pick([None, "status = 'OK'", "name = 'chat'"])
        return "sessions", lambda store: store.find_completed_sessions("0", low, high, limit, text)

    def query(self) -> dict[str, Any]:
        return {
            "locations": self.pick([["0"], ["1", "0"], ["0", "1"], []]),
            "filter_string": self.pick(FILTERS),
            "order_by": self.pick(ORDERS) if self.random.random() < 0.7 else [],
            "max_results": self.pick([1, 2, 3, 100]),
        }

    def metric_query(self) -> dict[str, Any]:
        view = self.pick(list(METRICS))
        low, high = START + self.random.randrange(4), START + self.random.randrange(2, 8)
        times = self.pick([{}, {"start_time_ms": low}, {"start_time_ms": low, "end_time_ms": high}])
        metric = self.pick(METRICS[view])
        is_count = self.random.random() < 0.6 and "count" in metric
        known = 0 if self.random.random() < 0.5 else self.random.randrange(3)
        return {
            "experiment_ids": self.pick([["0"], ["0", "1"], []]),
            "view_type": view,
            "metric_name": metric,
            "aggregations": AGGREGATIONS[:1]
            if is_count
            else self.random.sample(AGGREGATIONS[1:], 2),
            "dimensions": self.random.sample(DIMENSIONS[view], min(known, len(DIMENSIONS[view]))),
            "filters": self.random.sample(METRIC_FILTERS, self.pick([0, 0, 1, 1, 2])),
            "time_interval_seconds": self.pick([None, None, 1, 3600]),
            "max_results": self.pick([1, 3, 1000]),
            **times,
        }


def _start_trace(store: Any, info: TraceInfo) -> TraceInfo:
    """Start a trace; what is stored is compared: Difference.REPLY_OF_START."""
    store.start_trace(info)
    return store.get_trace_info(info.trace_id)


@dataclass
class _Prompt:
    name: str
    version: int
