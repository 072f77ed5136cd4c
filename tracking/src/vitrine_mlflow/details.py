"""Params and tags of runs."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from mlflow.entities import Param, RunTag

from vitrine_mlflow import keys
from vitrine_mlflow.context import Context
from vitrine_mlflow.database import TRANSACTION_WRITES
from vitrine_mlflow.errors import invalid, missing_error
from vitrine_mlflow.expressions import ABSENT, Delete, Item, Put, Write, with_key
from vitrine_mlflow.keys import Key
from vitrine_mlflow.mlflow_api import (
    MLFLOW_LOGGED_MODELS,
    MLFLOW_RUN_NAME,
    status_text,
    validate_param,
    validate_tag,
)
from vitrine_mlflow.ownership import param_rank_key
from vitrine_mlflow.runs import Runs, StoredRun, tag_key
from vitrine_mlflow.summaries import (
    DETAILS,
    PARAM,
    TAG,
    SummaryChain,
    may_stay,
    summary_key,
)
from vitrine_mlflow.table import PARTITION_KEY

_ROOM_FOR_SUMMARIES = 40  # long values get an item of their own
# Bytes that every item has room for, so that it is not read first: items begin with a few kilobytes
# (`_LIMITS`) and may grow to `_STAY_BYTES`.
_SMALL_GROWTH = 256


class Details:
    """Logs params, sets and deletes tags."""

    def __init__(self, context: Context, runs: Runs) -> None:
        self._database = context.owned_database
        self._runs = runs

    def log_param(self, run_id: str, param: Param) -> None:
        valid = validate_param(param.key, param.value)

        def attempt() -> None:
            state = self._read(run_id, [self._param_key(run_id, valid.key)])
            old = state.items.get(self._param_key(run_id, valid.key))
            if old is None:
                self._write_params(state, {valid.key: valid.value})
            elif old["value"] != valid.value:
                raise invalid(
                    f"Changing param values is not allowed. Param with key='{valid.key}' was "
                    f"already logged with value='{old['value']}' for run ID='{run_id}'. Attempted "
                    f"logging new value '{valid.value}'."
                )

        self._database.retry(attempt)

    def log_params(self, run_id: str, params: Sequence[Param]) -> None:
        """Log params; nothing is written if one has another value already.

        Raises:
            MlflowException: one has.
        """
        if params:
            self._database.retry(lambda: self._log_params(run_id, params))

    def _log_params(self, run_id: str, params: Sequence[Param]) -> None:
        param_keys = {param.key: self._param_key(run_id, param.key) for param in params}
        state = self._read(run_id, param_keys.values())
        new: dict[str, str] = {}
        changed: list[dict[str, str]] = []
        for param in params:
            old = state.items.get(param_keys[param.key])
            if old is None:
                new[param.key] = param.value
            elif old["value"] != param.value:
                changed.append({
                    "key": param.key, "old_value": old["value"], "new_value": param.value,
                })  # fmt: skip
        if changed:
            raise invalid(
                "Changing param values is not allowed. Params were already"
                f" logged='{changed}' for run ID='{run_id}'."
            )
        self._write_params(state, new)

    def _write_params(self, state: "_State", params: dict[str, str]) -> None:
        groups: list[list[Write]] = []
        run = state.run
        for key, value in params.items():
            number = state.chain.add(PARAM + key, value)
            item_key = self._param_key(run.run_id, key)
            item = with_key(item_key, {"key": key, "value": value, "summary": number})
            rank = param_rank_key(run.experiment_id, run.run_id, key, value)
            groups.append([Put(item, {PARTITION_KEY: ABSENT}), Put(with_key(rank, {}))])
            if sum(map(len, groups)) + _ROOM_FOR_SUMMARIES > TRANSACTION_WRITES:
                self._flush(state, groups)
        self._flush(state, groups)

    def _flush(self, state: "_State", groups: list[list[Write]]) -> None:
        writes = [write for group in groups for write in group]
        self._database.write([*writes, *state.chain.writes()])
        state.chain.commit()
        groups.clear()

    def set_tag(self, run_id: str, tag: RunTag) -> None:
        valid = validate_tag(tag.key, tag.value)
        self._database.retry(lambda: self._set_tags(run_id, {valid.key: valid.value}))

    def set_tags(self, run_id: str, tags: Iterable[RunTag]) -> None:
        valid = [
            validate_tag(tag.key, tag.value, path=f"tags[{index}]")
            for index, tag in enumerate(tags)
        ]
        values = {tag.key: tag.value for tag in valid}
        if values:
            self._database.retry(lambda: self._set_tags(run_id, values))

    def _set_tags(self, run_id: str, tags: dict[str, Any]) -> None:
        experiment_id = self._runs.experiment_of(run_id)
        state = self._read(run_id, [tag_key(experiment_id, run_id, key) for key in tags])
        name = tags.get(MLFLOW_RUN_NAME)
        groups: list[list[Write]] = []
        for key, value in tags.items():
            if key == MLFLOW_RUN_NAME and not name:
                continue  # an empty name changes nothing, as in MLflow's own store
            groups.append([self._tag_put(state, key, value)])
            if len(groups) + _ROOM_FOR_SUMMARIES > TRANSACTION_WRITES:
                self._flush(state, groups)
        if name:
            writes = [write for group in groups for write in group]
            self._runs.change(state.run, {"name": name}, [*writes, *state.chain.writes()])
        elif groups:
            self._flush(state, groups)

    def _tag_put(self, state: "_State", key: str, value: Any) -> Put:
        item_key = tag_key(state.run.experiment_id, state.run.run_id, key)
        old = state.items.get(item_key)
        condition: dict[str, Any] = {PARTITION_KEY: ABSENT}
        if old is None:
            number = state.chain.add(TAG + key, value)
        else:
            condition = {"value": old["value"], "summary": old["summary"]}
            number = self._replace(state, old, TAG + key, value)
        item = with_key(item_key, {"key": key, "value": value, "summary": number})
        return Put(item, condition)

    def _replace(self, state: "_State", old: Item, attribute: str, value: Any) -> int:
        """Keep a changed entry where it is, unless its item would become too large."""
        number: int = old["summary"]
        if len(str(value)) - len(str(old["value"])) > _SMALL_GROWTH:
            run = state.run
            key = summary_key(run.experiment_id, run.run_id, DETAILS, number)
            if not may_stay(old["value"], value, self._database.get(key)):
                state.chain.remove(number, attribute)
                return state.chain.add(attribute, value)
        state.chain.replace(number, attribute, value)
        return number

    def update_info(
        self, run_id: str, status: Any, end_time: int | None, name: str | None
    ) -> StoredRun:
        """Change status, end time and name; what is not given remains."""

        def attempt() -> StoredRun:
            experiment_id = self._runs.experiment_of(run_id)
            wanted = [tag_key(experiment_id, run_id, MLFLOW_RUN_NAME)] if name else []
            state = self._read(run_id, wanted)
            changes: dict[str, Any] = {}
            if status is not None:
                changes["status"] = status_text(status)
            if end_time is not None:
                changes["end"] = end_time
            writes: list[Write] = []
            if name:
                changes["name"] = name
                writes = [self._tag_put(state, MLFLOW_RUN_NAME, name), *state.chain.writes()]
            return self._runs.change(state.run, changes, writes)

        return self._database.retry(attempt)

    def delete_tag(self, run_id: str, key: str) -> None:
        item_key = tag_key(self._runs.experiment_of(run_id), run_id, key)

        def attempt() -> None:
            state = self._read(run_id, [item_key])
            old = state.items.get(item_key)
            if old is None:
                raise missing_error(f"No tag with name: {key} in run with id {run_id}")
            state.chain.remove(old["summary"], TAG + key)
            delete = Delete(item_key, {"summary": old["summary"]})
            self._database.write([delete, *state.chain.writes()])

        self._database.retry(attempt)

    def record_model(self, run_id: str, model_tags: dict[str, Any]) -> None:
        """Append a model to the tag that lists a run's models."""

        def attempt() -> None:
            item_key = tag_key(self._runs.experiment_of(run_id), run_id, MLFLOW_LOGGED_MODELS)
            state = self._read(run_id, [item_key])
            old = state.items.get(item_key)
            try:
                models: Any = json.loads(old["value"]) if old else []
            except ValueError:
                models = None
            if not isinstance(models, list):
                raise invalid(
                    f"The tag '{MLFLOW_LOGGED_MODELS}' of the run '{run_id}' is no list in JSON, "
                    "so no model can be added to it. Delete or correct the tag."
                )
            value = json.dumps([*models, model_tags])
            valid = validate_tag(MLFLOW_LOGGED_MODELS, value)
            put = self._tag_put(state, valid.key, valid.value)
            self._database.write([put, *state.chain.writes()])

        self._database.retry(attempt)

    def _read(self, run_id: str, wanted: Iterable[Key]) -> "_State":
        experiment_id = self._runs.experiment_of(run_id)
        run_key = self._runs.key(run_id)
        first_key = summary_key(experiment_id, run_id, DETAILS)
        items = self._database.get_many([run_key, first_key, *wanted])
        run = self._runs.stored_run(run_id, items.get(run_key))
        run.require_active()
        chain = SummaryChain.read(experiment_id, run_id, DETAILS, items.get(first_key))
        return _State(run, items, chain)

    def _param_key(self, run_id: str, key: str) -> Key:
        experiment_id = self._runs.experiment_of(run_id)
        return keys.PARAM.key(experiment_id=experiment_id, run_id=run_id, key=key)

    def params(self, run_id: str) -> dict[str, str]:
        return self._values(run_id, keys.PARAM.prefix(run_id=run_id))

    def tags(self, run_id: str) -> dict[str, str]:
        return self._values(run_id, keys.TAG.prefix(run_id=run_id))

    def _values(self, run_id: str, prefix: str) -> dict[str, str]:
        pk = keys.EXPERIMENT.key(experiment_id=self._runs.experiment_of(run_id)).pk
        return {item["key"]: item["value"] for item in self._database.query_prefix(pk, prefix)}


class _State:
    """The stored state on which a change of a run's params or tags is based."""

    def __init__(self, run: StoredRun, items: dict[Key, Item], chain: SummaryChain) -> None:
        self.run = run
        self.items = items
        self.chain = chain
