"""Versions of registered models."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from mlflow.entities.model_registry import ModelVersion
from mlflow.entities.model_registry.model_version_stages import (
    ALL_STAGES,
    DEFAULT_STAGES_FOR_GET_LATEST_VERSIONS,
    STAGE_ARCHIVED,
    STAGE_DELETED_INTERNAL,
    STAGE_NONE,
)
from mlflow.exceptions import MlflowException

from vitrine_mlflow import keys
from vitrine_mlflow.addresses import require_source, require_storable
from vitrine_mlflow.context import Context
from vitrine_mlflow.encoding import iso_time
from vitrine_mlflow.errors import ConflictError, invalid, missing_error, type_errors_reported
from vitrine_mlflow.expressions import ABSENT, Check, Delete, Item, Put, Update, Write, with_key
from vitrine_mlflow.lending import require_lent
from vitrine_mlflow.mlflow_api import (
    canonical_stage,
    logged_model,
    parsed_model_uri,
    validate_alias,
    validate_alias_not_reserved,
    validate_model_name,
    validate_tag_name,
    validate_version_tag,
    validated_version,
)
from vitrine_mlflow.registry.items import (
    ModelKeys,
    StoredModel,
    is_one_portion,
    portions,
    version_entity,
)
from vitrine_mlflow.registry.models import Models, no_model
from vitrine_mlflow.table import INFO, PARTITION_KEY

# Of 100 writes; the others are the version, its model and look-ups.
_TAGS_IN_TRANSACTION = 90


class Versions:
    """Creates, changes, deletes versions; each in a transaction with its model's metadata."""

    def __init__(self, context: Context, models: Models) -> None:
        self._context = context
        self._database = context.owned_database
        self._models = models

    def create(
        self,
        name: str,
        source: str,
        run_id: str | None,
        tags: Sequence[Any] | None,
        run_link: str | None,
        description: str | None,
        model_id: str | None = None,
    ) -> ModelVersion:
        validate_model_name(name)
        for tag in tags or []:
            validate_version_tag(tag.key, tag.value)
        now = self._context.sources.now_ms()
        require_source(source, "source")
        location, source_run = self._location(source)
        if location != source:
            field = f"The artifact location of the source '{source}'"
            require_storable(location, field, is_shown=False)
        if not run_id and source_run:
            run_id = source_run
        if not run_id and model_id:
            run_id = logged_model(model_id).source_run_id
        info = {
            "created": now, "updated": now, "description": description, "user": None,
            "stage": STAGE_NONE, "source": source, "location": location,
            "run_id": run_id, "status": "READY", "message": None, "run_link": run_link,
            "workspace": self._context.workspace,
        }  # fmt: skip
        values: dict[str, str] = {tag.key: tag.value for tag in tags or []}
        if _fits(values):
            number = self._database.retry(lambda: self._create(name, info, values))
        else:
            number = self._create_in_parts(name, info, values)
        return self.get(name, number)

    def _create(self, name: str, info: dict[str, Any], tags: dict[str, str]) -> int:
        meta = self._models.require(name)
        number: int = meta["last_version"] + 1
        own = self._models.keys_of(name)
        tag_puts = map(Put, _tag_items(own, number, tags))
        writes = [_version_put(own, number, info), *tag_puts]
        self._models.touch(name, meta, {"updated": info["created"]}, writes, last_version=number)
        return number

    def _create_in_parts(self, name: str, info: dict[str, Any], tags: dict[str, str]) -> int:
        """Take a number, write the tags, and at last the version, which makes them visible.

        If the server stops in between, the number is not used again.
        """
        own = self._models.keys_of(name)
        model_id, number = self._database.retry(lambda: self._take_number(name))
        same_model = Check(own.model, {"id": model_id})
        for portion in portions(_tag_items(own, number, tags), _TAGS_IN_TRANSACTION):
            writes: list[Write] = [same_model, *map(Put, portion)]
            self._database.retry(partial(self._write_if_same, name, writes))

        def finish() -> None:
            meta = self._models.require(name)
            if meta["id"] != model_id:
                raise no_model(name)
            version = _version_put(own, number, info)
            self._models.touch(name, meta, {"updated": info["created"]}, [version])

        self._database.retry(finish)
        return number

    def _take_number(self, name: str) -> tuple[str, int]:
        meta = self._models.require(name)
        number: int = meta["last_version"] + 1
        self._models.write(name, meta, {"last_version": number})
        return meta["id"], number

    def _write_if_same(self, name: str, writes: Sequence[Write]) -> None:
        try:
            self._database.write(writes)
        except ConflictError as error:
            if 0 in error.failed:  # deleted or renamed meanwhile
                raise no_model(name) from error
            raise

    def _location(self, source: str) -> tuple[str, str | None]:
        """Return where the artifacts are, and the run that logged them if a model is the source.

        A source may be a version itself, or a logged model.
        """
        if urlsplit(source).scheme != "models":
            return source, None
        parsed = parsed_model_uri(source)
        try:
            if parsed.model_id is not None:
                model = logged_model(parsed.model_id)
                return model.artifact_location, model.source_run_id
            with type_errors_reported():  # an alias or a stage has no version
                number = validated_version(parsed.version)
            return self._stored_location(parsed.name, number), None
        except MlflowException as error:
            raise MlflowException(
                "Unable to fetch model from model URI source artifact location "
                f"'{source}'.Error: {error}"
            ) from error

    def get(self, name: str, version: Any) -> ModelVersion:
        validate_model_name(name)
        number = validated_version(version)
        item = self._require(name, number)
        tags = {
            tag["key"]: tag["value"]
            for tag in self._database.query_prefix(
                self._models.keys_of(name).version(number).pk,
                keys.MODEL_VERSION_TAG.prefix(version=str(number)),
            )
        }
        return version_entity(name, number, item[INFO], tags, self._aliases(name, number))

    def _aliases(self, name: str, number: int) -> list[str]:
        pk = self._models.keys_of(name).version(number).pk
        items = self._database.query_prefix(pk, keys.MODEL_ALIAS.prefix())
        return [item["alias"] for item in items if item["version"] == number]

    def _require(self, name: str, number: int) -> Item:
        item = self._database.get(self._models.keys_of(name).version(number))
        if item is None or item[INFO]["stage"] == STAGE_DELETED_INTERNAL:
            raise _no_version(name, number)
        return item

    def download_uri(self, name: str, version: Any) -> str:
        location = self._stored_location(name, validated_version(version))
        require_lent(location, f"The source of version {version} of '{name}'")
        return location

    def _stored_location(self, name: str, number: int) -> str:
        validate_model_name(name)
        info = self._require(name, number)[INFO]
        return info["location"] or info["source"]

    def update(self, name: str, version: Any, description: str | None) -> ModelVersion:
        validate_model_name(name)
        number = validated_version(version)

        def attempt() -> None:
            meta = self._meta_of(name, number)
            info = self._require(name, number)[INFO]
            changed = {
                **info, "description": description, "updated": self._context.sources.now_ms(),
            }  # fmt: skip
            self._models.write(
                name, meta, {}, [_info_update(self._models.keys_of(name), number, changed)]
            )

        self._database.retry(attempt)
        return self.get(name, number)

    def _meta_of(self, name: str, number: int) -> Item:
        """The metadata of a version's model; without it the version is missing, too."""
        try:
            return self._models.require(name)
        except MlflowException as error:
            raise _no_version(name, number) from error

    def transition(
        self, name: str, version: Any, stage: str, *, archive_others: bool
    ) -> ModelVersion:
        wanted = canonical_stage(stage)
        if archive_others and wanted not in DEFAULT_STAGES_FOR_GET_LATEST_VERSIONS:
            raise MlflowException(
                "Model version transition cannot archive existing model versions because "
                f"'{stage}' is not an Active stage. Valid stages are "
                f"{DEFAULT_STAGES_FOR_GET_LATEST_VERSIONS}"
            )
        validate_model_name(name)
        number = validated_version(version)

        def attempt() -> None:
            self._require(name, number)
            model = self._models.find(name)
            now = self._context.sources.now_ms()
            writes = [_stage_write(self._models.keys_of(name), model, number, wanted, now)]
            if archive_others:
                writes += [
                    _stage_write(self._models.keys_of(name), model, other, STAGE_ARCHIVED, now)
                    for other, info in model.live_versions().items()
                    if other != number and info["stage"] == wanted
                ]
            self._models.touch(name, model.meta, {"updated": now}, writes)

        self._database.retry(attempt)
        return self.get(name, number)

    def delete(self, name: str, version: Any) -> None:
        """Keep the number, and remove the attributes and aliases of the version."""
        number = validated_version(version)
        validate_model_name(name)

        def attempt() -> None:
            meta = self._meta_of(name, number)
            info = self._require(name, number)[INFO]
            now = self._context.sources.now_ms()
            redacted = {
                **info, "stage": STAGE_DELETED_INTERNAL, "updated": now, "description": None,
                "user": None, "source": "REDACTED-SOURCE-PATH", "run_id": "REDACTED-RUN-ID",
                "run_link": "REDACTED-RUN-LINK", "message": None,
            }  # fmt: skip
            writes: list[Write] = [_info_update(self._models.keys_of(name), number, redacted)]
            writes += [
                Delete(self._models.keys_of(name).alias(alias))
                for alias in self._aliases(name, number)
            ]
            self._models.touch(name, meta, {"updated": now}, writes)

        self._database.retry(attempt)

    def set_tag(self, name: str, version: Any, tag: Any) -> None:
        validate_model_name(name)
        number = validated_version(version)
        validate_version_tag(tag.key, tag.value)
        (item,) = _tag_items(self._models.keys_of(name), number, {tag.key: tag.value})

        def attempt() -> None:
            self._require(name, number)
            self._models.write(name, self._models.require(name), {}, [Put(item)])

        self._database.retry(attempt)

    def delete_tag(self, name: str, version: Any, key: str) -> None:
        validate_model_name(name)
        number = validated_version(version)
        validate_tag_name(key)

        def attempt() -> None:
            self._require(name, number)
            delete = Delete(self._models.keys_of(name).version_tag(number, key))
            self._models.write(name, self._models.require(name), {}, [delete])

        self._database.retry(attempt)

    def set_alias(self, name: str, alias: str, version: Any) -> None:
        validate_model_name(name)
        validate_alias(alias)
        validate_alias_not_reserved(alias)
        number = validated_version(version)
        self._require(name, number)
        self._models.set_alias(name, alias, number)

    def by_alias(self, name: str, alias: str) -> ModelVersion:
        validate_model_name(name)
        validate_alias(alias)
        if alias.lower() == "latest":
            numbers = self._models.find(name).live_versions()
            if not numbers:
                raise missing_error(f"Latest version not found for model {name}.")
            return self.get(name, max(numbers))
        self._models.require(name)
        number = self._models.version_of_alias(name, alias)
        if number is None:
            raise invalid(f"Registered model alias {alias} not found.")
        return self.get(name, number)

    def latest(self, name: str, stages: Sequence[str] | None) -> list[ModelVersion]:
        """The highest version of each wanted stage."""
        model = self._models.find(name)
        wanted = {canonical_stage(stage) for stage in stages or ALL_STAGES}
        return [
            model.version(int(version.version))
            for version in model.latest()
            if version.current_stage in wanted
        ]


def _no_version(name: str, number: int) -> MlflowException:
    return missing_error(f"Model Version (name={name}, version={number}) not found")


def _fits(tags: dict[str, str]) -> bool:
    """Whether a version and its tags fit into one transaction."""
    items: list[Item] = [{"key": key, "value": value} for key, value in tags.items()]
    return is_one_portion(items, _TAGS_IN_TRANSACTION)


def _version_put(own: ModelKeys, number: int, info: dict[str, Any]) -> Put:
    order = f"{iso_time(info['created'])}#{number:010d}"
    item = with_key(own.version(number), {INFO: info, "version": number, "lsi2sk": order})
    return Put(item, {PARTITION_KEY: ABSENT})


def _tag_items(own: ModelKeys, number: int, tags: Mapping[str, str]) -> list[Item]:
    return [
        with_key(own.version_tag(number, key), {"key": key, "value": value, "version": number})
        for key, value in tags.items()
    ]


def _info_update(own: ModelKeys, number: int, info: dict[str, Any]) -> Update:
    return Update(own.version(number), {INFO: info}, condition={"version": number})


def _stage_write(own: ModelKeys, model: StoredModel, number: int, stage: str, now: int) -> Write:
    info = {**model.versions[number], "stage": stage, "updated": now}
    return _info_update(own, number, info)
