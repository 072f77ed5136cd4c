"""Webhooks of the registry; MLflow's server delivers them."""

from collections.abc import Callable, Sequence
from typing import Any

from mlflow.entities.webhook import Webhook, WebhookEvent, WebhookStatus
from mlflow.environment_variables import MLFLOW_WEBHOOK_SECRET_ENCRYPTION_KEY

from vitrine_mlflow import keys
from vitrine_mlflow.context import Context
from vitrine_mlflow.errors import invalid, missing_error
from vitrine_mlflow.expressions import ABSENT, Delete, Item, Put, Update, with_key
from vitrine_mlflow.keys import Key
from vitrine_mlflow.mlflow_api import (
    SearchUtils,
    start_offset,
    validate_webhook_events,
    validate_webhook_name,
    validate_webhook_url,
)
from vitrine_mlflow.table import INFO, PARTITION_KEY

# As in MLflow's SQL store: its default page, and the largest that it accepts.
_PAGE, _LARGEST_PAGE = 100, 1_000


class Webhooks:
    """Creates, reads, changes and deletes webhooks."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._database = context.owned_database

    def _key(self, webhook_id: str) -> Key:
        return keys.WEBHOOK.key(workspace=self._context.workspace, webhook_id=webhook_id)

    def create(
        self,
        name: str,
        url: str,
        events: list[WebhookEvent],
        description: str | None,
        secret: str | None,
        status: WebhookStatus | None,
    ) -> Webhook:
        validate_webhook_name(name)
        validate_webhook_url(url)
        validate_webhook_events(events)
        now = self._context.sources.now_ms()
        info: dict[str, Any] = {
            "id": self._context.sources.new_hex(),
            "name": name,
            "url": url,
            "events": _names_of(events),
            "description": description,
            "secret": _encrypt(secret),
            "status": (status or WebhookStatus.ACTIVE).value,
            "created": now,
            "updated": now,
        }
        item = with_key(self._key(info["id"]), {INFO: info, "revision": 1})
        self._context.record_workspace()
        self._database.write([Put(item, {PARTITION_KEY: ABSENT})])
        return self._entity(info)

    def _find(self, webhook_id: str) -> Item:
        item = self._database.get(self._key(webhook_id))
        if item is None:
            raise missing_error(f"Webhook with ID {webhook_id} not found.")
        return item

    def get(self, webhook_id: str) -> Webhook:
        return self._entity(self._find(webhook_id)[INFO])

    def page(
        self, max_results: int | None, page_token: str | None, event: WebhookEvent | None = None
    ) -> tuple[list[Webhook], Any]:
        """Webhooks, perhaps only those for an event, newest first."""
        size = max_results or _PAGE
        if not 1 <= size <= _LARGEST_PAGE:
            raise invalid("max_results must be between 1 and 1000.")
        offset = start_offset(page_token)
        webhooks = [
            item[INFO]
            for item in self._database.query(self._key("").pk)
            if event is None or str(event) in item[INFO]["events"]
        ]
        webhooks.sort(key=lambda info: info["created"], reverse=True)
        token = (
            SearchUtils.create_page_token(offset + size) if len(webhooks) > offset + size else None
        )
        return [self._entity(info) for info in webhooks[offset : offset + size]], token

    def update(self, webhook_id: str, changes: dict[str, Any]) -> Webhook:
        """Change what is not None."""

        def attempt() -> Webhook:
            item = self._find(webhook_id)
            changed = {key: value for key, value in changes.items() if value is not None}
            for key, validate, convert in _CHANGES:
                if key in changed:
                    validate(changed[key])
                    changed[key] = convert(changed[key])
            info = {**item[INFO], **changed, "updated": self._context.sources.now_ms()}
            revision = item["revision"]
            sets = {INFO: info, "revision": revision + 1}
            self._database.write(
                [Update(self._key(webhook_id), sets, condition={"revision": revision})]
            )
            return self._entity(info)

        return self._database.retry(attempt)

    def delete(self, webhook_id: str) -> None:
        self._find(webhook_id)
        self._database.write([Delete(self._key(webhook_id))])

    def _entity(self, info: dict[str, Any]) -> Webhook:
        secret: str | None = info["secret"]
        return Webhook(
            webhook_id=info["id"],
            name=info["name"],
            url=info["url"],
            events=[WebhookEvent.from_str(name) for name in info["events"]],
            creation_timestamp=info["created"],
            last_updated_timestamp=info["updated"],
            description=info["description"],
            status=WebhookStatus(info["status"]),
            secret=None if secret is None else _cipher().decrypt(secret.encode()).decode(),
            workspace=self._context.workspace,
        )


def _names_of(events: Sequence[WebhookEvent]) -> list[str]:
    return list(dict.fromkeys(map(str, events)))


def _cipher() -> Any:
    from cryptography.fernet import Fernet  # noqa: PLC0415 - only for webhooks with a secret

    variable: Any = MLFLOW_WEBHOOK_SECRET_ENCRYPTION_KEY
    key = variable.get()
    if not key:
        # MLflow's own store draws a key for the process then, and cannot read the secret later
        raise invalid(
            f"A webhook's secret is stored encrypted: set {MLFLOW_WEBHOOK_SECRET_ENCRYPTION_KEY} "
            "to a Fernet key."
        )
    return Fernet(key)


def _encrypt(secret: str | None) -> str | None:
    return None if secret is None else _cipher().encrypt(secret.encode()).decode()


def _ignore(_: Any) -> None: ...


def _same(value: Any) -> Any:
    return value


_CHANGES: tuple[tuple[str, Callable[[Any], None], Callable[[Any], Any]], ...] = (
    ("name", validate_webhook_name, _same),
    ("url", validate_webhook_url, _same),
    ("events", validate_webhook_events, _names_of),
    ("secret", _ignore, _encrypt),
    ("status", _ignore, lambda status: status.value),
)
