"""The keys of rank rows: the runs of an experiment by a metric or a param."""

from vitrine_mlflow import keys
from vitrine_mlflow.encoding import SORT_KEY_BYTES, clip, inverted_double, ordered_text
from vitrine_mlflow.keys import Key

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
