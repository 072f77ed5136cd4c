"""The methods of MLflow's tracking store for evaluation: datasets, scorers, issues, correlation."""

import json
from collections.abc import Sequence
from typing import Any

from mlflow.entities import (
    DatasetRecord,
    EvaluationDataset,
    Issue,
    IssueSeverity,
    IssueStatus,
    LoggedModel,
    LoggedModelParameter,
    LoggedModelStatus,
    LoggedModelTag,
    ScorerVersion,
)
from mlflow.store.tracking.abstract_store import AbstractStore

from vitrine_mlflow.evaluation import EvaluationDatasets
from vitrine_mlflow.experiments import Experiments
from vitrine_mlflow.issues import Issues
from vitrine_mlflow.logged_models import LoggedModels
from vitrine_mlflow.mlflow_api import page_of, parsed_experiment_id
from vitrine_mlflow.scorers import Scorers
from vitrine_mlflow.search.evaluation import search_datasets
from vitrine_mlflow.search.logged_models import search_logged_models
from vitrine_mlflow.search.traces import TraceSearch, filter_correlation

# pyright: reportIncompatibleMethodOverride=false


class EvaluationMethods(AbstractStore):
    """Evaluation datasets, scorers and issues."""

    experiments: Experiments
    evaluation: EvaluationDatasets
    scorers: Scorers
    issues: Issues
    trace_search: TraceSearch

    # Evaluation datasets

    def create_dataset(
        self,
        name: str,
        tags: dict[str, str] | None = None,
        experiment_ids: list[str] | None = None,
    ) -> EvaluationDataset:
        created = self.evaluation.create(name, tags, experiment_ids).entity()
        created.experiment_ids = experiment_ids or []
        created.tags = dict(tags or {})  # numbers, too, which are read as texts
        return created

    def get_dataset(self, dataset_id: str) -> EvaluationDataset:
        return self.evaluation.get(dataset_id).entity()

    def delete_dataset(self, dataset_id: str) -> None:
        self.evaluation.delete(dataset_id)

    def search_datasets(
        self,
        experiment_ids: list[str] | None = None,
        filter_string: str | None = None,
        max_results: int = 1000,
        order_by: list[str] | None = None,
        page_token: str | None = None,
    ) -> Any:
        datasets, token = search_datasets(
            self.evaluation, experiment_ids, filter_string, max_results, order_by, page_token
        )
        return page_of([dataset.entity() for dataset in datasets], token)

    def upsert_dataset_records(
        self, dataset_id: str, records: list[dict[str, Any]]
    ) -> dict[str, int]:
        return self.evaluation.upsert(dataset_id, records)

    def delete_dataset_records(self, dataset_id: str, dataset_record_ids: list[str]) -> int:
        return self.evaluation.delete_records(dataset_id, dataset_record_ids)

    def set_dataset_tags(self, dataset_id: str, tags: dict[str, Any]) -> None:
        self.evaluation.set_tags(dataset_id, tags)

    def delete_dataset_tag(self, dataset_id: str, key: str) -> None:
        self.evaluation.delete_tag(dataset_id, key)

    def get_dataset_experiment_ids(self, dataset_id: str) -> list[str]:
        return self.evaluation.experiment_ids(dataset_id)

    def add_dataset_to_experiments(
        self, dataset_id: str, experiment_ids: list[str]
    ) -> EvaluationDataset:
        return self.evaluation.add_experiments(dataset_id, experiment_ids).entity()

    def remove_dataset_from_experiments(
        self, dataset_id: str, experiment_ids: list[str]
    ) -> EvaluationDataset:
        return self.evaluation.remove_experiments(dataset_id, experiment_ids).entity()

    def _load_dataset_records(
        self, dataset_id: str, max_results: int | None = None, page_token: str | None = None
    ) -> tuple[list[DatasetRecord], str | None]:
        return self.evaluation.records(dataset_id, max_results, page_token)

    # Scorers

    def register_scorer(
        self, experiment_id: str, name: str, serialized_scorer: str
    ) -> ScorerVersion:
        return self.scorers.register(experiment_id, name, serialized_scorer)

    def list_scorers(self, experiment_id: str) -> list[ScorerVersion]:
        return self.scorers.latest(experiment_id)

    def list_scorers_across_experiments(self, experiment_ids: list[str]) -> list[ScorerVersion]:
        return self.scorers.latest_across(experiment_ids)

    def filter_active_experiment_ids(self, experiment_ids: list[str]) -> list[str]:
        wanted = dict.fromkeys(
            str(parsed_experiment_id(experiment_id)) for experiment_id in experiment_ids
        )
        return self.experiments.active_of(list(wanted))

    def get_scorer(self, experiment_id: str, name: str, version: int | None = None) -> Any:
        return self.scorers.get(experiment_id, name, version)

    def list_scorer_versions(self, experiment_id: str, name: str) -> list[ScorerVersion]:
        return self.scorers.versions(experiment_id, name)

    def delete_scorer(self, experiment_id: str, name: str, version: int | None = None) -> None:
        self.scorers.delete(experiment_id, name, version)

    def upsert_online_scoring_config(
        self,
        experiment_id: str,
        scorer_name: str,
        sample_rate: float,
        filter_string: str | None = None,
    ) -> Any:
        return self.scorers.set_online(experiment_id, scorer_name, sample_rate, filter_string)

    def get_online_scoring_configs(self, scorer_ids: list[str]) -> list[Any]:
        return self.scorers.online(scorer_ids)

    def get_active_online_scorers(self) -> list[Any]:
        return []  # only scorers on models of the gateway, which is not supported, can be active

    # Issues

    def create_issue(  # noqa: PLR0913, PLR0917
        self,
        experiment_id: str,
        name: str,
        description: str,
        status: IssueStatus = IssueStatus.PENDING,
        severity: IssueSeverity | None = None,
        root_causes: list[str] | None = None,
        source_run_id: str | None = None,
        categories: list[str] | None = None,
        created_by: str | None = None,
    ) -> Issue:
        fields = {
            "name": name,
            "description": description,
            "status": status.value,
            "severity": severity.value if severity else None,
            "root_causes": json.dumps(root_causes) if root_causes else None,
            "source_run_id": source_run_id,
            "categories": json.dumps(categories) if categories else None,
            "created_by": created_by,
        }
        return self.issues.create(experiment_id, fields)

    def get_issue(self, issue_id: str) -> Issue:
        return self.issues.get(issue_id)

    def update_issue(
        self,
        issue_id: str,
        status: IssueStatus | None = None,
        name: str | None = None,
        description: str | None = None,
        severity: IssueSeverity | None = None,
    ) -> Issue:
        changes = {
            "status": None if status is None else status.value,
            "name": name,
            "description": description,
            "severity": None if severity is None else severity.value,
        }
        return self.issues.update(issue_id, changes)

    def search_issues(
        self,
        experiment_id: str | None = None,
        filter_string: str | None = None,
        max_results: int | None = None,
        page_token: str | None = None,
        include_trace_count: bool = False,
    ) -> Any:
        issues = self.issues.search(
            experiment_id,
            filter_string,
            max_results,
            page_token,
            with_counts=include_trace_count,
        )
        return page_of(*issues)

    def calculate_trace_filter_correlation(
        self,
        experiment_ids: Sequence[str],
        filter_string1: str,
        filter_string2: str,
        base_filter: str | None = None,
    ) -> Any:
        return filter_correlation(
            self.trace_search,
            self.experiments,
            experiment_ids,
            (filter_string1, filter_string2),
            base_filter,
        )


# pyright: reportIncompatibleMethodOverride=false


class ModelMethods(AbstractStore):
    """Logged models by id."""

    logged_models: LoggedModels

    def create_logged_model(
        self,
        experiment_id: str,
        name: str | None = None,
        source_run_id: str | None = None,
        tags: list[LoggedModelTag] | None = None,
        params: list[LoggedModelParameter] | None = None,
        model_type: str | None = None,
    ) -> LoggedModel:
        return self.logged_models.create(
            experiment_id, name, source_run_id, tags, params, model_type
        )

    def log_logged_model_params(self, model_id: str, params: list[LoggedModelParameter]) -> None:
        self.logged_models.log_params(model_id, params)

    def get_logged_model(self, model_id: str, allow_deleted: bool = False) -> LoggedModel:
        return self.logged_models.get(model_id, allow_deleted=allow_deleted)

    def delete_logged_model(self, model_id: str) -> None:
        self.logged_models.delete(model_id)

    def finalize_logged_model(self, model_id: str, status: LoggedModelStatus) -> LoggedModel:
        return self.logged_models.finalize(model_id, status)

    def set_logged_model_tags(self, model_id: str, tags: list[LoggedModelTag]) -> None:
        self.logged_models.set_tags(model_id, tags)

    def delete_logged_model_tag(self, model_id: str, key: str) -> None:
        self.logged_models.delete_tag(model_id, key)

    def search_logged_models(
        self,
        experiment_ids: list[str],
        filter_string: str | None = None,
        datasets: list[dict[str, Any]] | None = None,
        max_results: int | None = None,
        order_by: list[dict[str, Any]] | None = None,
        page_token: str | None = None,
    ) -> Any:
        return page_of(
            *search_logged_models(
                self.logged_models,
                experiment_ids,
                filter_string,
                datasets,
                max_results,
                order_by,
                page_token,
            )
        )
