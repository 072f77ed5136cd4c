"""The methods of MLflow's tracking store for logged models. Thin, as the store is."""

# pyright: reportIncompatibleMethodOverride=false

from typing import Any

from mlflow.entities import (
    LoggedModel,
    LoggedModelParameter,
    LoggedModelStatus,
    LoggedModelTag,
)
from mlflow.store.tracking.abstract_store import AbstractStore

from vitrine_mlflow.logged_models import LoggedModels
from vitrine_mlflow.mlflow_api import page_of
from vitrine_mlflow.search.logged_models import search_logged_models


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
