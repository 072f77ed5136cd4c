"""Names, values and numbers at the limits: both stores return the same replies or errors."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, cast
from unittest import mock

import pytest
from mlflow.entities import (
    AssessmentSource,
    Dataset,
    DatasetInput,
    Expectation,
    ExperimentTag,
    Feedback,
    InputTag,
    LoggedModelParameter,
    LoggedModelTag,
    Metric,
    Param,
    RunTag,
    ViewType,
)
from mlflow.entities.model_registry import ModelVersionTag, RegisteredModelTag
from mlflow.exceptions import MlflowException
from mlflow.store.model_registry import sqlalchemy_store as sql_registry
from vitrine_mlflow.context import Context
from vitrine_mlflow.registry_store import DynamoRegistryStore

from backend.core.ids import new_uuid
from tests.integration.tracking.comparison import error_of, plain
from tests.integration.tracking.stores import Series, SqlStore, TrackingTables, dynamo_store
from tests.integration.tracking.trace_histories import START, info_of, span_of

TEXTS = [
    "", " ", "#", "a#b#", "%23%", "u\u0308ñ", "日本", "😀", "a\nb", "a\0b", "'\"`", "a/b", "a:b",
    "../x", "x" * 251, "y" * 6_001, "z" * 400_000,
]  # fmt: skip
NUMBERS = [
    float("nan"), float("inf"), float("-inf"), 1e308, -1e308, 5e-324, -0.0, 2**53, "1.5", None,
]  # fmt: skip
_numbers = itertools.count(1)
ODD = "1"  # the experiment of runs that one store may refuse
INTEGERS = [-1, 0, 2**63 - 1, -(2**63)]


@dataclass(frozen=True)
class Product:
    """A tracking store and a registry on one database, and a run that an operation logs to."""

    tracking: Any
    registry: Any
    model: str
    series: Series
    run: str = ""


def _inputs(name: str) -> list[DatasetInput]:
    return [DatasetInput(Dataset(name, name[:36], "local", name), [InputTag("context", name)])]


def _feedback(value: Any) -> Feedback:
    return Feedback(
        name="f", value=value, source=AssessmentSource("HUMAN", "ann"), trace_id="tr-1",
        create_time_ms=START, last_update_time_ms=START,
    )  # fmt: skip


def _expectation(value: Any) -> Expectation:
    return Expectation(
        name="e", value=value, source=AssessmentSource("HUMAN", "ann"), trace_id="tr-1",
        create_time_ms=START, last_update_time_ms=START,
    )  # fmt: skip


def _list_assessments(product: Product, assessment: Any) -> list[Any]:
    product.tracking.create_assessment(assessment)
    assessments = product.tracking.get_trace_info("tr-1").assessments
    return sorted((assessment.name, str(assessment.value)) for assessment in assessments)


OF_TEXTS: dict[str, Callable[[Product, str], Any]] = {
    "create_experiment": lambda p, text: (
        p.tracking.get_experiment(p.tracking.create_experiment(text)).name
    ),
    "rename_experiment": lambda p, text: p.tracking.rename_experiment("0", text),
    "experiment tag": lambda p, text: p.tracking.set_experiment_tag("0", ExperimentTag("k", text)),
    "key of an experiment tag": lambda p, text: p.tracking.set_experiment_tag(
        "0", ExperimentTag(text, "v")
    ),
    "run name": lambda p, text: p.tracking.create_run(ODD, "ann", 1, [], text).info.run_name,
    "user": lambda p, text: p.tracking.create_run(ODD, text, 1, [], "n").info.user_id,
    "new run's tag": lambda p, text: (
        p.tracking.create_run(ODD, "ann", 1, [RunTag("k", text)], "n").data.tags
    ),
    "update_run_info": lambda p, text: p.tracking.update_run_info(p.run, 3, 5, text).run_name,
    "param": lambda p, text: p.tracking.log_param(p.run, Param("k", text)),
    "key of a param": lambda p, text: p.tracking.log_param(p.run, Param(text, "v")),
    "tag": lambda p, text: p.tracking.set_tag(p.run, RunTag("k", text)),
    "key of a tag": lambda p, text: p.tracking.set_tag(p.run, RunTag(text, "v")),
    "deleted tag": lambda p, text: p.tracking.delete_tag(p.run, text),
    "key of a metric": lambda p, text: p.tracking.log_metric(p.run, Metric(text, 1.0, 1, 1)),
    "log_batch": lambda p, text: p.tracking.log_batch(
        p.run, [Metric(text, 1.0, 1, 1)], [Param(text, text)], [RunTag(text, text)]
    ),
    "dataset": lambda p, text: p.tracking.log_inputs(p.run, _inputs(text)),
    "logged model": lambda p, text: p.tracking.create_logged_model("0", text, p.run).name,
    "logged model's tag": lambda p, text: p.tracking.set_logged_model_tags(
        p.model, [LoggedModelTag(text, text)]
    ),
    "logged model's param": lambda p, text: p.tracking.log_logged_model_params(
        p.model, [LoggedModelParameter(text, text)]
    ),
    "trace tag": lambda p, text: p.tracking.set_trace_tag("tr-1", "k", text),
    "key of a trace tag": lambda p, text: p.tracking.set_trace_tag("tr-1", text, "v"),
    "trace name": lambda p, text: p.tracking.set_trace_tag("tr-1", "mlflow.traceName", text),
    "span": lambda p, text: len(
        p.tracking.log_spans("0", [span_of("tr-2", 1, name=text, attributes={"k": text})])
    ),
    "feedback": lambda p, text: _list_assessments(p, _feedback(text)),
    "evaluation dataset": lambda p, text: p.tracking.create_dataset(text).name,
    "scorer": lambda p, text: p.tracking.register_scorer("0", text, "{}").scorer_version,
    "issue": lambda p, text: p.tracking.create_issue("0", text, text).description,
    "metric history": lambda p, text: p.tracking.get_metric_history(p.run, text),
    "filter": lambda p, text: list(
        p.tracking.search_runs(["0"], f"params.k = '{text}'", ViewType.ALL)
    ),
    "filter by name": lambda p, text: list(
        p.tracking.search_runs(["0"], f"run_name = '{text}'", ViewType.ALL)
    ),
    "order": lambda p, text: list(
        p.tracking.search_runs(["0"], "", ViewType.ALL, 10, [f"metrics.`{text}`"])
    ),
    "run id": lambda p, text: p.tracking.get_run(text),
    "experiment id": lambda p, text: p.tracking.get_experiment(text),
    "trace id": lambda p, text: p.tracking.get_trace_info(text),
    "token": lambda p, text: p.tracking.get_metric_history(p.run, "m", 1, text),
    "registered model": lambda p, text: p.registry.create_registered_model(text).name,
    "model's description": lambda p, text: (
        p.registry.update_registered_model("model", text).description
    ),
    "model's tag": lambda p, text: p.registry.set_registered_model_tag(
        "model", RegisteredModelTag(text, text)
    ),
    "renamed model": lambda p, text: p.registry.rename_registered_model("model", text).name,
    "alias": lambda p, text: p.registry.set_registered_model_alias("model", text, 1),
    "version's tag": lambda p, text: p.registry.set_model_version_tag(
        "model", "1", ModelVersionTag(text, text)
    ),
    "models by name": lambda p, text: [
        # cut, since long names exist in SQL's registry only: Difference.LARGE_ITEMS
        model.name
        for model in p.registry.search_registered_models(f"name = '{text[:200]}'")
    ],
    "versions by tag": lambda p, text: len(
        p.registry.search_model_versions(f"tags.`{text}` = '{text}'")
    ),
    "prompt": lambda p, text: p.registry.create_prompt(text).name,
    "prompt's version": lambda p, text: (
        p.registry.create_prompt_version("prompt", text, text, {}).template
    ),
    "prompt's tag": lambda p, text: p.registry.set_prompt_tag("prompt", text, text),
    "tag of a prompt's version": lambda p, text: p.registry.set_prompt_version_tag(
        "prompt", 1, text, text
    ),
    "prompt's alias": lambda p, text: p.registry.set_prompt_alias("prompt", text, 1),
    "prompts by name": lambda p, text: [
        prompt.name for prompt in p.registry.search_prompts(f"name = '{text[:200]}'")
    ],
    "deleted prompt": lambda p, text: p.registry.delete_prompt(text),
    "source": lambda p, text: p.registry.create_model_version("model", text).source,
}
OF_NUMBERS: dict[str, Callable[[Product, Any], Any]] = {
    "log_metric": lambda p, number: p.tracking.log_metric(p.run, Metric("m", number, 1, 1)),
    "log_batch": lambda p, number: p.tracking.log_batch(
        p.run, [Metric("m", number, 1, 1), Metric("n", number, 1, 1)], [], []
    ),
    "logged model": lambda p, number: p.tracking.log_metric(
        p.run, Metric(f"of a model {number}", number, 1, 1, model_id=p.model)
    ),
    "logged model again": lambda p, number: p.tracking.log_metric(
        p.run, Metric("again", number, 1, 1, model_id=p.model)
    ),
    "feedback": lambda p, number: _list_assessments(p, _feedback(number)),
    "expectation": lambda p, number: _list_assessments(p, _expectation(number)),
    "attribute": lambda p, number: (
        p.tracking.log_spans("0", [span_of("tr-2", 1, attributes={"n": number})])
        and p.tracking.get_trace("tr-2").data.spans[0].to_dict()
    ),
    "filter": lambda p, number: list(
        p.tracking.search_runs(["0"], f"metrics.m >= {number}", ViewType.ALL)
    ),
    "filter of traces": lambda p, number: len(
        p.tracking.search_traces(["0"], f"feedback.f > {number}")[0]
    ),
}
OF_INTEGERS: dict[str, Callable[[Product, Any], Any]] = {
    "step": lambda p, number: p.tracking.log_metric(p.run, Metric("m", 1.0, 1, number)),
    "timestamp": lambda p, number: p.tracking.log_metric(p.run, Metric("m", 1.0, number, 1)),
    "start": lambda p, number: p.tracking.create_run(ODD, "ann", number, [], "n").info.start_time,
    "end": lambda p, number: p.tracking.update_run_info(p.run, 3, number, None).end_time,
    "page": lambda p, number: list(
        p.tracking.search_runs(["0"], "", ViewType.ALL, number)
    ),
    "page of experiments": lambda p, number: len(p.tracking.search_experiments(1, number)),
    "page of traces": lambda p, number: len(p.tracking.search_traces(["0"], None, number)[0]),
    "page of models": lambda p, number: len(
        p.registry.search_registered_models(None, max(number, 0))
    ),
    "filter": lambda p, number: list(
        p.tracking.search_runs(["0"], f"start_time < {number}", ViewType.ALL)
    ),
    "version": lambda p, number: p.registry.get_model_version("model", number).version,
}  # fmt: skip
CASES: list[tuple[str, Callable[[Product, Any], Any], list[Any]]] = [
    *((name, call, TEXTS) for name, call in OF_TEXTS.items()),
    *((f"number: {name}", call, NUMBERS) for name, call in OF_NUMBERS.items()),
    *((f"integer: {name}", call, INTEGERS) for name, call in OF_INTEGERS.items()),
]


class _Counting(Series):
    """Experiments get ids that none has had, as SQL counts them; the ids are not compared."""

    def new_experiment_id(self) -> str:
        self.experiments += 1
        return str(self.experiments)


@pytest.fixture(scope="module")
def products(
    tracking_tables: TrackingTables, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Product, Product]]:
    folder = tmp_path_factory.mktemp("extremes")
    database = tracking_tables.database(tracking_tables.create(f"mlflow-{new_uuid()[:8]}"))
    ours, theirs = _Counting(), Series()
    sql = SqlStore(folder / "one.db", theirs)
    module: Any = sql_registry
    registry: Any = module.SqlAlchemyStore(f"sqlite:///{folder / 'one.db'}")
    own = DynamoRegistryStore.of_context(Context(database, "", ours.sources()))
    both = ((dynamo_store(database, ours), own, ours), (sql.store, registry, theirs))
    created: list[Product] = []
    with sql.inject(), mock.patch.object(module, "get_current_time_millis", theirs.now_ms):
        for tracking, models, series in cast("Any", both):
            tracking.create_experiment("odd")
            for text in TEXTS:
                name = text[:200]
                run = tracking.create_run("0", "ann", 1, [], name).info.run_id
                tracking.log_batch(run, [Metric("m", 0.5, 0, 0)], [Param("k", name)], [])
            model = tracking.create_logged_model("0", "m").model_id
            tracking.start_trace(info_of("tr-1"))
            models.create_registered_model("model")
            models.create_model_version("model", "s3://a")
            models.create_prompt("prompt")
            models.create_prompt_version("prompt", "Hello {{name}}")
            created.append(Product(tracking, models, model, series))
        yield created[0], created[1]


@pytest.mark.parametrize(("name", "call", "values"), CASES, ids=[case[0] for case in CASES])
def test_both_stores_reply_the_same(
    name: str, call: Callable[[Product, Any], Any], values: list[Any],
    products: tuple[Product, Product],
) -> None:  # fmt: skip
    differences: list[Any] = []
    pair = _each_with_a_run(products)
    for value in values:
        ours, theirs = (_outcome(product, call, value) for product in pair)
        # Difference.LARGE_ITEMS
        too_large = "its key in DynamoDB" in str(ours) or "DynamoDB refused" in str(ours)
        # Difference.PAGE_TOKENS
        is_forged = "this search has not returned it" in str(ours)
        if ours != theirs and not too_large and not is_forged:
            differences.append((str(value)[:20], str(ours)[:300], str(theirs)[:300]))
    assert differences == [], name


def _each_with_a_run(products: tuple[Product, Product]) -> list[Product]:
    """Both products with the same new run."""
    number, pair = next(_numbers), list[Product]()
    for product in products:
        product.series.numbers = itertools.count(number * 1_000)
        run = product.tracking.create_run(ODD, "ann", 1, [], "run").info.run_id
        product.tracking.log_metric(run, Metric("m", 0.5, 0, 0))
        pair.append(replace(product, run=run))
    return pair


def _outcome(product: Product, call: Callable[[Product, Any], Any], value: Any) -> Any:
    try:
        reply = call(product, value)
    except MlflowException as error:
        code, message = error_of(error)
        return "error", code, message
    except TypeError as error:  # a value of another type than MLflow's API sends
        return "error", "INTERNAL_ERROR", str(error)
    return _readable(reply), plain(product.tracking.get_run(product.run))


def _readable(reply: Any) -> Any:
    return repr(reply) if isinstance(reply, float) else plain(reply)
