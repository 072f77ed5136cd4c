"""Registered models and versions as they are stored, and as MLflow's entities."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from mlflow.entities.model_registry import (
    ModelVersion,
    ModelVersionTag,
    RegisteredModel,
    RegisteredModelAlias,
    RegisteredModelTag,
)
from mlflow.entities.model_registry.model_version_stages import STAGE_DELETED_INTERNAL

from vitrine_mlflow import keys
from vitrine_mlflow.database import TRANSACTION_WRITES, Database
from vitrine_mlflow.expressions import ABSENT, Check, Delete, Item, Put, key_of, with_key
from vitrine_mlflow.keys import Key
from vitrine_mlflow.summaries import item_size
from vitrine_mlflow.table import INFO, PARTITION_KEY, SORT_KEY


@dataclass
class StoredModel:
    """All items of a model's partition."""

    name: str
    meta: Item
    tags: dict[str, str] = field(default_factory=dict[str, str])
    aliases: dict[str, int] = field(default_factory=dict[str, int])
    versions: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])
    version_tags: dict[int, dict[str, str]] = field(default_factory=dict[int, dict[str, str]])

    @property
    def info(self) -> dict[str, Any]:
        return self.meta[INFO]

    @property
    def is_prompt(self) -> bool:
        return self.tags.get(PROMPT_TAG) == "true"

    def live_versions(self) -> dict[int, dict[str, Any]]:
        """The versions that were not deleted."""
        return {
            number: info
            for number, info in self.versions.items()
            if info["stage"] != STAGE_DELETED_INTERNAL
        }

    def version(self, number: int, *, with_aliases: bool = True) -> ModelVersion:
        aliases = [name for name, target in self.aliases.items() if target == number]
        return version_entity(
            self.name,
            number,
            self.versions[number],
            self.version_tags.get(number, {}),
            aliases if with_aliases else [],
        )

    def latest(self) -> list[ModelVersion]:
        """The highest version of each stage."""
        latest: dict[str, int] = {}
        for number, info in sorted(self.live_versions().items()):
            latest[info["stage"]] = number
        return [self.version(number, with_aliases=False) for number in latest.values()]

    def entity(self) -> RegisteredModel:
        info = self.info
        return RegisteredModel(
            self.name,
            info["created"],
            info["updated"],
            info["description"],
            self.latest(),
            [RegisteredModelTag(key, value) for key, value in self.tags.items()],
            [RegisteredModelAlias(alias, number) for alias, number in self.aliases.items()],
            workspace=info["workspace"],
        )


_TRANSACTION_BYTES = 3_000_000  # DynamoDB allows 4 MB
PROMPT_TAG = "mlflow.prompt.is_prompt"


def portions(items: Iterable[Item], most: int) -> Iterator[list[Item]]:
    """Return the items in lists of at most `most`, each small enough for one transaction."""
    portion: list[Item] = []
    size = 0
    for item in items:
        size += item_size(item)
        if portion and (len(portion) >= most or size > _TRANSACTION_BYTES):
            yield portion
            portion, size = [], item_size(item)
        portion.append(item)
    yield portion


def is_one_portion(items: Iterable[Item], most: int) -> bool:
    """Return whether one transaction of at most `most` items can write all of them."""
    return len(list(portions(items, most))) == 1


def stored_model(name: str, items: Iterable[Item]) -> StoredModel | None:
    """A model from the items of its partition; None without its metadata."""
    model = StoredModel(name, {})
    for item in items:
        _add(model, item)
    return model if model.meta else None


def _add(model: StoredModel, item: Item) -> None:
    sort_key: str = item[SORT_KEY]
    kind = sort_key.split("#")[1]
    if kind == "META":
        model.meta = item
    elif kind == "TAG":
        model.tags[item["key"]] = item["value"]
    elif kind == "ALIAS":
        model.aliases[item["alias"]] = item["version"]
    elif kind == "V":
        model.versions[item["version"]] = item[INFO]
    elif kind == "VTAG":
        model.version_tags.setdefault(item["version"], {})[item["key"]] = item["value"]


def version_entity(
    name: str, number: int, info: dict[str, Any], tags: dict[str, str], aliases: list[str]
) -> ModelVersion:
    return ModelVersion(
        name,
        number,  # pyright: ignore[reportArgumentType] - MLflow's own store gives a number, too
        info["created"],
        info["updated"],
        info["description"],
        info["user"],
        info["stage"],
        info["source"],
        info["run_id"],
        info["status"],
        info["message"],
        [ModelVersionTag(key, value) for key, value in tags.items()],
        info["run_link"],
        aliases,
        workspace=info["workspace"],
    )


@dataclass(frozen=True)
class ModelKeys:
    """The keys of one model's items, in its workspace."""

    workspace: str
    name: str

    @property
    def model(self) -> Key:
        return keys.MODEL.key(workspace=self.workspace, model_name=self.name)

    @property
    def claim(self) -> Key:
        return keys.MODEL_CLAIM.key(workspace=self.workspace, model_name=self.name)

    def tag(self, key: str) -> Key:
        return keys.MODEL_TAG.key(workspace=self.workspace, model_name=self.name, key=key)

    def alias(self, alias: str) -> Key:
        return keys.MODEL_ALIAS.key(workspace=self.workspace, model_name=self.name, alias=alias)

    def version(self, number: int) -> Key:
        return keys.MODEL_VERSION.key(
            workspace=self.workspace, model_name=self.name, version=str(number)
        )

    def version_tag(self, number: int, key: str) -> Key:
        return keys.MODEL_VERSION_TAG.key(
            workspace=self.workspace, model_name=self.name, version=str(number), key=key
        )


# Each transaction also checks the holder of the claim (decision 70).
_PORTION = TRANSACTION_WRITES - 1


@dataclass(frozen=True)
class Claim:
    """The exclusive right to write under the name of a model that does not exist."""

    database: Database
    own: ModelKeys
    holder: str

    @classmethod
    def take(cls, database: Database, own: ModelKeys) -> "Claim":
        """Take the claim, also from another holder, and delete what is left under the name.

        Raises:
            ConflictError: there is such a model (write 0 failed), or another writer came between.
        """
        claim = cls(database, own, uuid4().hex)
        item = with_key(own.claim, {"holder": claim.holder})
        database.write([Check(own.model, {PARTITION_KEY: ABSENT}), Put(item)])
        left = [item for item in database.query(own.model.pk) if key_of(item) != own.claim]
        for portion in portions(left, _PORTION):
            claim._write([Delete(key_of(item)) for item in portion])
        return claim

    def put(self, items: Iterable[Item]) -> None:
        """Write items of the model that is going to exist.

        Raises:
            ConflictError: another writer has taken the claim over, or came between.
        """
        for portion in portions(items, _PORTION):
            self._write([Put(item) for item in portion])

    def _write(self, writes: list[Put] | list[Delete]) -> None:
        if writes:
            self.database.write([Check(self.own.claim, {"holder": self.holder}), *writes])

    def release(self) -> Delete:
        """The write that ends the claim, for the transaction that creates the model."""
        return Delete(self.own.claim, {"holder": self.holder})


def unclaimed_check(own: ModelKeys) -> Check:
    """The condition of a creation that needs no claim."""
    return Check(own.claim, {PARTITION_KEY: ABSENT})
