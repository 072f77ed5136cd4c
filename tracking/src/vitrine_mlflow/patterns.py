"""The access patterns of the table: each with its keys and the function that implements it.

The reference page is written from this declaration, and a test runs every pattern.
"""

from dataclasses import dataclass

from vitrine_mlflow import keys
from vitrine_mlflow.keys import Entity
from vitrine_mlflow.table import GSI2, GSI4, GSI5, LSI1, LSI2, LSI3, LSI4, LSI5, Index


@dataclass(frozen=True)
class AccessPattern:
    """An operation on items of one entity, by the table's own key or by an index."""

    area: str
    operation: str
    entity: Entity
    function: str  # below the package `vitrine_mlflow`
    index: Index | None = None
    note: str = ""  # where it differs from the schema

    @property
    def name(self) -> str:
        return f"{self.area}: {self.operation}"

    @property
    def key(self) -> str:
        """The key that the operation uses, as text."""
        if self.index is None:
            return f"PK={self.entity.pk.text}, SK={self.entity.sk.text}"
        short = self.index.name.lower()
        if short in self.entity.indexes:
            return f"{self.index.name}: {self.index.pk}={self.entity.indexes[short][0].text}"
        return f"{self.index.name}: PK={self.entity.pk.text}, ordered by {self.index.sk}"


def _patterns(area: str, *rows: tuple[object, ...]) -> list[AccessPattern]:
    return [AccessPattern(area, *row) for row in rows]  # pyright: ignore[reportArgumentType]


_RUNS_BY_STAGE = "LSI1, since `begins_with R#` would also read metrics, params and tags"
_NO_LAG = "it does not lag, unlike the keys for this in"

PATTERNS: tuple[AccessPattern, ...] = (
    *_patterns(
        "Experiments",
        ("Get experiment by ID", keys.EXPERIMENT, "experiments.Experiments.find"),
        ("Get experiment by name", keys.EXPERIMENT_NAME, "experiments.Experiments.get_by_name",
         None, f"the reservation of the name; {_NO_LAG} GSI3"),
        ("List experiments in workspace", keys.EXPERIMENT,
         "experiments.Experiments.ids_in_workspace", GSI2),
        ("List experiments by name", keys.EXPERIMENT, "experiments.Experiments.listed_by_name",
         GSI5),
        ("Create experiment", keys.EXPERIMENT, "experiments.Experiments.create", None,
         "a reservation of the name in the same transaction makes it unique"),
        ("Delete/restore experiment", keys.EXPERIMENT, "experiments.Experiments.set_stage"),
        ("Set experiment tag", keys.EXPERIMENT_TAG, "experiments.Experiments.set_tag"),
        ("Search experiments (FTS)", keys.FTS, "search.experiments.search_experiments", GSI2,
         "tokens are three letters; the experiments themselves are read after that"),
    ),
    *_patterns(
        "Runs",
        ("Get run by ID", keys.RUN_LOOKUP, "runs.Runs.experiment_of", None,
         f"the look-up item; {_NO_LAG} GSI1"),
        ("List runs in experiment", keys.RUN, "runs.Runs.in_stage", LSI1, _RUNS_BY_STAGE),
        ("Filter runs by lifecycle", keys.RUN, "runs.Runs.in_stage", LSI1),
        ("Sort runs by start time", keys.RUN, "runs.Runs.by_time", LSI2),
        ("Filter runs by status", keys.RUN, "search.runs.RunSearch.search", LSI3),
        ("Sort runs by name", keys.RUN, "search.runs.RunSearch.search", LSI4),
        ("Sort runs by metric", keys.RUN, "search.runs.RunSearch.search", LSI5,
         "the experiment's primary metric; others by their rank rows"),
        ("Create run", keys.RUN, "runs.Runs.create"),
        ("Update run info", keys.RUN, "details.Details.update_info"),
        ("Delete/restore run", keys.RUN, "runs.Runs.delete"),
    ),
    *_patterns(
        "Metrics, params and tags",
        ("Log metric", keys.METRIC, "metrics.Metrics.log"),
        ("Log metric history", keys.METRIC_HISTORY, "metrics.Metrics.log", None,
         "a last segment keeps values of one step and time apart"),
        ("Get metric history", keys.METRIC_HISTORY, "metrics.Metrics.history"),
        ("Log param", keys.PARAM, "details.Details.log_param"),
        ("Get all params for run", keys.PARAM, "histories.read_run"),
        ("Set run tag", keys.TAG, "details.Details.set_tag"),
        ("Get all tags for run", keys.TAG, "histories.read_run", None,
         "params and tags are one range"),
        ("Log batch (metrics + params + tags)", keys.METRIC, "store.DynamoTrackingStore.log_batch"),
    ),
    *_patterns(
        "Search and ranking",
        ("Search runs by metric value", keys.METRIC_RANK, "search.runs.RunSearch.search"),
        ("Search runs by param value", keys.PARAM_RANK, "search.runs.RunSearch.search"),
        ("Full-text search (forward)", keys.FTS, "full_text.RunNames.like", None,
         "names of runs, where the setting `full_text.run_names` was on"),
        ("Full-text search (global)", keys.FTS, "full_text.NameIndex.partitions", GSI2,
         "names of experiments and registered models"),
        ("FTS index cleanup", keys.FTS_REV, "full_text.Holder.stored_tokens", None,
         "of a former name, in the transaction of the rename where it fits"),
    ),
    *_patterns(
        "Traces",
        ("Get trace by ID", keys.TRACE_LOOKUP, "traces.store.TraceStore.experiment_of", None,
         f"the look-up item; {_NO_LAG} GSI1"),
        ("List traces in experiment", keys.TRACE, "traces.store.TraceStore.ids_by_time", LSI2,
         "LSI2, since `begins_with T#` would also read tags and spans"),
        ("Sort traces by time", keys.TRACE, "traces.store.TraceStore.ids_by_time", LSI2),
        ("Sort traces by name", keys.TRACE, "traces.store.TraceStore.ids_by_name", LSI4),
        ("Set trace tag", keys.TRACE_TAG, "traces.traces.Traces.set_tag", None,
         "also packed into the trace, as searches return it"),
        ("Get trace spans", keys.SPANS, "traces.store.TraceStore.spans"),
        ("Create trace + spans", keys.SPANS, "traces.traces.Traces.log_spans"),
    ),
    *_patterns(
        "Datasets",
        ("Create dataset", keys.DATASET, "datasets.Datasets.log_inputs"),
        ("Get dataset", keys.DATASET, "datasets.Datasets.of_inputs"),
        ("Link dataset to run", keys.DATASET_LINK, "datasets.Datasets.log_inputs"),
        ("List datasets for run", keys.INPUT, "histories.read_run", None,
         "inputs also have tags; the links are written for readers of the schema"),
    ),
    *_patterns(
        "Logged models",
        ("Log model to run", keys.RUN_MODEL, "datasets.Datasets.log_outputs"),
        ("List logged models for run", keys.RUN_MODEL, "histories.read_run"),
    ),
    *_patterns(
        "Model registry",
        ("Create registered model", keys.MODEL, "registry.models.Models.create"),
        ("Get registered model", keys.MODEL, "registry.models.Models.require"),
        ("Get model by name", keys.MODEL, "registry.models.Models.require", None,
         f"names are part of the key; {_NO_LAG} GSI3"),
        ("List registered models", keys.MODEL, "registry.models.Models.listed_by_name", GSI5),
        ("Create model version", keys.MODEL_VERSION, "registry.versions.Versions.create"),
        ("Get model version", keys.MODEL_VERSION, "registry.versions.Versions.get"),
        ("List model versions", keys.MODEL_VERSION, "registry.models.Models.find", None,
         "one range with the model's tags and aliases"),
        ("Set model tag", keys.MODEL_TAG, "registry.models.Models.set_tag"),
        ("Set model alias", keys.MODEL_ALIAS, "registry.versions.Versions.set_alias"),
        ("Get model by alias", keys.MODEL_ALIAS, "registry.models.Models.version_of_alias"),
    ),
    *_patterns(
        "Authentication and authorization",
        ("Create user", keys.USER, "auth.users.Users.create"),
        ("Get user", keys.USER, "auth.items.AuthItems.user"),
        ("Authenticate user", keys.USER, "auth.users.Users.authenticate"),
        ("Grant experiment permission", keys.EXPERIMENT_PERMISSION, "auth.roles.Grants.create"),
        ("Check experiment permission", keys.EXPERIMENT_PERMISSION, "auth.roles.Grants.find",
         None, "MLflow's app also reads the permissions of the user's roles"),
        ("List permissions for experiment", keys.EXPERIMENT_PERMISSION,
         "auth.roles.Grants.for_resource", GSI4),
        ("Grant registry permission", keys.MODEL_PERMISSION, "auth.roles.Grants.create"),
        ("Check registry permission", keys.MODEL_PERMISSION, "auth.roles.Grants.find"),
        ("List permissions for model", keys.MODEL_PERMISSION, "auth.roles.Grants.for_resource",
         GSI4),
    ),
    *_patterns(
        "Workspace",
        ("Get workspace", keys.WORKSPACE, "workspaces.DynamoWorkspaceStore.find"),
        ("Create/update workspace", keys.WORKSPACE,
         "workspaces.DynamoWorkspaceStore.create_workspace"),
    ),
    *_patterns(
        "Configuration",
        ("Get config value", keys.CONFIG, "config.Config.get"),
        ("Set config value", keys.CONFIG, "config.Config.set"),
        ("List all config", keys.CONFIG, "config.Config.all"),
    ),
)  # fmt: skip
