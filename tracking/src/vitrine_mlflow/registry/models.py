"""Registered models: create, change, rename, delete, tags and aliases."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from uuid import uuid4

from mlflow.exceptions import MlflowException
from mlflow.protos.databricks_pb2 import RESOURCE_ALREADY_EXISTS

from vitrine_mlflow import keys
from vitrine_mlflow.context import Context
from vitrine_mlflow.database import TRANSACTION_WRITES
from vitrine_mlflow.encoding import SORT_KEY_BYTES, clip, ordered_text
from vitrine_mlflow.errors import ConflictError, exists, missing_error
from vitrine_mlflow.expressions import (
    ABSENT,
    Delete,
    Item,
    Put,
    Update,
    Write,
    key_of,
    with_key,
)
from vitrine_mlflow.full_text import (
    MODEL_TYPE,
    NameIndex,
    holder_of_model,
    tokens_of,
)
from vitrine_mlflow.keys import Key
from vitrine_mlflow.mlflow_api import (
    refuse_taken_model_name,
    validate_alias,
    validate_model_name,
    validate_model_renaming,
    validate_model_tag,
    validate_tag_name,
)
from vitrine_mlflow.registry.items import (
    PROMPT_TAG,
    Claim,
    ModelKeys,
    StoredModel,
    is_one_portion,
    portions,
    stored_model,
    unclaimed_check,
)
from vitrine_mlflow.table import GSI5, INFO, PARTITION_KEY, TAGS

# They are projected into an index, where each kilobyte costs a write unit at every change.
_PACKED_TAGS_BYTES = 8_000


class Models:
    """The metadata item of a model is what makes it visible: first in, first out."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._database = context.owned_database
        self._names = NameIndex(context.owned_database, MODEL_TYPE)

    def keys_of(self, name: str) -> ModelKeys:
        """The keys of a model of the request's workspace."""
        return ModelKeys(self._context.workspace, name)

    def create(self, name: str, tags: Sequence[Any] | None, description: str | None) -> StoredModel:
        validate_model_name(name)
        for tag in tags or []:
            validate_model_tag(tag.key, tag.value)
        values: dict[str, str] = {tag.key: tag.value for tag in tags or []}
        now = self._context.sources.now_ms()
        info = {
            "description": description,
            "created": now,
            "updated": now,
            "workspace": self._context.workspace,
        }
        meta = self._meta(name, info, values, 0)
        self._database.retry(lambda: self._create(name, meta, values))
        return StoredModel(name, meta, values)

    def _create(self, name: str, meta: Item, tags: dict[str, str]) -> None:
        own = self.keys_of(name)
        tag_items = [self._tag_item(name, key, value) for key, value in tags.items()]
        writes = [Put(meta, {PARTITION_KEY: ABSENT}), *self._row_puts(name)]
        self._context.record_workspace()
        is_left = any(True for _ in self._database.query(own.model.pk, limit=1))
        try:
            if is_left or not is_one_portion(tag_items, TRANSACTION_WRITES - len(writes) - 1):
                claim = Claim.take(self._database, own)
                claim.put(tag_items)
                self._database.write([*writes, claim.release()])
            else:
                self._database.write([*writes, *map(Put, tag_items), unclaimed_check(own)])
        except ConflictError:
            existing = stored_model(name, self._items(name))
            if existing is None:
                raise
            # MLflow's message depends on the tag's key, not on its value
            refuse_taken_model_name(name, PROMPT_TAG in existing.tags, PROMPT_TAG in tags)

    def _meta(self, name: str, info: dict[str, Any], tags: dict[str, str], last: int) -> Item:
        return with_key(
            self.keys_of(name).model,
            {
                INFO: info,
                TAGS: _pack_tags(tags),
                "id": uuid4().hex,  # distinguishes a model from a later one of this name
                "last_version": last,
                "revision": 1,
                **keys.MODEL.index_keys(
                    workspace=info["workspace"],
                    model_name=name,
                    ordered_name=clip(ordered_text(name), SORT_KEY_BYTES // 2),
                ),
            },
        )

    def _row_puts(self, name: str) -> list[Put]:
        return holder_of_model(self._context.workspace, name).puts(tokens_of(name))

    def _remove_leftovers(self, name: str) -> None:
        """Remove what is left under a name without a model."""

        def attempt() -> None:
            try:
                claim = Claim.take(self._database, self.keys_of(name))
                self._database.write([claim.release()])
            except ConflictError as error:
                # a model that is created meanwhile has the name; its creation removed the rest
                if 0 not in error.failed:
                    raise

        self._database.retry(attempt)

    def _items(self, name: str) -> Iterator[Item]:
        return self._database.query_prefix(self.keys_of(name).model.pk, "M#")

    def find(self, name: str) -> StoredModel:
        """A model with all items of its partition, read consistently.

        Raises:
            MlflowException: the name is invalid, or there is no such model.
        """
        validate_model_name(name)
        model = stored_model(name, self._items(name))
        if model is None:
            raise no_model(name)
        return model

    def require(self, name: str) -> Item:
        """The metadata item only.

        Raises:
            MlflowException: the name is invalid, or there is no such model.
        """
        validate_model_name(name)
        meta = self._database.get(self.keys_of(name).model)
        if meta is None:
            raise no_model(name)
        return meta

    def listed_by_name(self) -> Iterator[str]:
        """Names of the workspace's models in their order, by the index, which may lag."""
        workspace = self._context.workspace
        index_keys = keys.MODEL.index_keys(workspace=workspace, model_name="", ordered_name="")
        for item in self._database.query(index_keys["gsi5pk"], index=GSI5):
            yield name_of(item)

    def with_trigrams(self, required: list[str]) -> list[str] | None:
        """Names of the workspace's models that may have all these trigrams, by the index.

        None if the trigrams select too little.
        """
        partitions = self._names.partitions(required)
        if partitions is None:
            return None
        parsed = [keys.MODEL.parse(Key(pk, keys.MODEL.sk.text)) or {} for pk in partitions]
        names = {fields["model_name"] for fields in parsed}
        # the same name in another workspace has another partition
        return [name for name in sorted(names) if self.keys_of(name).model.pk in partitions]

    def update(self, name: str, description: str | None) -> StoredModel:
        def attempt() -> None:
            meta = self.require(name)
            self.touch(name, meta, {"description": description})

        self._database.retry(attempt)
        return self.find(name)

    def touch(
        self,
        name: str,
        meta: Item,
        changes: dict[str, Any],
        writes: Iterable[Write] = (),
        **attributes: Any,
    ) -> None:
        """Change the metadata with other items, if the model was not changed meanwhile.

        Raises:
            ConflictError: another writer came between.
        """
        info = {**meta[INFO], "updated": self._context.sources.now_ms(), **changes}
        self.write(name, meta, {INFO: info, **attributes}, writes)

    def write(
        self, name: str, meta: Item, sets: dict[str, Any], writes: Iterable[Write] = ()
    ) -> None:
        """Write changes of a model without a new time of change."""
        sets = {**sets, "revision": meta["revision"] + 1}
        condition = {"revision": meta["revision"]}
        self._database.write([Update(self.keys_of(name).model, sets, condition=condition), *writes])

    def rename(self, name: str, new_name: str) -> StoredModel:
        """Copy the partition, switch the metadata in one transaction, remove the old items."""
        validate_model_renaming(new_name)
        return self._database.retry(lambda: self._rename(name, new_name))

    def _rename(self, name: str, new_name: str) -> StoredModel:
        model = self.find(name)
        now = self._context.sources.now_ms()
        info = {**model.info, "updated": now}
        if new_name == name:
            self._touch_versions(model, info)
            return self.find(name)
        if self._database.get(self.keys_of(new_name).model) is not None:
            raise MlflowException(
                f"Registered Model (name={new_name}) already exists.", RESOURCE_ALREADY_EXISTS
            )
        claim = Claim.take(self._database, self.keys_of(new_name))
        items = [item for item in self._items(name) if "last_version" not in item]
        new_pk = self.keys_of(new_name).model.pk
        claim.put(
            {**item, PARTITION_KEY: new_pk}
            | ({INFO: {**item[INFO], "updated": now}} if _is_version(item) else {})
            for item in items
        )
        new_meta = self._meta(new_name, info, model.tags, model.meta["last_version"])
        try:
            self._database.write(
                [
                    Put(new_meta, {PARTITION_KEY: ABSENT}),
                    Delete(self.keys_of(name).model, {"revision": model.meta["revision"]}),
                    *self._row_puts(new_name),
                    claim.release(),
                ]
            )
        except ConflictError as error:
            if 0 in error.failed:
                raise exists(f"Registered Model (name={new_name}) already exists.") from error
            raise
        self._remove_leftovers(name)
        return self.find(new_name)

    def _touch_versions(self, model: StoredModel, info: dict[str, Any]) -> None:
        """Set the time of change of a model and all its versions."""
        own, meta = self.keys_of(model.name), model.meta
        versions = [item for item in self._items(model.name) if _is_version(item)]
        for portion in portions(versions, TRANSACTION_WRITES - 1):
            updates = [
                Update(
                    own.version(item["version"]), {INFO: {**item[INFO], "updated": info["updated"]}}
                )
                for item in portion
            ]
            self.write(model.name, meta, {INFO: info}, updates)
            meta = {**meta, "revision": meta["revision"] + 1}

    def move(self, name: str, target: "Models") -> None:
        """Place a model in the workspace of other models; repeatable after a crash.

        Raises:
            ConflictError: the name is taken there, or another writer came between.
        """
        model = self.find(name)
        workspace = target.keys_of(name).workspace
        new_pk = target.keys_of(name).model.pk
        claim = Claim.take(self._database, target.keys_of(name))
        items = [item for item in self._items(name) if "last_version" not in item]
        claim.put(
            {**item, PARTITION_KEY: new_pk}
            | ({INFO: {**item[INFO], "workspace": workspace}} if INFO in item else {})
            for item in items
        )
        info = {**model.info, "workspace": workspace}
        new_meta = target._meta(name, info, model.tags, model.meta["last_version"])
        self._database.write(
            [
                Put(new_meta, {PARTITION_KEY: ABSENT}),
                Delete(self.keys_of(name).model, {"revision": model.meta["revision"]}),
                *target._row_puts(name),
                claim.release(),
            ]
        )
        self._remove_leftovers(name)

    def delete(self, name: str) -> None:
        self.require(name)
        self._database.write([Delete(self.keys_of(name).model)])
        self._remove_leftovers(name)

    def set_tag(self, name: str, tag: Any) -> None:
        validate_model_name(name)
        validate_model_tag(tag.key, tag.value)

        def attempt() -> None:
            model = self.find(name)
            tags = {**model.tags, tag.key: tag.value}
            item = self._tag_item(name, tag.key, tag.value)
            self.write(name, model.meta, {TAGS: _pack_tags(tags)}, [Put(item)])

        self._database.retry(attempt)

    def _tag_item(self, name: str, key: str, value: str) -> Item:
        return with_key(self.keys_of(name).tag(key), {"key": key, "value": value})

    def delete_tag(self, name: str, key: str) -> None:
        validate_model_name(name)
        validate_tag_name(key)

        def attempt() -> None:
            model = self.find(name)
            tags = {name: value for name, value in model.tags.items() if name != key}
            delete = Delete(self.keys_of(name).tag(key))
            self.write(name, model.meta, {TAGS: _pack_tags(tags)}, [delete])

        self._database.retry(attempt)

    def set_alias(self, name: str, alias: str, number: int) -> None:
        """Point an alias to a version that the caller has found."""
        item = with_key(self.keys_of(name).alias(alias), {"alias": alias, "version": number})
        self._database.retry(lambda: self.write(name, self.require(name), {}, [Put(item)]))

    def delete_alias(self, name: str, alias: str) -> None:
        validate_model_name(name)
        validate_alias(alias)
        delete = Delete(self.keys_of(name).alias(alias))
        self._database.retry(lambda: self.write(name, self.require(name), {}, [delete]))

    def version_of_alias(self, name: str, alias: str) -> int | None:
        item = self._database.get(self.keys_of(name).alias(alias))
        return None if item is None else item["version"]


def no_model(name: str) -> MlflowException:
    return missing_error(f"Registered Model with name={name} not found")


def name_of(item: Item) -> str:
    fields = keys.MODEL.parse(key_of(item)) or {}
    return fields["model_name"]


def _is_version(item: Item) -> bool:
    return "version" in item and INFO in item


def _pack_tags(tags: dict[str, str]) -> dict[str, str]:
    """Small tags, for readers of the index."""
    packed: dict[str, str] = {}
    left = _PACKED_TAGS_BYTES
    for key, value in tags.items():
        left -= len(key.encode()) + len(value.encode())
        if left >= 0:
            packed[key] = value
    return packed
