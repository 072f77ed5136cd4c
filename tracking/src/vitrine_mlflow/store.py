"""MLflow's tracking store on the table. Thin: each part of the work has a module of its own."""

# MLflow's base class declares no types, so its methods seem to return None.
# pyright: reportIncompatibleMethodOverride=false

from collections.abc import Sequence
from typing import Any

from mlflow.entities import (
    DatasetInput,
    Experiment,
    ExperimentTag,
    LifecycleStage,
    LoggedModelInput,
    LoggedModelOutput,
    Metric,
    Param,
    Run,
    RunData,
    RunInfo,
    RunInputs,
    RunTag,
    ViewType,
)
from mlflow.store.tracking import SEARCH_MAX_RESULTS_DEFAULT
from mlflow.store.tracking.abstract_store import AbstractStore

from vitrine_mlflow.context import Context
from vitrine_mlflow.datasets import Datasets
from vitrine_mlflow.details import Details
from vitrine_mlflow.evaluation import EvaluationDatasets
from vitrine_mlflow.experiments import Experiments
from vitrine_mlflow.histories import Histories, read_run
from vitrine_mlflow.isolation import isolation_of, require_startable
from vitrine_mlflow.issues import Issues
from vitrine_mlflow.logged_models import LoggedModels
from vitrine_mlflow.metrics import Metrics, validate_metrics
from vitrine_mlflow.mlflow_api import (
    local_uri,
    page_of,
    validate_batch_data,
    validate_batch_limits,
    validate_param_keys_unique,
    validate_run_id,
)
from vitrine_mlflow.removal import Removal
from vitrine_mlflow.runs import Runs
from vitrine_mlflow.scorers import Scorers
from vitrine_mlflow.search.experiments import search_experiments
from vitrine_mlflow.search.runs import RunSearch, search_datasets
from vitrine_mlflow.search.traces import TraceSearch
from vitrine_mlflow.store_evaluation import EvaluationMethods, ModelMethods
from vitrine_mlflow.store_traces import TraceMethods
from vitrine_mlflow.store_unsupported import UnsupportedMethods, require_no_demo
from vitrine_mlflow.traces.assessments import Assessments
from vitrine_mlflow.traces.metrics import TraceMetrics
from vitrine_mlflow.traces.traces import DeprecatedTraces, Traces
from vitrine_mlflow.uri import StoreAddress

_DEFAULT_ARTIFACTS = "mlflow-artifacts:/"


class DynamoTrackingStore(
    TraceMethods, ModelMethods, EvaluationMethods, UnsupportedMethods, AbstractStore
):
    """Experiments and runs in one DynamoDB table."""

    def __init__(self, store_uri: str, artifact_uri: str | None = None) -> None:
        database = StoreAddress.parse(store_uri).connect()
        root = local_uri(artifact_uri or _DEFAULT_ARTIFACTS)
        self._build(Context(database, root, isolation=isolation_of(store_uri)))

    @classmethod
    def of_context(cls, context: Context) -> "DynamoTrackingStore":
        """A store of given parts, for tests and tools."""
        store = cls.__new__(cls)
        store._build(context)
        return store

    def _build(self, context: Context) -> None:
        AbstractStore.__init__(self)
        self._context = context
        self.artifact_root_uri = context.artifact_root  # MLflow's handlers of workspaces read it
        self.experiments = Experiments(context)
        self.runs = Runs(context, self.experiments)
        self.metrics = Metrics(context, self.runs)
        self.details = Details(context, self.runs)
        self.datasets = Datasets(context, self.runs)
        self.logged_models = LoggedModels(context, self.experiments)
        self._histories = Histories(self.runs, self.metrics)
        self._run_search = RunSearch(context, self.datasets)
        self.traces = Traces(context, self.experiments)
        self.deprecated_traces = DeprecatedTraces(context, self.experiments, self.traces.items)
        self._removal = Removal(
            context, self.experiments, self.runs, self.traces.items, self.logged_models
        )
        self.assessments = Assessments(context, self.traces.items)
        self.trace_search = TraceSearch(self.experiments, self.traces.items)
        self.trace_metrics = TraceMetrics(self.experiments, self.traces.items)
        self.evaluation = EvaluationDatasets(context, self.experiments)
        self.scorers = Scorers(context, self.experiments)
        self.issues = Issues(context, self.experiments, self.runs, self.trace_search)
        require_startable(context)
        self.experiments.ensure_default()

    @property
    def supports_workspaces(self) -> bool:
        return True

    # Experiments

    def create_experiment(
        self,
        name: str,
        artifact_location: str | None = None,
        tags: Sequence[ExperimentTag] | None = None,
    ) -> str:
        return self.experiments.create(name, artifact_location, tags)

    def get_experiment(self, experiment_id: str) -> Experiment:
        return self.experiments.get(experiment_id)

    def get_experiment_by_name(self, experiment_name: str) -> Experiment | None:
        require_no_demo(experiment_name)
        return self.experiments.get_by_name(experiment_name)

    def search_experiments(
        self,
        view_type: Any = ViewType.ACTIVE_ONLY,
        max_results: int | None = SEARCH_MAX_RESULTS_DEFAULT,
        filter_string: str | None = None,
        order_by: Sequence[str] | None = None,
        page_token: str | None = None,
    ) -> Any:
        return page_of(
            *search_experiments(
                self.experiments, view_type, max_results, filter_string, order_by, page_token
            )
        )

    def delete_experiment(self, experiment_id: str) -> None:
        self._change_stage(experiment_id, ViewType.ACTIVE_ONLY, LifecycleStage.DELETED)

    def restore_experiment(self, experiment_id: str) -> None:
        self._change_stage(experiment_id, ViewType.DELETED_ONLY, LifecycleStage.ACTIVE)

    def _change_stage(self, experiment_id: str, view: Any, stage: str) -> None:
        stored = self.experiments.find(experiment_id)
        if stored.item.get("sweep") != stage:  # otherwise an interrupted call is completed
            stored = self.experiments.find(experiment_id, view)
            self.experiments.set_stage(stored, stage)
        self.runs.sweep(stored.experiment_id, stage)
        self.experiments.finish_sweep(stored.experiment_id)

    def rename_experiment(self, experiment_id: str, new_name: str) -> None:
        self.experiments.rename(experiment_id, new_name)

    def set_experiment_tag(self, experiment_id: str, tag: ExperimentTag) -> None:
        self.experiments.set_tag(experiment_id, tag)

    def delete_experiment_tag(self, experiment_id: str, key: str) -> None:
        self.experiments.delete_tag(experiment_id, key)

    # Runs

    def create_run(
        self,
        experiment_id: str,
        user_id: str,
        start_time: int | None,
        tags: Sequence[RunTag] | None,
        run_name: str | None,
    ) -> Run:
        run, all_tags = self.runs.create(experiment_id, user_id, start_time, tags, run_name)
        return Run(run.entity(), RunData(tags=all_tags), RunInputs(dataset_inputs=[]))

    def get_run(self, run_id: str) -> Run:
        return read_run(self._context.owned_database, self.runs, self.datasets, run_id)

    def update_run_info(
        self, run_id: str, run_status: Any, end_time: int | None, run_name: str | None
    ) -> RunInfo:
        return self.details.update_info(run_id, run_status, end_time, run_name).entity()

    def delete_run(self, run_id: str) -> None:
        self.runs.delete(run_id)

    def restore_run(self, run_id: str) -> None:
        self.runs.restore(run_id)

    def _search_runs(
        self,
        experiment_ids: Sequence[str],
        filter_string: str | None,
        run_view_type: Any,
        max_results: int | None,
        order_by: Sequence[str] | None,
        page_token: str | None,
    ) -> Any:
        return self._run_search.search(
            experiment_ids, filter_string, run_view_type, max_results, order_by, page_token
        )

    # What runs log

    def log_metric(self, run_id: str, metric: Metric) -> None:
        self._require_models(run_id, [metric])
        self.metrics.log(run_id, [metric])
        self.logged_models.log_metrics(run_id, [metric])

    def log_param(self, run_id: str, param: Param) -> None:
        self.details.log_param(run_id, param)

    def set_tag(self, run_id: str, tag: RunTag) -> None:
        self.details.set_tag(run_id, tag)

    def delete_tag(self, run_id: str, key: str) -> None:
        self.details.delete_tag(run_id, key)

    def log_batch(
        self,
        run_id: str,
        metrics: Sequence[Metric],
        params: Sequence[Param],
        tags: Sequence[RunTag],
    ) -> None:
        validate_run_id(run_id)
        metrics, params, tags = validate_batch_data(metrics, params, tags)
        validate_batch_limits(metrics, params, tags)
        validate_param_keys_unique(params)
        if not (metrics or params or tags):
            self.runs.find(run_id).require_active()
        self._require_models(run_id, metrics)
        self.details.log_params(run_id, params)
        if metrics:
            self.metrics.log(run_id, metrics)
            self.logged_models.log_metrics(run_id, metrics)
        self.details.set_tags(run_id, tags)

    def _require_models(self, run_id: str, metrics: Sequence[Metric]) -> None:
        if any(metric.model_id is not None for metric in metrics):
            self.runs.find(run_id).require_active()  # its absence is reported first
            validate_metrics(metrics)
            self.logged_models.require(run_id, metrics)

    def record_logged_model(self, run_id: str, mlflow_model: Any) -> None:
        from mlflow.models import Model  # noqa: PLC0415 - slow, and rarely needed

        if not isinstance(mlflow_model, Model):
            raise TypeError(
                f"Argument 'mlflow_model' should be mlflow.models.Model, got '{type(mlflow_model)}'"
            )
        self.details.record_model(run_id, mlflow_model.get_tags_dict())

    def log_inputs(
        self,
        run_id: str,
        datasets: list[DatasetInput] | None = None,
        models: list[LoggedModelInput] | None = None,
    ) -> None:
        self.datasets.log_inputs(run_id, datasets, models)

    def log_outputs(self, run_id: str, models: list[LoggedModelOutput]) -> None:
        self.datasets.log_outputs(run_id, models)

    def _search_datasets(self, experiment_ids: Sequence[str]) -> list[Any]:
        return search_datasets(self._context.owned_database, self.experiments, experiment_ids)

    # Histories of metrics

    def get_metric_history(
        self,
        run_id: str,
        metric_key: str,
        max_results: int | None = None,
        page_token: str | None = None,
    ) -> Any:
        return page_of(*self._histories.page(run_id, metric_key, max_results, page_token))

    def get_metric_history_bulk(
        self, run_ids: Sequence[str], metric_key: str, max_results: int
    ) -> list[Any]:
        return self._histories.of_runs(run_ids, metric_key, max_results)

    def get_max_step_for_metric(self, run_id: str, metric_key: str) -> int:
        return self._histories.max_step(run_id, metric_key)

    def get_metric_history_bulk_interval_from_steps(
        self, run_id: str, metric_key: str, steps: Sequence[int], max_results: int
    ) -> list[Any]:
        return self._histories.at_steps(run_id, metric_key, steps, max_results)

    def get_metric_history_bulk_interval(
        self,
        run_ids: Sequence[str],
        metric_key: str,
        max_results: int,
        start_step: int | None,
        end_step: int | None,
    ) -> list[Any]:
        return self._histories.sample(run_ids, metric_key, max_results, start_step, end_step)

    # What `mlflow gc` calls; the names are MLflow's

    def _get_deleted_runs(self, older_than: int = 0) -> list[str]:
        return self._removal.deleted_runs(older_than)

    def _hard_delete_run(self, run_id: str) -> None:
        self._removal.remove_run(run_id)

    def _get_deleted_logged_models(self, older_than: int = 0) -> list[str]:
        return self.logged_models.list_deleted(older_than)

    def _hard_delete_logged_model(self, model_id: str) -> None:
        self.logged_models.remove(model_id)

    def _hard_delete_experiment(self, experiment_id: str) -> None:
        self._removal.remove_experiment(experiment_id)
