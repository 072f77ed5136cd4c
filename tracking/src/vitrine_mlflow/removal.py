"""Permanently removes runs and experiments, for `mlflow gc`."""

from mlflow.entities import LifecycleStage, ViewType

from vitrine_mlflow import keys
from vitrine_mlflow.context import Context
from vitrine_mlflow.experiment_items import StoredExperiment
from vitrine_mlflow.experiments import Experiments
from vitrine_mlflow.expressions import Delete, Item, key_of
from vitrine_mlflow.keys import Key
from vitrine_mlflow.logged_models import LoggedModels
from vitrine_mlflow.ownership import derived_keys, run_owner
from vitrine_mlflow.runs import Runs
from vitrine_mlflow.traces.store import TraceStore


class Removal:
    """Deletes the items of an entity; the one that makes it visible comes first."""

    def __init__(
        self,
        context: Context,
        experiments: Experiments,
        runs: Runs,
        traces: TraceStore,
        models: LoggedModels,
    ) -> None:
        self._models = models
        self._context = context
        self._database = context.owned_database
        self._experiments = experiments
        self._runs = runs
        self._traces = traces

    def deleted_runs(self, older_than: int) -> list[str]:
        """Return ids of the workspace's runs that were deleted `older_than` milliseconds ago."""
        latest = self._context.sources.now_ms() - older_than
        return [
            run.run_id
            for experiment_id in self._experiments.ids_in_workspace()
            for run in self._runs.in_stage(experiment_id, LifecycleStage.DELETED)
            if (run.info.get("deleted") or 0) <= latest
        ]

    def remove_run(self, run_id: str) -> None:
        """Remove a run by its own items only.

        Raises:
            MlflowException: there is no such run.
        """
        owner = run_owner(self._runs.experiment_of(run_id), run_id)
        self._database.write([Delete(owner.key)])
        for prefix in owner.prefixes:
            self._database.write_in_batches(
                Delete(key)
                for item in self._database.query_prefix(owner.key.pk, prefix)
                # the rows that repeat an item are deleted before it, or nothing would name them
                for key in (*derived_keys(item), key_of(item))
            )
        # the look-up is last: an interrupted removal can be repeated
        self._database.write([Delete(owner.lookup)])
        self._runs.drop_cached(run_id)

    def remove_experiment(self, experiment_id: str) -> None:
        """Remove a deleted experiment, with all items of its partition."""
        self.remove_stored(self._experiments.find(experiment_id, ViewType.DELETED_ONLY))

    def remove_stored(self, stored: StoredExperiment) -> None:
        """Remove an experiment in any stage, with all items of its partition."""
        pk = keys.EXPERIMENT.key(experiment_id=stored.experiment_id).pk
        lookups = [
            keys.RUN_LOOKUP.key(run_id=run.run_id)
            for run in self._runs.by_time(stored.experiment_id)
        ]
        lookups += [
            keys.TRACE_LOOKUP.key(trace_id=trace_id)
            for _, trace_id in self._traces.ids_by_time(stored.experiment_id)
        ]
        lookups += [
            keys.MODEL_LOOKUP.key(model_id=model.model_id)
            for model in self._models.in_experiment(stored.experiment_id)
        ]
        self._experiments.remove(stored)
        self._database.write_in_batches(Delete(key) for key in lookups)
        self._database.write_in_batches(
            Delete(key)
            for item in self._database.query(pk)
            for key in (*_elsewhere(item), key_of(item))
        )


def _elsewhere(item: Item) -> list[Key]:
    """Return the keys of items in other partitions that belong to an item of an experiment."""
    key = key_of(item)
    if (fields := keys.ISSUE.parse(key)) is not None:
        return [keys.ISSUE_LOOKUP.key(issue_id=fields["issue_id"])]
    if keys.SCORER.parse(key) is not None:
        return [keys.ONLINE_SCORING.key(scorer_id=item["scorer_id"])]
    return [derived for derived in derived_keys(item) if derived.pk != key.pk]
