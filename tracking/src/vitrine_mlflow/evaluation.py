"""Evaluation datasets: metadata, records, tags, and the experiments that they belong to."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mlflow.entities import DatasetRecord, EvaluationDataset
from mlflow.exceptions import MlflowException
from mlflow.store.tracking import LOAD_DATASET_RECORDS_MAX_RESULTS

from vitrine_mlflow import keys
from vitrine_mlflow.context import Context
from vitrine_mlflow.errors import missing_error, type_errors_reported, violated_error
from vitrine_mlflow.evaluation_records import (
    after,
    column_text,
    input_hash,
    last_user,
    merge_record,
    new_record,
    pack_record,
    page,
    position,
    record_entity,
    require_valid,
    schema_of,
    user_of,
)
from vitrine_mlflow.experiments import Experiments
from vitrine_mlflow.expressions import ABSENT, Delete, Item, Put, Update, Write, key_of, with_key
from vitrine_mlflow.keys import Key
from vitrine_mlflow.table import INFO, PARTITION_KEY

_TRANSACTION_BYTES = 2_000_000  # DynamoDB allows 4 MB
_TRANSACTION_RECORDS = 90  # of DynamoDB's 100 writes


@dataclass(frozen=True)
class StoredDataset:
    """The metadata of an evaluation dataset."""

    dataset_id: str
    info: dict[str, Any]
    revision: int

    @property
    def experiments(self) -> dict[str, int]:
        """The ids of its experiments, each with the time when it was added."""
        return self.info["experiments"]

    def entity(self) -> EvaluationDataset:
        info = self.info
        return EvaluationDataset(
            dataset_id=self.dataset_id,
            name=info["name"],
            digest=info["digest"],
            created_time=info["created"],
            last_update_time=info["updated"],
            tags=dict(info["tags"]),
            schema=info["schema"],
            profile=info["profile"],
            created_by=info["created_by"],
            last_updated_by=info["updated_by"],
        )


class EvaluationDatasets:
    """Creates, reads, changes and deletes evaluation datasets."""

    def __init__(self, context: Context, experiments: Experiments) -> None:
        self._context = context
        self._database = context.owned_database
        self._experiments = experiments

    @property
    def _now(self) -> int:
        return self._context.sources.now_ms()

    def _key(self, dataset_id: str) -> Key:
        workspace = self._context.workspace
        return keys.EVALUATION_DATASET.key(workspace=workspace, dataset_id=dataset_id)

    def create(
        self, name: str, tags: Mapping[str, str] | None, experiment_ids: Sequence[str] | None
    ) -> StoredDataset:
        now = self._now
        user = user_of(tags)
        info = {
            "name": name,
            "digest": _digest(name, now),
            "created": now,
            "updated": now,
            "tags": {key: column_text(value) for key, value in (tags or {}).items()},
            "schema": None,
            "profile": None,
            "created_by": user,
            "updated_by": user,
            "experiments": dict.fromkeys(_each_once(map(str, experiment_ids or [])), now),
        }
        dataset_id = f"d-{self._context.sources.new_hex()}"
        item = with_key(self._key(dataset_id), {INFO: info, "revision": 1})
        self._database.write([Put(item, {PARTITION_KEY: ABSENT})])
        return StoredDataset(dataset_id, info, 1)

    def find(self, dataset_id: str) -> StoredDataset | None:
        item = self._database.get(self._key(dataset_id))
        return None if item is None else _stored_dataset(item)

    def get(self, dataset_id: str) -> StoredDataset:
        """A dataset.

        Raises:
            MlflowException: there is none.
        """
        dataset = self.find(dataset_id)
        if dataset is None:
            raise missing_error(f"Evaluation dataset with id '{dataset_id}' not found")
        return dataset

    def all(self) -> Iterator[StoredDataset]:
        """All datasets of the workspace."""
        pk = self._key("").pk
        return map(_stored_dataset, self._database.query(pk))

    def _change(
        self, stored: StoredDataset, changes: Mapping[str, Any], writes: Iterable[Write] = ()
    ) -> StoredDataset:
        info = {**stored.info, **changes}
        sets = {INFO: info, "revision": stored.revision + 1}
        condition = {"revision": stored.revision}
        self._database.write(
            [Update(self._key(stored.dataset_id), sets, condition=condition), *writes]
        )
        return StoredDataset(stored.dataset_id, info, stored.revision + 1)

    def delete(self, dataset_id: str) -> None:
        """Delete a dataset with its records. Nothing happens if there is none."""
        key, table = self._key(dataset_id), self._context.database
        if self._database.get(key) is None:
            return
        self._database.write([Delete(key)])
        # without the dataset, its records belong to no workspace
        records = table.query(_record_key(dataset_id, "").pk)
        table.write_in_batches(Delete(key_of(item)) for item in records)

    def set_tags(self, dataset_id: str, tags: Mapping[str, Any]) -> None:
        texts = {key: str(value) for key, value in tags.items() if value is not None}

        def attempt() -> None:
            stored = self.find(dataset_id)
            if stored is None:
                raise missing_error(f"Could not find evaluation dataset with ID {dataset_id}")
            self._change(stored, {"tags": {**stored.info["tags"], **texts}})

        self._database.retry(attempt)

    def delete_tag(self, dataset_id: str, key: str) -> None:
        """Delete a tag. Nothing happens if there is none."""

        def attempt() -> None:
            stored = self.find(dataset_id)
            if stored is not None and key in stored.info["tags"]:
                left = {name: value for name, value in stored.info["tags"].items() if name != key}
                self._change(stored, {"tags": left})

        self._database.retry(attempt)

    def add_experiments(self, dataset_id: str, experiment_ids: Iterable[str]) -> StoredDataset:
        wanted = [str(experiment_id) for experiment_id in experiment_ids]

        def attempt() -> StoredDataset:
            stored = self._to_assign(dataset_id)
            for experiment_id in wanted:
                try:
                    self._experiments.find(experiment_id)
                except MlflowException as error:
                    raise missing_error(f"No Experiment with id={experiment_id}") from error
            now = self._now
            new = _each_once(
                experiment_id for experiment_id in wanted if experiment_id not in stored.experiments
            )
            changes = {
                "experiments": {**stored.experiments, **dict.fromkeys(new, now)},
                "updated": now,
            }
            return self._change(stored, changes)

        return self._database.retry(attempt)

    def _to_assign(self, dataset_id: str) -> StoredDataset:
        stored = self.find(dataset_id)
        if stored is None:
            raise missing_error(f"Dataset '{dataset_id}' not found")
        return stored

    def remove_experiments(self, dataset_id: str, experiment_ids: Iterable[str]) -> StoredDataset:
        wanted = {str(experiment_id) for experiment_id in experiment_ids}

        def attempt() -> StoredDataset:
            stored = self._to_assign(dataset_id)
            left = {
                experiment_id: at
                for experiment_id, at in stored.experiments.items()
                if experiment_id not in wanted
            }
            if len(left) == len(stored.experiments):
                return stored
            return self._change(stored, {"experiments": left, "updated": self._now})

        return self._database.retry(attempt)

    def experiment_ids(self, dataset_id: str) -> list[str]:
        stored = self.find(dataset_id)
        added = {} if stored is None else stored.experiments
        return sorted(added, key=lambda experiment_id: (added[experiment_id], experiment_id))

    # Records

    def upsert(self, dataset_id: str, records: Sequence[dict[str, Any]]) -> dict[str, int]:
        """Add records; one with the inputs of a known record is merged into it.

        Many records take several transactions; each record is old or new, and repeating the call
        completes it.
        """
        counts = {"inserted": 0, "updated": 0}
        groups: dict[str, list[dict[str, Any]]] = {}
        with type_errors_reported():
            for record in records:
                groups.setdefault(input_hash(record), []).append(record)
        names = list(groups)
        self._require_own(dataset_id)
        stored = self.find(dataset_id)
        if stored is None:
            if not records:
                return counts
            require_valid(records[0], is_new=True)
            raise violated_error(f"Evaluation dataset with id '{dataset_id}' not found")
        self._require_valid(dataset_id, records)
        schema_of(stored.info["schema"], records)  # refuses records whose types do not go together
        user = last_user(records)
        # The first part stores the types of all records, in the order of the call, since the first
        # value of a field decides its type.
        typed = records
        for start in range(0, max(len(names), 1), _TRANSACTION_RECORDS):
            part = {name: groups[name] for name in names[start : start + _TRANSACTION_RECORDS]}
            inserted, updated = self._database.retry(
                lambda part=part, typed=typed: self._upsert(dataset_id, part, typed, user)
            )
            typed = ()
            counts["inserted"] += inserted
            counts["updated"] += updated
        return counts

    def _require_own(self, dataset_id: str) -> None:
        """Refuse a dataset of another workspace; without workspaces, MLflow's store does not."""
        if self._context.isolation is not None:
            self.get(dataset_id)

    def _require_valid(self, dataset_id: str, records: Sequence[dict[str, Any]]) -> None:
        try:
            for record in records:
                require_valid(record, is_new=True)
        except MlflowException:
            # what is invalid in a new record may be ignored in a known one
            named = [(_record_key(dataset_id, input_hash(record)), record) for record in records]
            known = set(self._database.get_many(key for key, _ in named))
            for key, record in named:
                require_valid(record, is_new=key not in known)
                known.add(key)

    def _upsert(
        self,
        dataset_id: str,
        groups: Mapping[str, Sequence[dict[str, Any]]],
        typed: Sequence[dict[str, Any]],
        user: str | None,
    ) -> tuple[int, int]:
        stored = self.get(dataset_id)
        record_keys = {name: _record_key(dataset_id, name) for name in groups}
        known = self._database.get_many(record_keys.values()) if groups else {}
        now, inserted, updated = self._now, 0, 0
        pending: list[Write] = []
        size = 0
        for name, several in groups.items():
            old = known.get(record_keys[name])
            info: Any = None if old is None else json.loads(old[INFO])
            for record in several:
                updated += info is not None
                inserted += info is None
                info = (
                    new_record(self._context.sources.new_hex(), record, now)
                    if info is None
                    else merge_record(info, record, now)
                )
            text = pack_record(info)
            if size + len(text.encode()) > _TRANSACTION_BYTES:
                stored = self._commit(stored, pending, [], now, None)
                pending, size = [], 0
            size += len(text.encode())
            # a number, since the old text in a condition would double the transaction's size
            revision: int = 0 if old is None else old["revision"]
            condition: dict[str, Any] = {"revision": revision} if old else {PARTITION_KEY: ABSENT}
            item = with_key(record_keys[name], {INFO: text, "revision": revision + 1})
            pending.append(Put(item, condition))
        self._commit(stored, pending, typed, now, (user, inserted))
        return inserted, updated

    def _commit(
        self,
        stored: StoredDataset,
        writes: Sequence[Write],
        typed: Sequence[dict[str, Any]],
        now: int,
        done: tuple[str | None, int] | None,
    ) -> StoredDataset:
        """Write records; the last transaction of a part also changes the dataset."""
        if done is None:
            return self._change(stored, {}, writes)
        user, inserted = done
        schema = schema_of(stored.info["schema"], typed)
        count = _count(stored) + inserted
        changes: dict[str, Any] = {
            "updated": now,
            "updated_by": user,
            "digest": _digest(stored.info["name"], now),
        }
        if schema:
            changes["schema"] = json.dumps(schema)
        if count:
            changes["profile"] = json.dumps({"num_records": count})
        return self._change(stored, changes, writes)

    def delete_records(self, dataset_id: str, record_ids: Iterable[str]) -> int:
        self._require_own(dataset_id)
        wanted = set(record_ids)
        removals = [
            Delete(key_of(item))
            for item in self._database.query(_record_key(dataset_id, "").pk)
            if json.loads(item[INFO])["id"] in wanted
        ]
        if not removals:
            return 0
        self._database.write_in_batches(removals)

        def attempt() -> None:
            stored = self.find(dataset_id)
            if stored is not None:
                left = max(0, _count(stored) - len(removals))
                profile = json.dumps({"num_records": left} if left else None)
                self._change(stored, {"profile": profile})

        self._database.retry(attempt)
        return len(removals)

    def records(
        self, dataset_id: str, max_results: int | None, page_token: str | None
    ) -> tuple[list[DatasetRecord], str | None]:
        """One page of records by time of creation and id. All of the dataset are read for it."""
        self._require_own(dataset_id)
        records = [
            json.loads(item[INFO]) for item in self._database.query(_record_key(dataset_id, "").pk)
        ]
        records.sort(key=position)
        if page_token:
            records = after(records, page_token)
        token = None
        if max_results is not None:
            records, token = page(records, max_results or LOAD_DATASET_RECORDS_MAX_RESULTS)
        return [record_entity(dataset_id, record) for record in records], token


def _stored_dataset(item: Item) -> StoredDataset:
    fields = keys.EVALUATION_DATASET.parse(key_of(item)) or {}
    return StoredDataset(fields["dataset_id"], item[INFO], item["revision"])


def _record_key(dataset_id: str, input_hash: str) -> Key:
    return keys.EVALUATION_RECORD.key(dataset_id=dataset_id, input_hash=input_hash)


def _each_once(experiment_ids: Iterable[str]) -> list[str]:
    ids = list(experiment_ids)
    if len(set(ids)) < len(ids):
        raise violated_error(f"An experiment is given more than once: {ids}")
    return ids


def _digest(name: str, updated: int) -> str:
    return hashlib.sha256(f"{name}:{updated}".encode()).hexdigest()[:8]


def _count(stored: StoredDataset) -> int:
    profile: dict[str, int] = json.loads(stored.info["profile"] or "null") or {}
    return profile.get("num_records", 0)
