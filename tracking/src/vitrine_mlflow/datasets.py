"""Datasets that runs used, and the models that runs read and wrote."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from mlflow.entities import (
    Dataset,
    DatasetInput,
    InputTag,
    LoggedModelInput,
    LoggedModelOutput,
)
from mlflow.exceptions import MlflowException

from vitrine_mlflow import keys
from vitrine_mlflow.context import Context
from vitrine_mlflow.encoding import digest
from vitrine_mlflow.errors import invalid, violated_error
from vitrine_mlflow.expressions import ABSENT, Item, Put, Write, with_key
from vitrine_mlflow.keys import Key
from vitrine_mlflow.lending import require_source_lent
from vitrine_mlflow.mlflow_api import validate_dataset_inputs, validate_run_id
from vitrine_mlflow.ownership import ASSET
from vitrine_mlflow.runs import Runs
from vitrine_mlflow.summaries import DETAILS, INPUT, OUTPUT, SummaryChain, summary_key
from vitrine_mlflow.table import PARTITION_KEY
from vitrine_mlflow.vitrine_link import AssetUse

_INPUTS_IN_TRANSACTION = 23  # of four items each, and up to six summaries
_MODELS_IN_TRANSACTION = 40
_DATASET_BYTES = 408_000  # DynamoDB's 400 KiB, without keys and the names of attributes


class Datasets:
    """Inputs and outputs of runs."""

    def __init__(self, context: Context, runs: Runs) -> None:
        self._context = context
        self._database = context.owned_database
        self._runs = runs

    def log_inputs(
        self,
        run_id: str,
        datasets: list[DatasetInput] | None,
        models: list[LoggedModelInput] | None,
    ) -> None:
        validate_run_id(run_id)
        if datasets is not None:
            if not isinstance(datasets, list):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise TypeError(f"Argument 'datasets' should be a list, got '{type(datasets)}'")
            validate_dataset_inputs(datasets)
        run = self._runs.find(run_id)
        run.require_active()
        for dataset_input in datasets or []:
            if dataset_input.dataset is None:  # pyright: ignore[reportUnnecessaryComparison]
                raise MlflowException("Dataset input must have a dataset associated with it.")
            require_source_lent(dataset_input.dataset.source, "source")
            require_fitting(dataset_input.dataset)
        unique = {
            dataset_hash(dataset_input.dataset.name, dataset_input.dataset.digest): dataset_input
            for dataset_input in reversed(datasets or [])
        }
        inputs = list(unique.items())[::-1]
        for start in range(0, len(inputs), _INPUTS_IN_TRANSACTION):
            part = inputs[start : start + _INPUTS_IN_TRANSACTION]
            self._database.retry(lambda part=part: self._log_datasets(run_id, part))
        self._log_models(run_id, [(model.model_id, None) for model in models or []])

    def _log_datasets(self, run_id: str, inputs: Sequence[tuple[str, DatasetInput]]) -> None:
        experiment_id = self._runs.experiment_of(run_id)
        first_key = summary_key(experiment_id, run_id, DETAILS)
        dataset_keys = {name: dataset_key(experiment_id, name) for name, _ in inputs}
        input_keys = {name: _input_key(experiment_id, run_id, name) for name, _ in inputs}
        items = self._database.get_many([first_key, *dataset_keys.values(), *input_keys.values()])
        chain = SummaryChain.read(experiment_id, run_id, DETAILS, items.get(first_key))
        writes: list[Write] = []
        for name, dataset_input in inputs:
            if dataset_keys[name] not in items:
                item = with_key(dataset_keys[name], _attributes(dataset_input.dataset))
                writes.append(Put(item, {PARTITION_KEY: ABSENT}))
            if input_keys[name] not in items:
                writes += self._input_writes(chain, name, dataset_input)
        self._database.write([*writes, *chain.writes()])

    def _input_writes(
        self, chain: SummaryChain, name: str, dataset_input: DatasetInput
    ) -> list[Write]:
        tags = json.dumps([[tag.key, tag.value] for tag in dataset_input.tags or []])
        dataset = dataset_input.dataset
        entry = {
            "name": dataset.name,
            "digest": dataset.digest,
            "tags": tags,
            "at": self._context.sources.new_hex(),
        }
        chain.add(INPUT + name, entry)
        input_key = _input_key(chain.experiment_id, chain.run_id, name)
        use = asset_use_put(chain.experiment_id, chain.run_id, name, dataset)
        used = {} if use is None else {ASSET: use.item[PARTITION_KEY]}
        link_key = keys.DATASET_LINK.key(
            experiment_id=chain.experiment_id, run_id=chain.run_id, dataset_name=name
        )
        return [
            Put(with_key(input_key, {"tags": tags, **entry, **used}), {PARTITION_KEY: ABSENT}),
            Put(with_key(link_key, {"name": dataset.name, "digest": dataset.digest, "tags": tags})),
            *([] if use is None else [use]),
        ]

    def log_outputs(self, run_id: str, models: Iterable[LoggedModelOutput]) -> None:
        self._runs.find(run_id).require_active()
        self._log_models(run_id, [(model.model_id, model.step) for model in models])

    def _log_models(self, run_id: str, models: Sequence[tuple[str, int | None]]) -> None:
        for start in range(0, len(models), _MODELS_IN_TRANSACTION):
            part = models[start : start + _MODELS_IN_TRANSACTION]
            self._database.retry(lambda part=part: self._write_models(run_id, part))

    def _write_models(self, run_id: str, models: Sequence[tuple[str, int | None]]) -> None:
        experiment_id = self._runs.experiment_of(run_id)
        first_key = summary_key(experiment_id, run_id, DETAILS)
        model_keys = [
            keys.RUN_MODEL.key(
                experiment_id=experiment_id,
                run_id=run_id,
                model_name=f"{'in' if step is None else 'out'}:{model_id}",
            )
            for model_id, step in models
        ]
        items = self._database.get_many([first_key, *model_keys])
        chain = SummaryChain.read(experiment_id, run_id, DETAILS, items.get(first_key))
        writes: dict[Key, Write] = {}
        for key, (model_id, step) in zip(model_keys, models, strict=True):
            if key in items or key in writes:
                if step is not None:
                    raise violated_error(f"The run '{run_id}' has the output '{model_id}' already.")
                continue
            item: Item = {"model_id": model_id}
            if step is not None:
                item["step"] = step
                chain.add(OUTPUT + model_id, step)
            writes[key] = Put(with_key(key, item))
        self._database.write([*writes.values(), *chain.writes()])

    def of_inputs(
        self, experiment_ids: Iterable[tuple[str, dict[str, dict[str, Any]]]]
    ) -> list[list[DatasetInput]]:
        """The dataset inputs of runs, each given as its experiment and its entries."""
        runs = list(experiment_ids)
        wanted = [
            dataset_key(experiment_id, name) for experiment_id, inputs in runs for name in inputs
        ]
        items = self._database.get_many(wanted) if wanted else {}
        return [
            [
                DatasetInput(
                    dataset=_dataset(items[dataset_key(experiment_id, name)]),
                    tags=[InputTag(key, value) for key, value in json.loads(entry["tags"])],
                )
                for name, entry in inputs.items()
                if dataset_key(experiment_id, name) in items
            ]
            for experiment_id, inputs in runs
        ]


def models_of(items: Iterable[Item]) -> tuple[list[LoggedModelInput], list[LoggedModelOutput]]:
    """Inputs and outputs of the items of a run's models."""
    inputs: list[LoggedModelInput] = []
    outputs: list[LoggedModelOutput] = []
    for item in items:
        if "step" in item:
            outputs.append(LoggedModelOutput(item["model_id"], item["step"]))
        else:
            inputs.append(LoggedModelInput(item["model_id"]))
    return inputs, outputs


def require_fitting(dataset: Dataset) -> None:
    """Refuse a dataset that does not fit into an item.

    Raises:
        MlflowException: its fields together are too large.
    """
    sizes = {name: len((value or "").encode()) for name, value in _attributes(dataset).items()}
    total, largest = sum(sizes.values()), max(sizes, key=lambda name: sizes[name])
    if total > _DATASET_BYTES:
        raise invalid(
            f"The dataset '{dataset.name[:100]}' has {total} bytes, of which its field "
            f"'{largest}' has {sizes[largest]}. The limit of all its fields together is "
            f"{_DATASET_BYTES} bytes."
        )


def dataset_hash(name: str, digest_of_data: str) -> str:
    return digest(name, digest_of_data)


def dataset_key(experiment_id: str, name: str) -> Key:
    return keys.DATASET.key(experiment_id=experiment_id, dataset_hash=name)


def asset_use_put(experiment_id: str, run_id: str, name: str, dataset: Dataset) -> Put | None:
    """The item by which an asset finds a run that used it, None for other datasets."""
    use = AssetUse.of(dataset.source_type, dataset.source)
    if use is None:
        return None
    address = use.address
    key = keys.ASSET_RUN.key(
        database=address.database, asset=address.asset, run_id=run_id, name=name
    )
    return Put(
        with_key(
            key,
            {
                "experiment_id": experiment_id,
                "dataset": dataset.name,
                "version": address.version,
                "path": address.path,
                "digest": use.digest,
            },
        )
    )


def _input_key(experiment_id: str, run_id: str, name: str) -> Key:
    return keys.INPUT.key(experiment_id=experiment_id, run_id=run_id, name=name)


def _attributes(dataset: Dataset) -> Item:
    return {
        "name": dataset.name,
        "digest": dataset.digest,
        "source_type": dataset.source_type,
        "source": dataset.source,
        "schema": dataset.schema,
        "profile": dataset.profile,
    }


def _dataset(item: Item) -> Dataset:
    return Dataset(
        name=item["name"],
        digest=item["digest"],
        source_type=item["source_type"],
        source=item["source"],
        schema=item["schema"],
        profile=item["profile"],
    )
