"""Experiments as they are stored."""

from dataclasses import dataclass
from typing import Any

from mlflow.entities import LifecycleStage

from vitrine_mlflow import keys
from vitrine_mlflow.encoding import SORT_KEY_BYTES, clip, ordered_text
from vitrine_mlflow.errors import invalid
from vitrine_mlflow.expressions import ABSENT, Item, Put, with_key
from vitrine_mlflow.table import INFO, PARTITION_KEY, TAGS

PRIMARY_METRIC_TAG = "mlflow.experiment.primaryMetric.name"
RUN_NAMES_INDEXED = "runNames"  # set at the creation, so that the rows of all its runs exist
NAME_BYTES = 1_900  # of a partition key's 2,048; the rest is for its prefix and the workspace
_ACTIVE = LifecycleStage.ACTIVE
_PACKED_TAGS_BYTES = 8_000  # the rest is read from the items of the tags


@dataclass(frozen=True)
class StoredExperiment:
    """The metadata item of an experiment."""

    experiment_id: str
    item: Item

    @property
    def info(self) -> dict[str, Any]:
        return self.item[INFO]

    @property
    def name(self) -> str:
        return self.info["name"]

    @property
    def stage(self) -> str:
        return self.info["stage"]

    @property
    def location(self) -> str:
        return self.info["location"]

    @property
    def revision(self) -> int:
        return self.item["revision"]

    @property
    def tags(self) -> dict[str, str]:
        """The tags that are packed into the item."""
        return self.item.get(TAGS, {})

    def require_active(self) -> None:
        """Refuse a change of a deleted experiment.

        Raises:
            MlflowException: it is deleted.
        """
        if self.stage != _ACTIVE:
            raise invalid(
                f"The experiment {self.experiment_id} must be in the 'active' state. "
                f"Current state is {self.stage}."
            )


def id_of(item: Item) -> str:
    fields = keys.EXPERIMENT.pk.parse(item[PARTITION_KEY]) or {}
    return fields["experiment_id"]


def new_item(experiment_id: str, info: dict[str, Any], now: int, tags: dict[str, str]) -> Item:
    """The metadata item of a new experiment of this name, location and workspace."""
    packed, whole = _pack_tags(tags)
    info = {**info, "stage": _ACTIVE, "created": now, "updated": now}
    if not whole:
        info["more_tags"] = True
    indexed = index_keys(experiment_id, info["name"], info["workspace"])
    attributes: Item = {INFO: info, TAGS: packed, "revision": 1, **indexed}
    if PRIMARY_METRIC_TAG in tags:
        attributes["primary"] = tags[PRIMARY_METRIC_TAG]
    return with_key(keys.EXPERIMENT.key(experiment_id=experiment_id), attributes)


def index_keys(experiment_id: str, name: str, workspace: str) -> dict[str, str]:
    return keys.EXPERIMENT.index_keys(
        experiment_id=experiment_id,
        workspace=workspace,
        name=clip(name, NAME_BYTES),
        ordered_name=clip(ordered_text(name), SORT_KEY_BYTES // 2),
    )


def name_key(name: str, workspace: str) -> keys.Key:
    return keys.EXPERIMENT_NAME.key(workspace=workspace, name=clip(name, NAME_BYTES))


def reservation(experiment_id: str, name: str, workspace: str) -> Put:
    item = with_key(name_key(name, workspace), {"experiment_id": experiment_id})
    return Put(item, {PARTITION_KEY: ABSENT})


def tag_put(experiment_id: str, key: str, value: str) -> Put:
    tag_key = keys.EXPERIMENT_TAG.key(experiment_id=experiment_id, key=key)
    return Put(with_key(tag_key, {"key": key, "value": value}))


def reversed_name(experiment_id: str, name: str) -> Put:
    key = keys.EXPERIMENT_NAME_REV.key(experiment_id=experiment_id)
    return Put(with_key(key, {"name": name[::-1]}))


def _pack_tags(tags: dict[str, str]) -> tuple[dict[str, str], bool]:
    """The tags that fit into the metadata item, and whether those are all."""
    packed: dict[str, str] = {}
    left = _PACKED_TAGS_BYTES
    for key, value in tags.items():
        left -= len(key.encode()) + len(value.encode())
        if left < 0:
            return packed, False
        packed[key] = value
    return packed, True


def tag_attributes(stored: StoredExperiment, tags: dict[str, str]) -> dict[str, Any]:
    packed, whole = _pack_tags(tags)
    attributes: dict[str, Any] = {TAGS: packed}
    if not whole:
        attributes[INFO] = {**stored.info, "more_tags": True}
    if PRIMARY_METRIC_TAG in tags and "primary" not in stored.item:
        attributes["primary"] = tags[PRIMARY_METRIC_TAG]
    return attributes
