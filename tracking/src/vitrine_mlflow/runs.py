"""Runs: creation, lifecycle, and the look-up from a run's id to its experiment."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mlflow.entities import LifecycleStage, RunInfo, RunTag
from mlflow.exceptions import MlflowException

from vitrine_mlflow import keys
from vitrine_mlflow.config import DELETED_RUNS_EXPIRE
from vitrine_mlflow.context import Context
from vitrine_mlflow.database import TRANSACTION_WRITES, Range
from vitrine_mlflow.encoding import SORT_KEY_BYTES, clip, iso_time, ordered_text
from vitrine_mlflow.errors import invalid, missing_error
from vitrine_mlflow.experiment_items import RUN_NAMES_INDEXED, StoredExperiment
from vitrine_mlflow.experiments import Experiments
from vitrine_mlflow.expressions import ABSENT, Delete, Item, Put, Update, Write, key_of, with_key
from vitrine_mlflow.full_text import MOST_TOKENS, holder_of_run, tokens_of_run
from vitrine_mlflow.keys import Key
from vitrine_mlflow.mlflow_api import MLFLOW_RUN_NAME, joined_uri, run_name_of_tags
from vitrine_mlflow.summaries import DETAILS, TAG, SummaryChain
from vitrine_mlflow.table import EXPIRES_AT, INFO, LSI1, LSI2, PARTITION_KEY, SORT_KEY

_ACTIVE, _DELETED = LifecycleStage.ACTIVE, LifecycleStage.DELETED
# Experiments of runs, which never change. Some 100 bytes each: 2 MB.
_KNOWN_RUNS = 20_000
# Of 100 writes, with the run, its look-up and its rows of full text.
_WRITES_OF_TAGS = 80
# The rest of a sort key of 1,024 bytes is for the prefix and the run's id.
_NAME_BYTES = SORT_KEY_BYTES - 300
_NAME_START = 170  # so many characters of a name are in the index of names, even of four bytes each


@dataclass(frozen=True)
class StoredRun:
    """The item of a run, whole or as an index has it."""

    experiment_id: str
    run_id: str
    item: Item

    @property
    def info(self) -> dict[str, Any]:
        return self.item[INFO]

    @property
    def key(self) -> Key:
        return keys.RUN.key(experiment_id=self.experiment_id, run_id=self.run_id)

    @property
    def is_active(self) -> bool:
        return self.info["stage"] == _ACTIVE

    def require_active(self) -> None:
        """Refuse a change of a deleted run.

        Raises:
            MlflowException: it is deleted.
        """
        if not self.is_active:
            raise invalid(
                f"The run {self.run_id} must be in the 'active' state. "
                f"Current state is {self.info['stage']}."
            )

    def entity(self) -> RunInfo:
        info = self.info
        return RunInfo(
            run_id=self.run_id,
            run_name=info["name"],
            experiment_id=self.experiment_id,
            user_id=info["user"],
            status=info["status"],
            start_time=info["start"],
            end_time=info["end"],
            lifecycle_stage=info["stage"],
            artifact_uri=info["uri"],
        )


class Runs:
    """The items of runs themselves; what they log belongs to other parts."""

    def __init__(self, context: Context, experiments: Experiments) -> None:
        self._context = context
        self._database = context.owned_database
        self._experiments = experiments
        self._experiment_ids: dict[str, str] = {}  # never changes for a run

    @property
    def isolated(self) -> bool:
        """Whether workspaces are enabled."""
        return self._context.isolation is not None

    def experiment_of(self, run_id: str) -> str:
        """The experiment of a run, by the item that was written with it.

        Raises:
            MlflowException: there is no such run.
        """
        known = self._experiment_ids.get(run_id)
        if known is None:
            item = self._database.get(keys.RUN_LOOKUP.key(run_id=run_id)) if run_id else None
            if item is None:
                raise not_found(run_id)
            known = self._remember(run_id, item["experiment_id"])
        # Also for known ones: the workspace is that of the request.
        if not self._database.owns(known):
            raise not_found(run_id)
        return known

    def _remember(self, run_id: str, experiment_id: str) -> str:
        if len(self._experiment_ids) >= _KNOWN_RUNS:
            # Simpler than the oldest: each costs one read of its look-up item.
            self._experiment_ids.clear()
        self._experiment_ids[run_id] = experiment_id
        return experiment_id

    def exists(self, run_id: str) -> bool:
        """Whether the id was given to a run, deleted or not."""
        try:
            self.experiment_of(run_id)
        except MlflowException as error:
            if error.error_code != "RESOURCE_DOES_NOT_EXIST":
                raise
            return False
        return True

    def drop_cached(self, run_id: str) -> None:
        """Drop the cached data of a run that was permanently removed."""
        self._experiment_ids.pop(run_id, None)

    def key(self, run_id: str) -> Key:
        return keys.RUN.key(experiment_id=self.experiment_of(run_id), run_id=run_id)

    def find(self, run_id: str) -> StoredRun:
        """The run's item, read consistently.

        Raises:
            MlflowException: there is no such run.
        """
        return self.stored_run(run_id, self._database.get(self.key(run_id)))

    def stored_run(self, run_id: str, item: Item | None) -> StoredRun:
        """A run of an item that was read with others.

        Raises:
            MlflowException: it does not exist.
        """
        if item is None:
            raise not_found(run_id)
        return StoredRun(self.experiment_of(run_id), run_id, item)

    def create(
        self,
        experiment_id: str,
        user_id: str,
        start_time: int | None,
        tags: Sequence[RunTag] | None,
        run_name: str | None,
    ) -> tuple[StoredRun, list[RunTag]]:
        experiment = self._experiments.find(experiment_id)
        experiment.require_active()
        tags = list(tags or [])
        name_tag = run_name_of_tags(tags)
        if run_name and name_tag and run_name != name_tag:
            raise invalid(
                "Both 'run_name' argument and 'mlflow.runName' tag are specified, but with "
                f"different values (run_name='{run_name}', mlflow.runName='{name_tag}')."
            )
        name = run_name or name_tag or self._context.sources.random_name()
        # MLflow's own store keeps the name as a tag, too, which searches by tags find.
        if not name_tag:
            tags.append(RunTag(MLFLOW_RUN_NAME, name))
        info = {
            "name": name,
            "user": user_id,
            "status": "RUNNING",
            "start": start_time,
            "end": None,
            "stage": _ACTIVE,
        }
        return self._write_new(experiment, info, tags), tags

    def _write_new(
        self, experiment: StoredExperiment, info: dict[str, Any], tags: Sequence[RunTag]
    ) -> StoredRun:
        self._experiments.require_storable_artifacts(experiment)
        run_id = self._context.sources.new_hex()
        info["uri"] = joined_uri(experiment.location, run_id, "artifacts")
        experiment_id = experiment.experiment_id
        key = keys.RUN.key(experiment_id=experiment_id, run_id=run_id)
        item = with_key(
            key,
            {
                INFO: info,
                "revision": 1,
                **keys.RUN.index_keys(experiment_id=experiment_id, run_id=run_id),
                **index_attributes(run_id, info),
            },
        )
        rows: list[Put] = []
        if RUN_NAMES_INDEXED in experiment.item:
            item[RUN_NAMES_INDEXED] = True
            rows = holder_of_run(experiment_id, run_id).puts(tokens_of_run(info["name"]))
        lookup = with_key(keys.RUN_LOOKUP.key(run_id=run_id), {"experiment_id": experiment_id})
        tag_puts = _tag_puts(experiment_id, run_id, tags)
        room = min(_WRITES_OF_TAGS, TRANSACTION_WRITES - len(rows) - 2)
        # without the run's own item no reader sees the tags that do not fit into its transaction
        self._database.write_in_batches(tag_puts[room:])
        absent = {PARTITION_KEY: ABSENT}
        self._database.write([Put(item, absent), Put(lookup, absent), *rows, *tag_puts[:room]])
        self._remember(run_id, experiment_id)
        return StoredRun(experiment_id, run_id, item)

    def change(
        self, stored: StoredRun, changes: dict[str, Any], writes: Iterable[Write] = ()
    ) -> StoredRun:
        """Change attributes of a run, with other writes, if it was not changed meanwhile.

        Raises:
            ConflictError: another writer came between.
        """
        info = {**stored.info, **changes}
        puts, deletes = self._changed_rows(stored, info["name"])
        writes = list(writes)
        if puts and len(writes) + len(puts) >= TRANSACTION_WRITES:
            # rows of a name that the run does not have yet only cost reads
            stored = self._write_change(stored, {}, puts)
            # The rows of the new name first: a search that needs them would miss the run otherwise.
            puts = []
        sets = {INFO: info, **index_attributes(stored.run_id, info)}
        stored = self._write_change(stored, sets, [*writes, *puts])
        # Last, because rows too many only cost reads (decision 70).
        return self._write_change(stored, {}, deletes) if deletes else stored

    def _write_change(
        self,
        stored: StoredRun,
        sets: dict[str, Any],
        writes: Sequence[Write] = (),
        removes: Sequence[str] = (),
    ) -> StoredRun:
        revision: int = stored.item["revision"]
        sets = {**sets, "revision": revision + 1}
        update = Update(stored.key, sets, removes, condition={"revision": revision})
        self._database.write([update, *writes])
        return StoredRun(stored.experiment_id, stored.run_id, {**stored.item, **sets})

    def _changed_rows(self, stored: StoredRun, name: str) -> tuple[list[Put], list[Delete]]:
        """Full-text rows that a new name adds, and those of former names."""
        if RUN_NAMES_INDEXED not in stored.item or name == stored.info["name"]:
            return [], []
        holder, tokens = holder_of_run(stored.experiment_id, stored.run_id), tokens_of_run(name)
        known = holder.stored_tokens(self._database)
        former = sorted(known - tokens)[:MOST_TOKENS]
        return holder.puts(tokens - known), holder.deletes(former)

    def delete(self, run_id: str) -> None:
        now = self._context.sources.now_ms()
        expiry = self._context.config.expires_at(DELETED_RUNS_EXPIRE, now)
        self._set_stage(run_id, {"stage": _DELETED, "deleted": now}, expiry)

    def restore(self, run_id: str) -> None:
        self._set_stage(run_id, {"stage": _ACTIVE, "deleted": None}, None)

    def _set_stage(self, run_id: str, changes: dict[str, Any], expiry: int | None) -> None:
        def attempt() -> None:
            stored = self.find(run_id)
            info = {**stored.info, **changes}
            sets: dict[str, Any] = {INFO: info, **index_attributes(run_id, info)}
            if expiry is None:
                # A restored run must not expire.
                self._write_change(stored, sets, removes=[EXPIRES_AT])
            else:
                self._write_change(stored, {**sets, EXPIRES_AT: expiry})

        self._database.retry(attempt)

    def sweep(self, experiment_id: str, stage: str) -> None:
        """Give all runs of an experiment its stage; repeating it completes a sweep."""
        wrong = _DELETED if stage == _ACTIVE else _ACTIVE
        # A list: each change moves the run in the index that is being read.
        for stored in list(self.in_stage(experiment_id, wrong)):
            if stage == _ACTIVE:
                self.restore(stored.run_id)
            else:
                self.delete(stored.run_id)

    def in_stage(
        self, experiment_id: str, stage: str, backward: bool = False
    ) -> Iterator[StoredRun]:
        """Runs of a lifecycle stage by start time."""
        pk = keys.EXPERIMENT.key(experiment_id=experiment_id).pk
        prefix = f"{stage.upper()}#"
        for item in self._database.query_prefix(pk, prefix, index=LSI1, backward=backward):
            yield run_of_item(item)

    def by_time(self, experiment_id: str) -> Iterator[StoredRun]:
        """Runs of all stages by start time."""
        pk = keys.EXPERIMENT.key(experiment_id=experiment_id).pk
        for item in self._database.query(pk, Range("-", "~"), index=LSI2):
            # Traces of the experiment have times in the same index.
            if item[SORT_KEY].startswith("R#"):
                yield run_of_item(item)


def not_found(run_id: str) -> Exception:
    return missing_error(f"Run with id={run_id} not found")


def run_of_item(item: Item) -> StoredRun:
    fields = keys.RUN.parse(key_of(item)) or {}
    return StoredRun(fields["experiment_id"], fields["run_id"], item)


def indexed_name(name: str) -> str:
    """A run's name in the index of names, which sorts as names do."""
    return clip(ordered_text(name), _NAME_BYTES)


def name_start(indexed: str) -> str:
    """The start of a key in that index by which all names sort."""
    # Longer names are in the index with a digest: among those that share the start only the names
    # themselves show the order.
    return f"{indexed}#"[:_NAME_START]


def index_attributes(run_id: str, info: dict[str, Any]) -> dict[str, str]:
    """The run's keys in the local indexes, without the metric's."""
    start = iso_time(info["start"])
    return {
        "lsi1sk": f"{info['stage'].upper()}#{start}#{run_id}",
        "lsi2sk": f"{start}#{run_id}",
        "lsi3sk": f"{info['status']}#{start}#{run_id}",
        "lsi4sk": f"{indexed_name(info['name'] or '')}#{run_id}",
    }


def tag_key(experiment_id: str, run_id: str, key: str) -> Key:
    return keys.TAG.key(experiment_id=experiment_id, run_id=run_id, key=key)


def _tag_puts(experiment_id: str, run_id: str, tags: Sequence[RunTag]) -> list[Put]:
    chain = SummaryChain(experiment_id, run_id, DETAILS)
    puts: list[Put] = []
    for name, value in {tag.key: tag.value for tag in tags}.items():
        number = chain.add(TAG + name, value)
        attributes = {"key": name, "value": value, "summary": number}
        puts.append(Put(with_key(tag_key(experiment_id, run_id, name), attributes)))
    return [*chain.puts(), *puts]
