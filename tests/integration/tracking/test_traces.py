"""Budgets, sizes, concurrency and interruptions of traces."""

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from mlflow.entities import AssessmentSource, Feedback, Trace
from mlflow.entities.trace_metrics import AggregationType, MetricAggregation, MetricViewType
from mlflow.exceptions import MlflowException
from vitrine_mlflow.context import Context
from vitrine_mlflow.database import Database
from vitrine_mlflow.store import DynamoTrackingStore

from tests.integration.tracking.metering import Meter
from tests.integration.tracking.stores import Series, TrackingTables, dynamo_store
from tests.integration.tracking.trace_histories import START, info_of, span_of

ROOT = "s3://artifacts/root"
UNITS = 28  # 22 where spans come first, 28 where the trace does; the budget is 20


@pytest.fixture
def table(tracking_tables: TrackingTables, new_table: Callable[[], str]) -> Database:
    return tracking_tables.database(new_table())


@pytest.fixture
def store(table: Database) -> DynamoTrackingStore:
    return DynamoTrackingStore.of_context(Context(table, ROOT))


def _five(trace_id: str) -> list[Any]:
    return [
        span_of(trace_id, 1),
        *(span_of(trace_id, number, 1, "child") for number in range(2, 6)),
    ]


def _tags(trace_id: str) -> dict[str, str]:
    return {"mlflow.traceName": f"answer {trace_id}", "mlflow.user": "ann", "team": "a"}


def test_a_trace_of_five_spans_costs_three_requests_and_few_units(
    store: DynamoTrackingStore, tracking_tables: TrackingTables
) -> None:
    store.start_trace(info_of("tr-first"))  # its experiment is known from here
    with Meter(tracking_tables.client) as meter:
        store.log_spans("0", _five("tr-1"))
        store.start_trace(info_of("tr-1", tags=_tags("tr-1")))
    assert meter.requests <= 3, meter.operations
    assert meter.write_units <= UNITS, meter.write_units
    with Meter(tracking_tables.client) as meter:
        store.start_trace(info_of("tr-2", tags=_tags("tr-2")))
        store.log_spans("0", _five("tr-2"))
    assert meter.requests <= 3, meter.operations
    assert meter.write_units <= UNITS, meter.write_units
    assert all(len(store.get_trace(trace_id).data.spans) == 5 for trace_id in ("tr-1", "tr-2"))


def test_a_page_of_a_hundred_traces_costs_two_requests(
    store: DynamoTrackingStore, tracking_tables: TrackingTables
) -> None:
    for number in range(130):
        fields: dict[str, Any] = {"request_time": START + number, "tags": _tags(str(number))}
        store.start_trace(info_of(f"tr-{number:03d}", **fields))
    with Meter(tracking_tables.client) as meter:
        page, token = store.search_traces(["0"], max_results=100)
    assert meter.requests <= 2
    assert [entry.trace_id for entry in page] == [
        f"tr-{number:03d}" for number in range(129, 29, -1)
    ]
    rest, end = store.search_traces(["0"], max_results=100, page_token=token)
    assert ([entry.trace_id for entry in rest][::29], end) == (["tr-029", "tr-000"], None)
    with Meter(tracking_tables.client) as meter:
        store.search_traces(["0"], "name = 'answer 7'")
    assert meter.requests <= 2


def test_a_trace_of_600_kb_is_stored_in_parts_and_visible_only_when_whole(
    table: Database, store: DynamoTrackingStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    noise = random.Random(1)
    text = "".join(chr(noise.randrange(33, 4_000)) for _ in range(400_000))
    store.start_trace(info_of("tr-1"))
    reader = dynamo_store(table, Series())

    def fail(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(store.traces.items, "write", fail)
        with pytest.raises(KeyboardInterrupt):
            store.log_spans("0", [span_of("tr-1", 1, attributes={"text": text})])
    with pytest.raises(MlflowException, match="not stored in tracking store"):
        reader.get_trace("tr-1")
    store.log_spans("0", [span_of("tr-1", 1, attributes={"text": text})])
    (span,) = reader.get_trace("tr-1").data.spans
    assert span.attributes["text"] == text
    assert reader.delete_traces("0", trace_ids=["tr-1"]) == 1
    assert not [item for item in table.query("EXP#0") if item["SK"].startswith("T#")]


def test_two_servers_that_log_spans_of_one_trace_lose_none(table: Database) -> None:
    stores = [DynamoTrackingStore.of_context(Context(table, ROOT)) for _ in range(2)]

    def log(number: int) -> None:
        parent = 1 if number > 1 else None
        stores[number % 2].log_spans("0", [span_of("tr-1", number, parent)])

    log(1)
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(log, range(2, 16)))
    stores[0].start_trace(info_of("tr-1", tags={"a": "b"}))
    trace: Trace = stores[1].get_trace("tr-1")
    assert len(trace.data.spans) == 15
    assert trace.info.tags["a"] == "b"


def test_ten_thousand_tags_and_names_of_all_kinds_come_back(store: DynamoTrackingStore) -> None:
    tags = {f"key {number}": "v" * 10 for number in range(10_000)}
    names = {"a#b": "1", "100%": "#", "日本": "", "mlflow.traceName": "x" * 4_000}
    store.start_trace(info_of("tr#1%", tags=tags | names))
    store.set_trace_tag("tr#1%", "more", "ü")
    stored_tags = store.get_trace_info("tr#1%").tags
    assert {key: stored_tags[key] for key in names} == names
    assert len(stored_tags) == 10_000 + len(names) + 2  # and the place of artifacts
    assert stored_tags["more"] == "ü"
    page, _ = store.search_traces(["0"], "tags.more = 'ü'", order_by=["timestamp ASC"])
    assert [entry.trace_id for entry in page] == ["tr#1%"]
    nothing, _ = store.search_traces(["0"], "timestamp > 5 AND timestamp < 3")
    assert nothing == []


def test_a_run_finds_the_traces_that_were_linked_to_it(store: DynamoTrackingStore) -> None:
    for number in range(3):
        store.start_trace(info_of(f"tr-{number}"))
    store.link_traces_to_run(["tr-0", "tr-2", "missing"], "run")
    page, _ = store.search_traces(["0"], "run_id = 'run'")
    assert sorted(entry.trace_id for entry in page) == ["tr-0", "tr-2"]
    with pytest.raises(MlflowException, match="Cannot link more than 100"):
        store.link_traces_to_run([str(number) for number in range(101)], "run")


def test_concurrent_assessments_of_one_trace_are_all_kept(store: DynamoTrackingStore) -> None:
    store.start_trace(info_of("tr-1"))

    def assess(number: int) -> None:
        source = AssessmentSource("HUMAN", "ann")
        store.create_assessment(Feedback(f"f{number}", number, source=source, trace_id="tr-1"))

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(assess, range(6)))
    assert {assessment.name for assessment in store.get_trace_info("tr-1").assessments} == {
        f"f{number}" for number in range(6)
    }


def test_metrics_leave_out_assessments_that_another_overrides(store: DynamoTrackingStore) -> None:
    store.start_trace(info_of("tr-1"))
    source, overridden = AssessmentSource("HUMAN", "ann"), None
    for value in (1, 5):
        feedback = Feedback("score", value, source=source, trace_id="tr-1", overrides=overridden)
        overridden = store.create_assessment(feedback).assessment_id
    (point,) = store.query_trace_metrics(
        ["0"], MetricViewType.ASSESSMENTS, "assessment_value",
        [MetricAggregation(AggregationType.AVG)],
    )  # fmt: skip
    assert point.values == {"AVG": 5.0}
