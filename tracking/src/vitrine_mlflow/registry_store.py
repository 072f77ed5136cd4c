"""MLflow's model registry on the table. Prompts work by the registry's own methods."""

# MLflow's base class declares no types, so its methods seem to return None.
# pyright: reportIncompatibleMethodOverride=false

from collections.abc import Sequence
from typing import Any

from mlflow.entities.model_registry import (
    ModelVersion,
    ModelVersionTag,
    RegisteredModel,
    RegisteredModelTag,
)
from mlflow.entities.webhook import Webhook, WebhookEvent, WebhookStatus
from mlflow.store.model_registry import (
    SEARCH_MODEL_VERSION_MAX_RESULTS_DEFAULT,
    SEARCH_REGISTERED_MODEL_MAX_RESULTS_DEFAULT,
)
from mlflow.store.model_registry.abstract_store import AbstractStore

from vitrine_mlflow.context import Context
from vitrine_mlflow.isolation import isolation_of, require_startable
from vitrine_mlflow.mlflow_api import page_of
from vitrine_mlflow.registry.models import Models
from vitrine_mlflow.registry.search import search_models, search_versions
from vitrine_mlflow.registry.versions import Versions
from vitrine_mlflow.registry.webhooks import Webhooks
from vitrine_mlflow.uri import StoreAddress


class DynamoRegistryStore(AbstractStore):
    """Registered models in one DynamoDB table, which may be that of the runs."""

    def __init__(self, store_uri: str, tracking_uri: str | None = None) -> None:
        database = StoreAddress.parse(store_uri).connect()
        context = Context(database, "", isolation=isolation_of(store_uri))
        self._build(context, store_uri, tracking_uri)

    @classmethod
    def of_context(cls, context: Context) -> "DynamoRegistryStore":
        """A store of given parts, for tests and tools."""
        store = cls.__new__(cls)
        store._build(context, None, None)
        return store

    def _build(self, context: Context, store_uri: str | None, tracking_uri: str | None) -> None:
        AbstractStore.__init__(self, store_uri, tracking_uri)
        require_startable(context)
        self.models = Models(context)
        self.versions = Versions(context, self.models)
        self.webhooks = Webhooks(context)

    @property
    def supports_workspaces(self) -> bool:
        return True

    def create_registered_model(
        self,
        name: str,
        tags: Sequence[RegisteredModelTag] | None = None,
        description: str | None = None,
        deployment_job_id: str | None = None,  # noqa: ARG002 - MLflow's own store ignores it, too
    ) -> RegisteredModel:
        return self.models.create(name, tags, description).entity()

    def update_registered_model(
        self,
        name: str,
        description: str | None,
        deployment_job_id: str | None = None,  # noqa: ARG002
    ) -> RegisteredModel:
        return self.models.update(name, description).entity()

    def rename_registered_model(self, name: str, new_name: str) -> RegisteredModel:
        return self.models.rename(name, new_name).entity()

    def delete_registered_model(self, name: str) -> None:
        self.models.delete(name)

    def search_registered_models(
        self,
        filter_string: str | None = None,
        max_results: int = SEARCH_REGISTERED_MODEL_MAX_RESULTS_DEFAULT,
        order_by: Sequence[str] | None = None,
        page_token: str | None = None,
    ) -> Any:
        return page_of(
            *search_models(self.models, filter_string, max_results, order_by, page_token)
        )

    def get_registered_model(self, name: str) -> RegisteredModel:
        return self.models.find(name).entity()

    def get_latest_versions(
        self, name: str, stages: Sequence[str] | None = None
    ) -> list[ModelVersion]:
        return self.versions.latest(name, stages)

    def set_registered_model_tag(self, name: str, tag: RegisteredModelTag) -> None:
        self.models.set_tag(name, tag)

    def delete_registered_model_tag(self, name: str, key: str) -> None:
        self.models.delete_tag(name, key)

    def create_model_version(
        self,
        name: str,
        source: str,
        run_id: str | None = None,
        tags: Sequence[ModelVersionTag] | None = None,
        run_link: str | None = None,
        description: str | None = None,
        local_model_path: str | None = None,  # noqa: ARG002 - only for stores that copy files
        model_id: str | None = None,
    ) -> ModelVersion:
        return self.versions.create(name, source, run_id, tags, run_link, description, model_id)

    def update_model_version(
        self, name: str, version: Any, description: str | None = None
    ) -> ModelVersion:
        return self.versions.update(name, version, description)

    def transition_model_version_stage(
        self,
        name: str,
        version: Any,
        stage: str,
        archive_existing_versions: bool,
    ) -> ModelVersion:
        return self.versions.transition(
            name, version, stage, archive_others=archive_existing_versions
        )

    def delete_model_version(self, name: str, version: Any) -> None:
        self.versions.delete(name, version)

    def get_model_version(self, name: str, version: Any) -> ModelVersion:
        return self.versions.get(name, version)

    def get_model_version_download_uri(self, name: str, version: Any) -> str:
        return self.versions.download_uri(name, version)

    def search_model_versions(
        self,
        filter_string: str | None = None,
        max_results: int = SEARCH_MODEL_VERSION_MAX_RESULTS_DEFAULT,
        order_by: Sequence[str] | None = None,
        page_token: str | None = None,
    ) -> Any:
        return page_of(
            *search_versions(self.models, filter_string, max_results, order_by, page_token)
        )

    def set_model_version_tag(self, name: str, version: Any, tag: ModelVersionTag) -> None:
        self.versions.set_tag(name, version, tag)

    def delete_model_version_tag(self, name: str, version: Any, key: str) -> None:
        self.versions.delete_tag(name, version, key)

    def set_registered_model_alias(self, name: str, alias: str, version: Any) -> None:
        self.versions.set_alias(name, alias, version)

    def delete_registered_model_alias(self, name: str, alias: str) -> None:
        self.models.delete_alias(name, alias)

    def get_model_version_by_alias(self, name: str, alias: str) -> ModelVersion:
        return self.versions.by_alias(name, alias)

    # Webhooks

    def create_webhook(
        self,
        name: str,
        url: str,
        events: list[WebhookEvent],
        description: str | None = None,
        secret: str | None = None,
        status: WebhookStatus | None = None,
    ) -> Webhook:
        return self.webhooks.create(name, url, events, description, secret, status)

    def get_webhook(self, webhook_id: str) -> Webhook:
        return self.webhooks.get(webhook_id)

    def list_webhooks(self, max_results: int | None = None, page_token: str | None = None) -> Any:
        return page_of(*self.webhooks.page(max_results, page_token))

    def list_webhooks_by_event(
        self, event: WebhookEvent, max_results: int | None = None, page_token: str | None = None
    ) -> Any:
        return page_of(*self.webhooks.page(max_results, page_token, event))

    def update_webhook(
        self,
        webhook_id: str,
        name: str | None = None,
        description: str | None = None,
        url: str | None = None,
        events: list[WebhookEvent] | None = None,
        secret: str | None = None,
        status: WebhookStatus | None = None,
    ) -> Webhook:
        changes = {
            "name": name,
            "url": url,
            "events": events,
            "description": description,
            "secret": secret,
            "status": status,
        }
        return self.webhooks.update(webhook_id, changes)

    def delete_webhook(self, webhook_id: str) -> None:
        self.webhooks.delete(webhook_id)
