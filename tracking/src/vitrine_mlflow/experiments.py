"""Experiments and their tags."""

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from mlflow.entities import Experiment, ExperimentTag, LifecycleStage, ViewType

from vitrine_mlflow import keys
from vitrine_mlflow.addresses import require_folder
from vitrine_mlflow.config import RUN_NAMES
from vitrine_mlflow.context import DEFAULT_WORKSPACE, Context
from vitrine_mlflow.database import TRANSACTION_WRITES, Range
from vitrine_mlflow.errors import (
    ConflictError,
    exists,
    invalid,
    missing_error,
    violated_error,
    wrong_state,
)
from vitrine_mlflow.experiment_items import (
    RUN_NAMES_INDEXED,
    StoredExperiment,
    id_of,
    index_keys,
    name_key,
    new_item,
    reservation,
    reversed_name,
    tag_attributes,
    tag_put,
)
from vitrine_mlflow.expressions import ABSENT, PRESENT, Delete, Item, Put, Update, Write
from vitrine_mlflow.full_text import (
    EXPERIMENT_TYPE,
    MOST_TOKENS,
    NameIndex,
    holder_of_experiment,
    tokens_of,
)
from vitrine_mlflow.keys import Key
from vitrine_mlflow.lending import require_lent
from vitrine_mlflow.mlflow_api import (
    joined_uri,
    local_uri,
    parsed_experiment_id,
    stages_of,
    validate_artifact_location_length,
    validate_experiment_name,
    validate_experiment_tag,
)
from vitrine_mlflow.table import GSI2, GSI5, INFO, PARTITION_KEY, TAGS

DEFAULT_ID = "0"
_ACTIVE, _DELETED = LifecycleStage.ACTIVE, LifecycleStage.DELETED
# An experiment is read at most every five seconds in each process, so writes of runs keep their
# budgets (decision 65).
_RECENT_SECONDS = 5
# With 100,000 experiments, one creation in 20,000 draws twice.
_ID_DRAWS = 8
_METADATA = 0  # the position in the transaction of a creation
# Bounds the memory of a server; the cache is emptied then and fills again within seconds.
_RECENT_EXPERIMENTS = 1_000


class Experiments:
    """Creates, reads, renames, tags experiments; runs of a deleted one are swept by their part."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._database = context.owned_database
        self._names = NameIndex(context.owned_database, EXPERIMENT_TYPE)
        self._recent: dict[tuple[str, str], tuple[float, StoredExperiment]] = {}

    def ensure_default(self) -> None:
        """Create the experiment 0 that MLflow's clients and UI expect."""
        if self._context.database.get(keys.EXPERIMENT.key(experiment_id=DEFAULT_ID)) is None:
            try:
                self._create(DEFAULT_ID, "Default", None, {}, DEFAULT_WORKSPACE)
            except ConflictError:
                return  # another store created it

    def create(self, name: str, location: str | None, tags: Iterable[ExperimentTag] | None) -> str:
        # Otherwise artifacts of one workspace could be below the root of another one.
        if location and self._context.isolation is not None:
            raise invalid("artifact_location cannot be specified when workspaces are enabled")
        validate_experiment_name(name)
        if location:
            # as it was sent: the error of a resolved path would show the server's directory
            root, workspace = self._context.artifact_root, self._context.workspace
            require_folder(location, "artifact_location", root, workspace)
            location = local_uri(location)
            validate_artifact_location_length(location)
        values: dict[str, str] = {}
        for tag in tags or []:
            validate_experiment_tag(tag.key, tag.value)
            values[tag.key] = tag.value
        self._context.record_workspace()
        for _ in range(_ID_DRAWS):
            experiment_id = self._context.sources.new_experiment_id()
            if self._context.database.get(keys.EXPERIMENT.key(experiment_id=experiment_id)):
                continue  # before its tags would be written to that experiment
            try:
                self._create(experiment_id, name, location, values, self._context.workspace)
            except ConflictError as error:
                if _METADATA not in error.failed:
                    raise exists(
                        f"Experiment(name={name}) already exists. Error: the name is reserved"
                    ) from error
            else:
                return experiment_id
        raise wrong_state(f"All of {_ID_DRAWS} ids drawn for an experiment are taken. Try again.")

    def _create(
        self,
        experiment_id: str,
        name: str,
        location: str | None,
        tags: dict[str, str],
        workspace: str,
    ) -> None:
        if not location:
            location = joined_uri(self._context.root_of(workspace), experiment_id)
            # before anything is written (decision 73)
            require_lent(location, "artifact_location", workspace)
        item = new_item(
            experiment_id,
            {"name": name, "location": location,
             "workspace": workspace},
            self._context.sources.now_ms(),
            tags,
        )  # fmt: skip
        if self._context.config.value(RUN_NAMES):
            item[RUN_NAMES_INDEXED] = True
        tag_items = [tag_put(experiment_id, key, value) for key, value in tags.items()]
        writes = [
            Put(item, {PARTITION_KEY: ABSENT}),
            reservation(experiment_id, name, workspace),
            reversed_name(experiment_id, name),
            *holder_of_experiment(experiment_id).puts(tokens_of(name)),
        ]
        room = TRANSACTION_WRITES - len(writes)
        # what is written before the metadata belongs to no experiment yet, so no reader sees it
        self._database.write_in_batches(tag_items[room:])
        self._database.write([*writes, *tag_items[:room]])

    def require_storable_artifacts(self, experiment: StoredExperiment) -> None:
        """Refuse new artifacts in an experiment whose location a server must not write to.

        Raises:
            MlflowException: this process serves others and may not use the location.
        """
        field = f"The artifact location of experiment '{experiment.experiment_id}'"
        if self._context.isolation is None:
            root = self._context.artifact_root
            require_folder(experiment.location, field, root, is_shown=False)
        else:  # no user has chosen it: it is below the root of its workspace
            require_lent(experiment.location, field)

    def find(self, experiment_id: str | None, view: Any = ViewType.ALL) -> StoredExperiment:
        """The metadata of an experiment of this workspace.

        Raises:
            MlflowException: there is none in this view.
        """
        number = parsed_experiment_id(experiment_id or DEFAULT_ID)
        item = self._database.get(keys.EXPERIMENT.key(experiment_id=str(number)))
        if item is None or not self._is_visible(item, stages_of(view)):
            raise missing_error(f"No Experiment with id={number} exists")
        return StoredExperiment(str(number), item)

    def recent(self, experiment_id: str | None) -> StoredExperiment:
        """The same, as it was at most five seconds ago: its location does not change.

        Raises:
            MlflowException: there is none.
        """
        experiment_id = experiment_id or DEFAULT_ID
        key = (self._context.workspace, experiment_id)
        known = self._recent.get(key)
        if known is None or time.monotonic() - known[0] > _RECENT_SECONDS:
            if len(self._recent) >= _RECENT_EXPERIMENTS:
                self._recent.clear()
            known = self._recent[key] = (time.monotonic(), self.find(experiment_id))
        return known[1]

    def owns(self, experiment_id: str) -> bool:
        """Return whether an experiment belongs to the workspace of the request."""
        return self._database.owns(experiment_id)

    def _is_visible(self, item: Item, stages: set[str]) -> bool:
        info = item[INFO]
        return info["stage"] in stages and info["workspace"] == self._context.workspace

    def existing_of(self, experiment_ids: Sequence[str]) -> list[str]:
        """Return those of the ids that are experiments of this workspace, also deleted ones."""
        return self._of(experiment_ids, {_ACTIVE, _DELETED})

    def active_of(self, experiment_ids: Sequence[str]) -> list[str]:
        """Return those of the ids that are experiments of this workspace and not deleted."""
        return self._of(experiment_ids, {_ACTIVE})

    def _of(self, experiment_ids: Sequence[str], stages: set[str]) -> list[str]:
        wanted = {
            experiment_id: keys.EXPERIMENT.key(experiment_id=experiment_id)
            for experiment_id in experiment_ids
        }
        items = self._database.get_many(wanted.values()) if wanted else {}
        return [
            experiment_id
            for experiment_id, key in wanted.items()
            if key in items and self._is_visible(items[key], stages)
        ]

    def get(self, experiment_id: str) -> Experiment:
        return self.entity(self.find(experiment_id))

    def get_by_name(self, name: str) -> Experiment | None:
        """The experiment that has reserved a name; the reservation is read consistently."""
        # Not by the index of names, which lags.
        reserved = self._database.get(name_key(name, self._context.workspace))
        return None if reserved is None else self.get(reserved["experiment_id"])

    def ids_in_workspace(self) -> list[str]:
        """All experiments of the workspace, by the index, which may lag."""
        pk = f"WS#{self._context.workspace}"
        return [id_of(item) for item in self._database.query(pk, index=GSI2)]

    def listed_by_name(self, names: Range | None = None) -> Iterator[StoredExperiment]:
        """Experiments of the workspace in the order of their names, by the index."""
        pk = f"WS#{self._context.workspace}#EXP"
        for item in self._database.query(pk, names, index=GSI5):
            yield StoredExperiment(id_of(item), item)

    def with_trigrams(self, required: list[str]) -> list[StoredExperiment] | None:
        """Experiments of the workspace whose names may have all these trigrams.

        None if the trigrams select too little. The index may lag; experiments are read themselves.
        """
        partitions = self._names.partitions(required)
        if partitions is None:
            return None
        wanted = [Key(pk, keys.EXPERIMENT.sk.text) for pk in sorted(partitions)]
        items = self._database.get_many(wanted) if wanted else {}
        stages = {_ACTIVE, _DELETED}
        visible = [item for item in items.values() if self._is_visible(item, stages)]
        return [StoredExperiment(id_of(item), item) for item in visible]

    def entity(self, stored: StoredExperiment) -> Experiment:
        tags = self.tags_of(stored)
        info = stored.info
        return Experiment(
            experiment_id=stored.experiment_id,
            name=stored.name,
            artifact_location=stored.location,
            lifecycle_stage=stored.stage,
            tags=[ExperimentTag(key, value) for key, value in tags.items()],
            creation_time=info["created"],
            last_update_time=info["updated"],
            workspace=info["workspace"],
        )

    def tags_of(self, stored: StoredExperiment) -> dict[str, str]:
        # Small tags are in the item, so that most reads are one request.
        if "more_tags" not in stored.info:
            return stored.tags
        pk = keys.EXPERIMENT.key(experiment_id=stored.experiment_id).pk
        items = self._database.query_prefix(pk, keys.EXPERIMENT_TAG.prefix())
        return {item["key"]: item["value"] for item in items}

    def set_stage(self, stored: StoredExperiment, stage: str) -> None:
        """Change the lifecycle stage; `sweep` remains until the runs have it too."""
        # The stage counts at once; its runs follow, also if this process dies meanwhile.
        info = {**stored.info, "stage": stage, "updated": self._context.sources.now_ms()}
        self._update(stored, {INFO: info, "sweep": stage})

    def finish_sweep(self, experiment_id: str) -> None:
        key = keys.EXPERIMENT.key(experiment_id=experiment_id)
        self._database.write([Update(key, removes=["sweep"], condition={PARTITION_KEY: PRESENT})])

    def rename(self, experiment_id: str, name: str) -> None:
        validate_experiment_name(name)
        stored = self.find(experiment_id)
        if stored.stage != _ACTIVE:
            raise wrong_state("Cannot rename a non-active experiment.")
        info = {**stored.info, "name": name, "updated": self._context.sources.now_ms()}
        own_id, workspace = stored.experiment_id, self._context.workspace
        renamed: list[Write] = []
        deletes: list[Delete] = []
        if name != stored.name:
            holder, tokens = holder_of_experiment(own_id), tokens_of(name)
            known = holder.stored_tokens(self._database)
            renamed = [
                reservation(own_id, name, workspace),
                # On condition that it is still its own: another rename may have freed it.
                Delete(name_key(stored.name, workspace), {"experiment_id": own_id}),
                reversed_name(own_id, name),
                *holder.puts(tokens - known),
            ]
            deletes = holder.deletes(known - tokens)
        # If not, rows of the former name are removed afterwards: they only cost reads.
        fits = 1 + len(renamed) + len(deletes) <= TRANSACTION_WRITES
        writes = [*renamed, *deletes] if fits else renamed
        try:
            self._update(stored, {INFO: info, **index_keys(own_id, name, workspace)}, writes)
        except ConflictError as error:
            raise violated_error(f"Experiment(name={name}) already exists.") from error
        if not fits:
            self._database.retry(lambda: self._remove_former_rows(own_id))

    def _remove_former_rows(self, experiment_id: str) -> None:
        """Remove the full-text rows of former names, which only cost reads until then.

        The revision keeps another rename from counting on a row that is removed here.
        """
        holder = holder_of_experiment(experiment_id)
        stored = self.find(experiment_id)
        former = sorted(holder.stored_tokens(self._database) - tokens_of(stored.name))
        if former:
            self._update(stored, {}, holder.deletes(former[:MOST_TOKENS]))

    def move(self, stored: StoredExperiment, workspace: str) -> None:
        """Place an experiment in another workspace.

        Raises:
            ConflictError: its name is taken there, or another writer came between.
        """
        own_id = stored.experiment_id
        info = {**stored.info, "workspace": workspace}
        self._update(
            stored,
            {INFO: info, **index_keys(own_id, stored.name, workspace)},
            [
                reservation(own_id, stored.name, workspace),
                Delete(name_key(stored.name, stored.info["workspace"])),
            ],
        )

    def remove(self, stored: StoredExperiment) -> None:
        """Remove the metadata and free the name."""
        self._recent.clear()
        key = keys.EXPERIMENT.key(experiment_id=stored.experiment_id)
        own = {"experiment_id": stored.experiment_id}
        reserved = name_key(stored.name, stored.info["workspace"])
        self._database.write([Delete(key), Delete(reserved, own)])

    def set_tag(self, experiment_id: str, tag: ExperimentTag) -> None:
        validate_experiment_tag(tag.key, tag.value)

        def attempt() -> None:
            stored = self.find(experiment_id)
            stored.require_active()
            changed = {**stored.tags, tag.key: tag.value}
            put = tag_put(stored.experiment_id, tag.key, tag.value)
            self._update(stored, tag_attributes(stored, changed), [put])

        self._database.retry(attempt)

    def delete_tag(self, experiment_id: str, key: str) -> None:
        stored = self.find(experiment_id)
        stored.require_active()
        own_id = stored.experiment_id
        tag_key = keys.EXPERIMENT_TAG.key(experiment_id=own_id, key=key)
        remaining = {name: value for name, value in stored.tags.items() if name != key}
        try:
            self._update(stored, {TAGS: remaining}, [Delete(tag_key, {PARTITION_KEY: PRESENT})])
        except ConflictError as error:
            raise missing_error(
                f"No tag with name: {key} in experiment with id {experiment_id}"
            ) from error

    def _update(
        self, stored: StoredExperiment, sets: dict[str, Any], writes: Iterable[Write] = ()
    ) -> None:
        self._recent.clear()
        key = keys.EXPERIMENT.key(experiment_id=stored.experiment_id)
        sets = {**sets, "revision": stored.revision + 1}
        self._database.write([Update(key, sets, condition={"revision": stored.revision}), *writes])
