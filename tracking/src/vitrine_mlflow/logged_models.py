"""Logged models by id: metadata, params, tags, and the metrics that runs log for them."""

import dataclasses
import json
import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import Any

from mlflow.entities import (
    LifecycleStage,
    LoggedModel,
    LoggedModelParameter,
    LoggedModelStatus,
    LoggedModelTag,
    Metric,
)

from vitrine_mlflow import keys
from vitrine_mlflow.context import Context
from vitrine_mlflow.database import Range
from vitrine_mlflow.encoding import ordered_integer, unescape
from vitrine_mlflow.errors import missing_error, parent_required, violated_error
from vitrine_mlflow.experiments import Experiments
from vitrine_mlflow.expressions import ABSENT, Delete, Item, Put, key_of, with_key
from vitrine_mlflow.keys import Key
from vitrine_mlflow.mlflow_api import joined_uri, validate_logged_model_name
from vitrine_mlflow.table import PARTITION_KEY, SORT_KEY

_PACKED = "model"
# The largest finite double.
_LARGEST = 1.7976931348623157e308
_ACTIVE, _DELETED = LifecycleStage.ACTIVE, LifecycleStage.DELETED


@dataclass
class ModelDocument:
    """All that a list returns of a logged model."""

    name: str
    location: str
    created: int
    updated: int
    type: str | None = None
    status: str = "PENDING"
    stage: str = _ACTIVE
    run: str | None = None
    tags: dict[str, Any] = field(default_factory=dict[str, Any])
    params: dict[str, Any] = field(default_factory=dict[str, Any])

    def pack(self) -> bytes:
        return zlib.compress(json.dumps(asdict(self), ensure_ascii=False).encode())

    @classmethod
    def unpack(cls, packed: bytes) -> "ModelDocument":
        return cls(**json.loads(zlib.decompress(packed)))


@dataclass(frozen=True)
class ModelMetric:
    """A value that a run logged for a model."""

    key: str
    value: float
    timestamp: int
    step: int
    run_id: str
    dataset_name: str | None
    dataset_digest: str | None

    @classmethod
    def of(cls, metric: Metric, run_id: str) -> "ModelMetric":
        return cls(
            metric.key,
            _finite(float(metric.value)),
            int(metric.timestamp),
            int(metric.step),
            run_id,
            metric.dataset_name,
            metric.dataset_digest,
        )

    @classmethod
    def of_item(cls, item: Item) -> "ModelMetric":
        stored: dict[str, Any] = {field.name: item[field.name] for field in dataclasses.fields(cls)}
        stored["value"] = float(item["value"])
        return cls(**stored)

    def put(self, experiment_id: str, model_id: str) -> Put:
        key = keys.LOGGED_MODEL_METRIC.key(
            experiment_id=experiment_id,
            model_id=model_id,
            key=self.key,
            step=ordered_integer(self.step),
            timestamp=ordered_integer(self.timestamp),
            run_id=self.run_id,
        )
        # text, because DynamoDB's numbers end at 1e125
        return Put(with_key(key, {**asdict(self), "value": repr(self.value)}))

    def entity(self, model_id: str) -> Metric:
        return Metric(**asdict(self), model_id=model_id)


def _finite(value: float) -> float:
    """As MLflow's own store holds metrics of models: no infinities, and 0 for NaN."""
    if math.isnan(value):
        return 0.0
    return math.copysign(_LARGEST, value) if math.isinf(value) else value


@dataclass(frozen=True)
class StoredModel:
    """A logged model as its item has it; revision 0 is a new one."""

    experiment_id: str
    model_id: str
    document: ModelDocument
    revision: int = 0
    metrics: Sequence[ModelMetric] = ()

    @property
    def key(self) -> Key:
        return _model_key(self.experiment_id, self.model_id)

    def entity(self) -> LoggedModel:
        document = self.document
        return LoggedModel(
            model_id=self.model_id,
            experiment_id=self.experiment_id,
            name=document.name,
            artifact_location=document.location,
            creation_timestamp=document.created,
            last_updated_timestamp=document.updated,
            status=LoggedModelStatus(document.status),
            model_type=document.type,
            source_run_id=document.run,
            tags=dict(document.tags) or None,
            params=dict(document.params) or None,
            metrics=[metric.entity(self.model_id) for metric in self.metrics] or None,
        )


class LoggedModels:
    """Creates, reads and changes logged models; one item each."""

    def __init__(self, context: Context, experiments: Experiments) -> None:
        self._context = context
        self._database = context.owned_database
        self._experiments = experiments
        self._experiment_ids: dict[str, str] = {}  # never changes for a model

    def create(
        self,
        experiment_id: str,
        name: str | None,
        source_run_id: str | None,
        tags: Iterable[LoggedModelTag] | None,
        params: Iterable[LoggedModelParameter] | None,
        model_type: str | None,
    ) -> LoggedModel:
        validate_logged_model_name(name)
        experiment = self._experiments.recent(experiment_id)
        experiment.require_active()
        self._experiments.require_storable_artifacts(experiment)
        sources = self._context.sources
        model_id = f"m-{sources.new_hex()}"
        now = sources.now_ms()
        document = ModelDocument(
            name=name or sources.random_name(),
            location=joined_uri(experiment.location, "models", model_id, "artifacts"),
            created=now,
            updated=now,
            type=model_type,
            run=source_run_id,
            tags={tag.key: tag.value for tag in tags or []},
            params={param.key: param.value for param in params or []},
        )
        stored = StoredModel(experiment.experiment_id, model_id, document)
        lookup = keys.MODEL_LOOKUP.key(model_id=model_id)
        item = with_key(lookup, {"experiment_id": stored.experiment_id})
        self._database.write([self.put(stored), Put(item, {PARTITION_KEY: ABSENT})])
        return stored.entity()

    def put(self, stored: StoredModel) -> Put:
        """Return the write of a new or changed model, if it was not changed meanwhile."""
        document = stored.document
        attributes: Item = {
            _PACKED: document.pack(),
            "revision": stored.revision + 1,
        }
        condition = {"revision": stored.revision} if stored.revision else {PARTITION_KEY: ABSENT}
        return Put(with_key(stored.key, attributes), condition)

    def get(self, model_id: str, *, allow_deleted: bool) -> LoggedModel:
        stored = self.find(model_id)
        if stored.document.stage == _DELETED and not allow_deleted:
            raise _not_found(model_id)
        return stored.entity()

    def find(self, model_id: str) -> StoredModel:
        """A model with its metrics, deleted or not, read consistently.

        Raises:
            MlflowException: there is none.
        """
        key = _model_key(self._experiment_of(model_id), model_id)
        items = list(self._read(key.pk, Range(key.sk, Range.of_prefix(f"{key.sk}#").high)))
        if not items:
            raise _not_found(model_id)
        return items[0]

    def _experiment_of(self, model_id: str) -> str:
        known = self._experiment_ids.get(model_id)
        if known is None:
            lookup = keys.MODEL_LOOKUP.key(model_id=model_id)
            item = self._database.get(lookup) if model_id else None
            if item is None:
                raise _not_found(model_id)
            known = self._experiment_ids[model_id] = item["experiment_id"]
        if not self._database.owns(known):
            raise _not_found(model_id)
        return known

    def in_experiment(self, experiment_id: str) -> Iterator[StoredModel]:
        """All models of an experiment with their metrics, by one range of its partition."""
        if not self._database.owns(experiment_id):
            return iter(())
        pk = keys.EXPERIMENT.key(experiment_id=experiment_id).pk
        return self._read(pk, Range.of_prefix(keys.LOGGED_MODEL.prefix()))

    def _read(self, pk: str, wanted: Range) -> Iterator[StoredModel]:
        items = self._database.query(pk, wanted)
        for model_id, group in groupby(items, key=lambda item: item[SORT_KEY].split("#")[1]):
            first, *metrics = group
            fields = keys.LOGGED_MODEL.parse(key_of(first))
            if fields is None:
                continue  # metrics of a model that is being removed
            yield StoredModel(
                fields["experiment_id"],
                unescape(model_id),
                ModelDocument.unpack(first[_PACKED]),
                first["revision"],
                [ModelMetric.of_item(item) for item in metrics],
            )

    def list_deleted(self, older_than: int) -> list[str]:
        """Return ids of the workspace's models that were deleted `older_than` milliseconds ago."""
        latest = self._context.sources.now_ms() - older_than
        return [
            stored.model_id
            for experiment_id in self._experiments.ids_in_workspace()
            for stored in self.in_experiment(experiment_id)
            if stored.document.stage == _DELETED and stored.document.updated <= latest
        ]

    def finalize(self, model_id: str, status: LoggedModelStatus) -> LoggedModel:
        def change(document: ModelDocument) -> None:
            document.status = status.value
            document.updated = self._context.sources.now_ms()

        return self._change(model_id, change).entity()

    def delete(self, model_id: str) -> None:
        def change(document: ModelDocument) -> None:
            document.stage = _DELETED
            document.updated = self._context.sources.now_ms()

        self._change(model_id, change)

    def set_tags(self, model_id: str, tags: Iterable[LoggedModelTag]) -> None:
        values = {tag.key: tag.value for tag in tags}
        self._change(model_id, lambda document: document.tags.update(values))

    def delete_tag(self, model_id: str, key: str) -> None:
        def change(document: ModelDocument) -> None:
            if key not in document.tags:
                raise missing_error(
                    f"No tag with key {key!r} found for model with ID {model_id!r}."
                )
            del document.tags[key]

        self._change(model_id, change)

    def log_params(self, model_id: str, params: Iterable[LoggedModelParameter]) -> None:
        """Add params.

        Raises:
            MlflowException: one is there already.
        """
        values = list(params)

        def change(document: ModelDocument) -> None:
            for param in values:
                if param.key in document.params:
                    raise violated_error(
                        f"The model '{model_id}' has the param '{param.key}' already."
                    )
                document.params[param.key] = param.value

        self._change(model_id, change)

    def _change(self, model_id: str, change: Callable[[ModelDocument], Any]) -> StoredModel:
        def attempt() -> StoredModel:
            stored = self.find(model_id)
            change(stored.document)
            self._database.write([self.put(stored)])
            return dataclasses.replace(stored, revision=stored.revision + 1)

        return self._database.retry(attempt)

    def require(self, run_id: str, metrics: Iterable[Metric]) -> None:
        """Refuse metrics of models that cannot be written.

        Raises:
            MlflowException: a model does not exist, or has another value of that time and step.
        """
        with parent_required():
            puts = self._puts(run_id, metrics)
        items = self._database.get_many(key for key, _ in puts)
        values: dict[Key, ModelMetric] = {
            key: ModelMetric.of_item(item) for key, item in items.items()
        }
        for key, put in puts:
            value = ModelMetric.of_item(put.item)
            if values.setdefault(key, value) != value:
                raise violated_error(
                    f"The metric '{value.key}' has another value of step {value.step}."
                )

    def log_metrics(self, run_id: str, metrics: Iterable[Metric]) -> None:
        """Write the values that a run logs for models; repeating it completes it."""
        puts = dict(self._puts(run_id, metrics))
        if puts:
            self._database.write_in_batches(puts.values())

    def _puts(self, run_id: str, metrics: Iterable[Metric]) -> list[tuple[Key, Put]]:
        puts: list[tuple[Key, Put]] = []
        for metric in metrics:
            if metric.model_id is not None:
                value = ModelMetric.of(metric, run_id)
                put = value.put(self._experiment_of(metric.model_id), metric.model_id)
                puts.append((key_of(put.item), put))
        return puts

    def remove(self, model_id: str) -> None:
        """Permanently remove a model; its item comes first."""
        stored = self.find(model_id)
        lookup = keys.MODEL_LOOKUP.key(model_id=model_id)
        metrics = self._database.query_prefix(stored.key.pk, f"{stored.key.sk}#")
        removals = [Delete(key_of(item)) for item in metrics]
        self._database.write([Delete(stored.key), Delete(lookup)])
        self._experiment_ids.pop(model_id, None)
        self._database.write_in_batches(removals)


def _not_found(model_id: str) -> Exception:
    return missing_error(f"Logged model with ID '{model_id}' not found.")


def _model_key(experiment_id: str, model_id: str) -> Key:
    return keys.LOGGED_MODEL.key(experiment_id=experiment_id, model_id=model_id)
