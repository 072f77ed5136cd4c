"""Finds the run or trace of an item. Loads no MLflow: the archive's function uses it, too."""

from collections.abc import Iterator
from dataclasses import dataclass

from vitrine_mlflow import keys
from vitrine_mlflow.encoding import SORT_KEY_BYTES, clip, inverted_double, ordered_text
from vitrine_mlflow.expressions import Item, key_of
from vitrine_mlflow.keys import Key

ASSET = "asset"  # of a dataset input: the partition of the item by which the asset finds the run
RUN_TYPE = "RUN"  # of full-text rows


@dataclass(frozen=True)
class Owner:
    """A run or a trace. It is visible as long as its own item exists."""

    kind: str
    experiment_id: str
    id: str
    key: Key
    lookup: Key
    prefixes: tuple[str, ...]  # of the sort keys of its other items in the partition


def run_owner(experiment_id: str, run_id: str) -> Owner:
    key = keys.RUN.key(experiment_id=experiment_id, run_id=run_id)
    prefixes = (
        f"{key.sk}#",
        keys.SUMMARY.prefix(run_id=run_id),
        keys.DATASET_LINK.prefix(run_id=run_id),
        keys.FTS_REV.prefix(entity_type=RUN_TYPE, entity_id=run_id),
    )
    lookup = keys.RUN_LOOKUP.key(run_id=run_id)
    return Owner("run", experiment_id, run_id, key, lookup, prefixes)


def trace_owner(experiment_id: str, trace_id: str) -> Owner:
    key = keys.TRACE.key(experiment_id=experiment_id, trace_id=trace_id)
    lookup = keys.TRACE_LOOKUP.key(trace_id=trace_id)
    return Owner("trace", experiment_id, trace_id, key, lookup, (f"{key.sk}#",))


def owner_at(key: Key) -> Owner:
    """The run or trace whose own item has this key.

    Raises:
        ValueError: the item is no run and no trace.
    """
    if (fields := keys.RUN.parse(key)) is not None:
        return run_owner(**fields)
    if (fields := keys.TRACE.parse(key)) is not None:
        return trace_owner(**fields)
    raise ValueError(f"the item {key.pk} {key.sk} is no run and no trace")


def derived_keys(item: Item) -> Iterator[Key]:
    """The keys of the rows that repeat an item of a run, so that searches find the run."""
    key = key_of(item)
    if (fields := keys.METRIC.parse(key)) is not None:
        yield metric_rank_key(**fields, value=float(item["value"]))
    elif (fields := keys.PARAM.parse(key)) is not None:
        yield param_rank_key(**fields, value=item["value"])
    elif (fields := keys.FTS_REV.parse(key)) is not None:
        yield keys.FTS.key(**fields)
    elif ASSET in item and (fields := keys.INPUT.parse(key)) is not None:
        yield Key(item[ASSET], keys.ASSET_RUN.sk.build(fields))


# Of the 1,024 bytes of a sort key, for the run's id at its end.
_ROOM_FOR_RUN = 300


def metric_rank_key(experiment_id: str, run_id: str, key: str, value: float) -> Key:
    return keys.METRIC_RANK.key(
        experiment_id=experiment_id,
        run_id=run_id,
        key=key,
        inverted_value=inverted_double(value),
    )


def param_rank_key(experiment_id: str, run_id: str, key: str, value: str) -> Key:
    """The key of a param's rank; its value is encoded so that ranks sort as values do."""
    pk = keys.EXPERIMENT.key(experiment_id=experiment_id).pk
    return Key(pk, f"{keys.PARAM_RANK.prefix(key=key)}{ranked_value(key, value)}#{run_id}")


def ranked_value(key: str, value: str) -> str:
    """A param's value inside a rank's key: a long one keeps its start and gets a digest."""
    room = SORT_KEY_BYTES - len(keys.PARAM_RANK.prefix(key=key).encode()) - _ROOM_FOR_RUN
    return clip(ordered_text(value), max(room, 64))
