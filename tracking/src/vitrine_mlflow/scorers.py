"""Scorers of experiments, their versions, and their online scoring."""

from collections.abc import Iterable
from typing import Any

from mlflow.entities import ScorerVersion
from mlflow.exceptions import MlflowNotImplementedException

from vitrine_mlflow import keys
from vitrine_mlflow.context import EXPERIMENT_IDS, Context
from vitrine_mlflow.errors import invalid, missing_error
from vitrine_mlflow.experiments import Experiments
from vitrine_mlflow.expressions import ABSENT, Delete, Item, Put, with_key
from vitrine_mlflow.keys import Key
from vitrine_mlflow.mlflow_api import parsed_experiment_id
from vitrine_mlflow.mlflow_genai import endpoint_of_scorer, online_config, validate_scorer_name
from vitrine_mlflow.mlflow_traces import SearchTraceUtils
from vitrine_mlflow.table import PARTITION_KEY

# Zeros before it let versions sort as numbers.
_VERSION_DIGITS = 9


class Scorers:
    """Registers, reads and deletes scorers."""

    def __init__(self, context: Context, experiments: Experiments) -> None:
        self._context = context
        self._database = context.owned_database
        self._experiments = experiments

    def register(self, experiment_id: str, name: str, serialized: str) -> ScorerVersion:
        validate_scorer_name(name)
        own_id = self._active(experiment_id)
        if endpoint_of_scorer(serialized) is not None:
            raise MlflowNotImplementedException(
                "Scorers on models of the gateway are not supported."
            )
        return self._database.retry(lambda: self._register(own_id, name, serialized))

    def _register(self, experiment_id: str, name: str, serialized: str) -> ScorerVersion:
        scorer_key = keys.SCORER.key(experiment_id=experiment_id, name=name)
        known = self._database.get(scorer_key)
        versions = self._versions(experiment_id, name) if known else []
        number = versions[-1].scorer_version + 1 if versions else 1
        scorer_id = known["scorer_id"] if known else self._context.sources.new_hex()
        info = {
            "scorer_id": scorer_id,
            "name": name,
            "version": number,
            "serialized": serialized,
            "created": self._context.sources.now_ms(),
        }
        absent = {PARTITION_KEY: ABSENT}
        scorer = with_key(scorer_key, {"scorer_id": scorer_id})
        # written again if it is known, so that it cannot be deleted at the same time
        self._database.write(
            [
                Put(scorer, {"scorer_id": scorer_id} if known else absent),
                Put(with_key(_version_key(experiment_id, name, number), info), absent),
            ]
        )
        return version_of(experiment_id, info)

    def _active(self, experiment_id: str) -> str:
        stored = self._experiments.find(experiment_id)
        stored.require_active()
        return stored.experiment_id

    def _versions(self, experiment_id: str, name: str) -> list[ScorerVersion]:
        pk = keys.EXPERIMENT.key(experiment_id=experiment_id).pk
        prefix = keys.SCORER_VERSION.prefix(name=name)
        return [version_of(experiment_id, item) for item in self._database.query_prefix(pk, prefix)]

    def latest(self, experiment_id: str) -> list[ScorerVersion]:
        return self.latest_across([self._active(experiment_id)])

    def latest_across(self, experiment_ids: Iterable[str]) -> list[ScorerVersion]:
        """The last version of each scorer, by experiment and name."""
        wanted = {parsed_experiment_id(experiment_id) for experiment_id in experiment_ids}
        versions: list[ScorerVersion] = []
        for experiment_id in sorted(wanted):
            own: dict[str, ScorerVersion] = {}
            pk = keys.EXPERIMENT.key(experiment_id=str(experiment_id)).pk
            for item in self._database.query_prefix(pk, keys.SCORER.prefix()):
                if "version" in item:
                    own[item["name"]] = version_of(str(experiment_id), item)
            versions += [own[name] for name in sorted(own)]
        return versions

    def get(self, experiment_id: str, name: str, version: int | None) -> ScorerVersion:
        own_id = self._active(experiment_id)
        if version is None:
            return self.versions(experiment_id, name)[-1]
        item = self._database.get(_version_key(own_id, name, version))
        if item is None:
            self._require(own_id, experiment_id, name)
            raise _absent(experiment_id, name, version)
        return version_of(own_id, item)

    def _require(self, own_id: str, experiment_id: str, name: str) -> Item:
        scorer = self._database.get(keys.SCORER.key(experiment_id=own_id, name=name))
        if scorer is None:
            raise _absent(experiment_id, name)
        return scorer

    def versions(self, experiment_id: str, name: str) -> list[ScorerVersion]:
        """All versions, oldest first.

        Raises:
            MlflowException: there is none.
        """
        versions = self._versions(self._active(experiment_id), name)
        if not versions:
            raise _absent(experiment_id, name)
        return versions

    def delete(self, experiment_id: str, name: str, version: int | None) -> None:
        own_id = self._active(experiment_id)
        scorer = self._require(own_id, experiment_id, name)
        numbers = [
            row.scorer_version
            for row in self._versions(own_id, name)
            if version in {None, row.scorer_version}
        ]
        if not numbers:
            raise _absent(experiment_id, name, version)
        if version is None:
            # the scorer is last: an interrupted deletion can be repeated
            online = keys.ONLINE_SCORING.key(scorer_id=scorer["scorer_id"])
            self._database.write([Delete(online)])
        self._database.write_in_batches(
            Delete(_version_key(own_id, name, number)) for number in numbers
        )
        if version is None:
            self._database.write([Delete(keys.SCORER.key(experiment_id=own_id, name=name))])

    def set_online(
        self, experiment_id: str, name: str, sample_rate: Any, filter_string: Any
    ) -> Any:
        """Set how many traces a scorer is run on. Without the gateway, that can be none only."""
        if not isinstance(sample_rate, int | float):
            raise invalid(f"sample_rate must be a number, got {type(sample_rate).__name__}")
        if not 0.0 <= sample_rate <= 1.0:
            raise invalid(f"sample_rate must be between 0.0 and 1.0, got {sample_rate}")
        if filter_string:
            if not isinstance(filter_string, str):
                raise invalid(f"filter_string must be a string, got {type(filter_string).__name__}")
            SearchTraceUtils.parse_search_filter_for_search_traces(filter_string)
        own_id = self._active(experiment_id)
        scorer = self._require(own_id, experiment_id, name)
        if sample_rate > 0 and self._versions(own_id, name):
            raise invalid(
                f"Scorer '{name}' does not use a gateway model. Automatic evaluation is only "
                "supported for scorers that use gateway models."
            )
        item = {
            "config_id": self._context.sources.new_hex(),
            "scorer_id": scorer["scorer_id"],
            "sample_rate": repr(float(sample_rate)),
            "experiment_id": own_id,
            "filter": filter_string,
        }
        key = keys.ONLINE_SCORING.key(scorer_id=scorer["scorer_id"])
        self._database.write([Put(with_key(key, item))])
        return _config(item)

    def online(self, scorer_ids: Iterable[str]) -> list[Any]:
        wanted = [
            keys.ONLINE_SCORING.key(scorer_id=scorer_id) for scorer_id in scorer_ids if scorer_id
        ]
        return (
            [_config(item) for item in self._database.get_many(wanted).values()] if wanted else []
        )


def _version_key(experiment_id: str, name: str, version: int) -> Key:
    number = str(version).zfill(_VERSION_DIGITS)
    return keys.SCORER_VERSION.key(experiment_id=experiment_id, name=name, version=number)


def _absent(experiment_id: str, name: str, version: int | None = None) -> Exception:
    of_version = "" if version is None else f" and version {version}"
    return missing_error(
        f"Scorer with name '{name}'{of_version} not found for experiment {experiment_id}."
    )


class _VersionOfLargeId(ScorerVersion):
    """A version whose reply lacks the id of its experiment, which MLflow's message cannot hold."""

    def __init__(self, experiment_id: str, fields: dict[str, Any]) -> None:
        super().__init__(experiment_id, **fields)
        self._without_id = ScorerVersion("0", **fields)

    def to_proto(self) -> Any:
        message: Any = self._without_id.to_proto()
        message.ClearField("experiment_id")
        return message


def version_of(experiment_id: str, item: Item) -> ScorerVersion:
    """The version as MLflow has it."""
    fields: dict[str, Any] = {
        "scorer_name": item["name"], "scorer_version": item["version"],
        "serialized_scorer": item["serialized"], "creation_time": item["created"],
        "scorer_id": item["scorer_id"],
    }  # fmt: skip
    if int(experiment_id) < EXPERIMENT_IDS.stop:
        return ScorerVersion(experiment_id, **fields)
    return _VersionOfLargeId(experiment_id, fields)


def _config(item: Item) -> Any:
    return online_config(
        online_scoring_config_id=item["config_id"],
        scorer_id=item["scorer_id"],
        sample_rate=float(item["sample_rate"]),
        experiment_id=item["experiment_id"],
        filter_string=item["filter"],
    )
