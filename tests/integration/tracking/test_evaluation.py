"""Evaluation datasets, scorers, issues and webhooks reply as MLflow's own stores on SQLite."""

import itertools
import json
import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from unittest import mock

import pytest
from cryptography.fernet import Fernet
from mlflow.entities import (
    AssessmentSource,
    EvaluationDataset,
    IssueReference,
    ScorerVersion,
)
from mlflow.entities.webhook import WebhookEvent, WebhookStatus
from mlflow.exceptions import MlflowException
from mlflow.store.model_registry import sqlalchemy_store as sql_registry
from vitrine_mlflow.context import Context
from vitrine_mlflow.database import Database
from vitrine_mlflow.registry_store import DynamoRegistryStore
from vitrine_mlflow.store import DynamoTrackingStore

from tests.integration.tracking.comparison import error_of
from tests.integration.tracking.evaluation_histories import EvaluationHistory, Step
from tests.integration.tracking.stores import (
    HISTORIES,
    Series,
    SqlStore,
    dynamo_store,
    seed_of,
)
from tests.integration.tracking.trace_histories import TraceHistory

_LEFT_OUT: dict[type, set[str]] = {
    EvaluationDataset: {"records"},  # compared by themselves
    ScorerVersion: {"_creation_time"},  # the default of an SQL column, which takes no other clock
}
_STEPS = 120
_PAGES = 10


@pytest.fixture(scope="module", autouse=True)
def _default_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """EvaluationDataset.to_dict reads records from MLflow's default store, else ./mlflow.db."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path_factory.mktemp('mlflow')}/a.db")
        yield


def _outcome(store: Any, step: Step) -> Any:
    name, arguments, named = step
    try:
        reply = getattr(store, name)(*arguments, **named)
    except MlflowException as error:
        return "error", error_of(error)
    if name == "get_dataset_experiment_ids":
        reply = sorted(reply)  # by the default of an SQL column, as above
    return "reply", _plain(reply), getattr(reply, "token", None)


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        members: list[Any] = value  # pyright: ignore[reportUnknownVariableType]
        return [_plain(member) for member in members]
    if isinstance(value, tuple):
        records, token = value  # pyright: ignore[reportUnknownVariableType]
        return _plain(records), token  # pyright: ignore[reportUnknownArgumentType]
    for kind, left_out in _LEFT_OUT.items():
        if isinstance(value, kind):
            fields: dict[str, Any] = _fields(value)
            return {key: _load_json(field) for key, field in fields.items() if key not in left_out}
    return _fields(value) if hasattr(value, "__dict__") else value


def _fields(value: Any) -> dict[str, Any]:
    convert: Any = getattr(value, "to_dict", None)
    return cast("dict[str, Any]", vars(value) if convert is None else convert())


def _load_json(value: Any) -> Any:
    try:
        return json.loads(value)
    except (TypeError, ValueError):
        return value


@pytest.mark.parametrize("number", range(HISTORIES))
def test_replies_equal_those_of_the_sql_store(number: int, table: Database, tmp_path: Path) -> None:
    ours, theirs = Series(), Series()
    store = dynamo_store(table, ours)
    sql = SqlStore(tmp_path / "one.db", theirs)
    history = EvaluationHistory(seed := seed_of(number))
    stores: tuple[tuple[Any, Series], ...] = ((store, ours), (sql.store, theirs))
    with sql.inject():
        for target, _ in stores:
            target.create_experiment("first", None, [])
        ours.experiments = theirs.experiments = 1
        for target, _ in stores:
            target.create_experiment("second", None, [])
            target.delete_experiment("2")
        for position in range(1, _STEPS):
            step = history.step()
            milliseconds = history.random.randrange(2)
            for _, series in stores:
                series.milliseconds += milliseconds
                series.numbers = itertools.count(position * 1_000)
            outcome = _compare(stores, step, f"seed {seed}, {position}")
            history.remember(step, outcome)
        for dataset in history.datasets[1:]:
            assert _records(store, dataset) == _records(sql.store, dataset), f"seed {seed}"


def _compare(stores: Any, step: Step, context: str) -> Any:
    """The reply of both stores to an operation; of a search, all pages are compared."""
    outcome, expected = (_outcome(store, step) for store, _ in stores)
    assert outcome == expected, f"{context}: {step}: {outcome} <> {expected}"
    name, arguments, named = step
    token = _page_token(outcome)
    for _ in range(_PAGES):
        if not token:
            break
        following = (name, arguments, {**named, "page_token": token})
        page, expected = (_outcome(store, following) for store, _ in stores)
        assert page == expected, f"{context}: {following}: {page} <> {expected}"
        token = _page_token(page)
    return outcome


def _page_token(outcome: Any) -> Any:
    if outcome[0] == "error":
        return None
    return outcome[1][1] if isinstance(outcome[1], tuple) else outcome[2]


def _records(store: Any, dataset: str) -> Any:
    return sorted(_plain(store._load_dataset_records(dataset)[0]), key=str)


def test_records_are_paged_without_gaps(table: Database) -> None:
    series = Series()
    store = dynamo_store(table, series)
    dataset = store.create_dataset("big").dataset_id
    # outputs may be of any type; a batch of them takes several transactions
    records: list[dict[str, Any]] = [
        {"inputs": {"n": number}, "outputs": "x" * 30_000} for number in range(120)
    ]
    records[60]["outputs"] = ["x"]
    assert store.upsert_dataset_records(dataset, records) == {"inserted": 120, "updated": 0}
    assert store.upsert_dataset_records(dataset, records) == {"inserted": 0, "updated": 120}
    listed: list[Any] = []
    reading: Any = store
    token = None
    while True:
        page, token = reading._load_dataset_records(dataset, 50, token)
        listed += page
        if token is None:
            break
    assert sorted(record.inputs["n"] for record in listed) == list(range(120))
    assert json.loads(store.get_dataset(dataset).profile or "") == {"num_records": 120}
    assert (
        store.delete_dataset_records(dataset, [record.dataset_record_id for record in listed])
        == 120
    )
    assert reading._load_dataset_records(dataset) == ([], None)
    with pytest.raises(MlflowException, match="not found"):
        store.upsert_dataset_records("d-none", records)


@dataclass(frozen=True)
class BothStores:
    """Our store and SQL's, which got the same operations."""

    ours: Any
    theirs: Any

    def __iter__(self) -> Iterator[Any]:
        return iter((self.ours, self.theirs))

    def same(self, call: Callable[[Any], Any]) -> None:
        """Both stores return the same reply, or the same error."""
        replies: list[Any] = []
        for store in self:
            try:
                replies.append(call(store))
            except MlflowException as error:
                replies.append(error_of(error))
        assert replies[0] == replies[1]


@pytest.fixture
def traced(table: Database, tmp_path: Path) -> Iterator[BothStores]:
    """Both stores with traces."""
    ours, theirs = Series(), Series()
    store = dynamo_store(table, ours)
    sql = SqlStore(tmp_path / "one.db", theirs)
    history = TraceHistory(3)
    with sql.inject():
        both = BothStores(store, sql.store)
        for number in range(1, 41):
            _name, call = history.operation()
            for series in (ours, theirs):
                series.milliseconds += 1
                series.numbers = itertools.count(number * 1_000)
            for target in both:
                with suppress(MlflowException):
                    call(target)
        yield both


def test_issues_count_their_traces(traced: BothStores) -> None:
    traced.same(lambda store: store.create_issue("0", "slow", "it is").issue_id)
    issue = traced.ours.search_issues("0")[0].issue_id
    traces = traced.ours.search_traces(["0"])[0][:3]
    assert traces
    for info in traces:
        reference = IssueReference(
            issue_id=issue,
            issue_name="slow",
            source=AssessmentSource("HUMAN", "ann"),
            trace_id=info.trace_id,
        )
        for store in traced:
            store.create_assessment(reference)
    traced.same(lambda store: _plain(list(store.search_issues("0", include_trace_count=True))))
    assert traced.ours.search_issues("0", include_trace_count=True)[0].trace_count == len(traces)


def test_correlations_of_filters_are_equal(traced: BothStores) -> None:
    filters = ["status = 'OK'", "status != 'OK'", "tags.team = 'a'", "timestamp_ms > 0", "x = 1"]
    for first, second in itertools.product(filters, filters):
        for base in (None, "status = 'OK'"):
            arguments = (["0", "77"], first, second, base)
            traced.same(
                lambda store, arguments=arguments: _numbers(
                    store.calculate_trace_filter_correlation(*arguments)
                )
            )


def _numbers(result: Any) -> list[Any]:
    members: dict[str, Any] = _fields(result)
    return [
        "nan" if isinstance(value, float) and math.isnan(value) else value
        for value in members.values()
    ]


EVENTS = [WebhookEvent("registered_model", "created"), WebhookEvent("model_version", "created")]


URL = "https://127.0.0.1/x"
CREATIONS: list[tuple[Any, ...]] = [
    ("one", URL, EVENTS, "text", "secret", None),
    ("two", URL, EVENTS[:1], None, None, WebhookStatus.DISABLED),
    ("bad name!", URL, EVENTS, None, None, None),
    ("one", "ftp://x", EVENTS, None, None, None),
    ("one", URL, [], None, None, None),
]
CHANGES: list[dict[str, Any]] = [
    {"name": "new", "events": EVENTS[1:], "status": WebhookStatus.DISABLED},
    {"secret": "other", "description": ""},
    {"url": "bad"},
]


@pytest.fixture
def registries(
    table: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[BothStores, Series]]:
    monkeypatch.setenv("MLFLOW_WEBHOOK_SECRET_ENCRYPTION_KEY", Fernet.generate_key().decode())
    monkeypatch.setenv("MLFLOW_WEBHOOK_ALLOW_PRIVATE_IPS", "true")
    series = Series()
    ours = DynamoRegistryStore.of_context(Context(table, "", series.sources()))
    SqlStore(tmp_path / "one.db", Series())
    module: Any = sql_registry
    theirs: Any = module.SqlAlchemyStore(f"sqlite:///{tmp_path / 'one.db'}")
    with mock.patch.object(module, "get_current_time_millis", series.now_ms):
        yield BothStores(ours, theirs), series


def test_webhooks_equal_those_of_the_sql_registry(
    registries: tuple[BothStores, Series], monkeypatch: pytest.MonkeyPatch
) -> None:
    both, series = registries
    pairs: list[tuple[str, str]] = []
    for arguments in CREATIONS:
        series.milliseconds += 1
        replies = [_hook(store, "create_webhook", *arguments) for store in both]
        assert replies[0][1:] == replies[1][1:]
        if replies[0][0]:
            pairs.append((replies[0][0], replies[1][0]))
    series.milliseconds += 1
    for change in CHANGES:
        replies = [
            _hook(store, "update_webhook", webhook, **change)
            for store, webhook in zip(both, pairs[0], strict=True)
        ]
        assert replies[0][1:] == replies[1][1:]
    for size in (None, 1, 1001):
        both.same(lambda store, size=size: _hooks(store.list_webhooks(size)))
    for event in EVENTS:
        both.same(lambda store, event=event: _hooks(store.list_webhooks_by_event(event)))
    for store, webhook in zip(both, pairs[1], strict=True):
        store.delete_webhook(webhook)
    for name in ("get_webhook", "delete_webhook"):
        both.same(lambda store, name=name: getattr(store, name)("none"))
    both.same(lambda store: _hooks(store.list_webhooks()))
    monkeypatch.delenv("MLFLOW_WEBHOOK_SECRET_ENCRYPTION_KEY")  # Difference.SECRETS_OF_WEBHOOKS
    with pytest.raises(MlflowException, match="MLFLOW_WEBHOOK_SECRET_ENCRYPTION_KEY"):
        both.ours.create_webhook("three", URL, EVENTS, secret="x")


def test_a_webhooks_secret_is_stored_encrypted(
    table: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_WEBHOOK_SECRET_ENCRYPTION_KEY", Fernet.generate_key().decode())
    monkeypatch.setenv("MLFLOW_WEBHOOK_ALLOW_PRIVATE_IPS", "true")
    store = DynamoRegistryStore.of_context(Context(table, ""))
    store.create_webhook("one", URL, EVENTS, secret="sesame")
    assert "sesame" not in str(list(table.query("WEBHOOKS#default")))
    assert [webhook.secret for webhook in store.list_webhooks()] == ["sesame"]


def _hook(store: Any, call: str, *arguments: Any, **named: Any) -> tuple[Any, Any]:
    try:
        reply = getattr(store, call)(*arguments, **named)
    except MlflowException as error:
        return None, error_of(error)
    return reply.webhook_id, _shown(reply)


def _shown(webhook: Any) -> dict[str, Any]:
    fields: dict[str, Any] = _fields(webhook)
    shown = {key: value for key, value in fields.items() if key != "_webhook_id"}
    return {**shown, "_events": sorted(map(str, webhook.events))}


def _hooks(page: Any) -> tuple[list[Any], bool]:
    return [_shown(entry) for entry in page], bool(page.token)


def test_what_a_removed_experiment_had_is_removed(table: Database) -> None:
    store: Any = dynamo_store(table, Series())
    scorer = store.register_scorer("0", "one", "{}")
    store.upsert_online_scoring_config("0", "one", 0)
    issue = store.create_issue("0", "slow", "it is")
    store.delete_experiment("0")
    store._hard_delete_experiment("0")
    assert store.get_online_scoring_configs([scorer.scorer_id]) == []
    with pytest.raises(MlflowException, match="not found"):
        store.get_issue(issue.issue_id)
    assert isinstance(store, DynamoTrackingStore)
