"""The table as the workspace of the request sees it.

The one check of ownership: every part of a store reads and writes through it where workspaces are
enabled, so what belongs to another workspace does not exist for a caller, whatever id it knows.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from vitrine_mlflow import keys
from vitrine_mlflow.database import Database, Range, Result, written_key
from vitrine_mlflow.errors import missing_error
from vitrine_mlflow.expressions import Delete, Item, Put, Write
from vitrine_mlflow.keys import Key
from vitrine_mlflow.table import INFO, Index

# An experiment moves to another workspace only when its own is deleted; others may use it in the
# former one for this time (decision 65).
_RECENT_SECONDS = 5
# Bounds the memory of a server.
_MOST_RECENT = 10_000
_METADATA = keys.EXPERIMENT.sk.text


class OwnedDatabase(Database):
    """Reads and writes that leave out partitions of other workspaces.

    A partition belongs to the workspace of its experiment, or of its evaluation dataset. Other
    partitions have the workspace in their key. One whose experiment does not exist is being
    created or removed: it belongs to no one yet, or no longer.
    """

    def __init__(self, whole: Database, active: Callable[[], str]) -> None:
        self._whole = whole
        self._active = active
        # An experiment changes its workspace only when the former workspace is deleted.
        self._recent: dict[str, tuple[float, str]] = {}

    def owns(self, experiment_id: str) -> bool:
        return self._workspace_of(experiment_id) == self._active()

    def get(self, key: Key) -> Item | None:
        if key.sk != _METADATA and not self._is_open(key.pk):
            return None
        item = self._whole.get(key)
        return item if item is not None and self._is_visible(key, item) else None

    def get_many(self, keys: Iterable[Key]) -> dict[Key, Item]:
        wanted = list(dict.fromkeys(keys))
        partitions = dict.fromkeys(key.pk for key in wanted if key.sk != _METADATA)
        closed = {pk for pk in partitions if not self._is_open(pk)}
        readable = [key for key in wanted if key.sk == _METADATA or key.pk not in closed]
        items = self._whole.get_many(readable) if readable else {}
        return {key: item for key, item in items.items() if self._is_visible(key, item)}

    def query(
        self,
        pk: str,
        keys: Range | None = None,
        *,
        index: Index | None = None,
        backward: bool = False,
        limit: int | None = None,
    ) -> Iterator[Item]:
        if not self._is_open(pk):
            return iter(())
        return self._whole.query(pk, keys, index=index, backward=backward, limit=limit)

    def write(self, writes: Sequence[Write]) -> None:
        self._require_open(writes)
        self._whole.write(writes)

    def write_in_batches(self, writes: Iterable[Put | Delete]) -> None:
        whole = list(writes)
        self._require_open(whole)
        self._whole.write_in_batches(whole)

    def retry(self, attempt: Callable[[], Result]) -> Result:
        return self._whole.retry(attempt)

    def _require_open(self, writes: Sequence[Write]) -> None:
        written = [written_key(write) for write in writes]
        for pk in dict.fromkeys(key.pk for key in written):
            if not self._is_open(pk):
                raise missing_error(f"'{pk.partition('#')[2]}' does not exist in this workspace.")
        for key in written:
            if key.sk == _METADATA:
                self._recent.pop(key.pk, None)

    def _is_open(self, pk: str) -> bool:
        if (fields := keys.EXPERIMENT.pk.parse(pk)) is not None:
            owner = self._workspace_of(fields["experiment_id"])
            return owner is None or owner == self._active()
        if (fields := keys.EVALUATION_RECORD.pk.parse(pk)) is not None:
            active = self._active()
            if self._known(pk) == active:
                return True
            key = keys.EVALUATION_DATASET.key(workspace=active, **fields)
            if self._whole.get(key) is None:
                return False
            self._cache_owner(pk, active)
        return True

    def _workspace_of(self, experiment_id: str) -> str | None:
        key = keys.EXPERIMENT.key(experiment_id=experiment_id)
        owner = self._known(key.pk)
        if owner is None and (item := self._whole.get(key)) is not None:
            owner = self._cache_item(key.pk, item)
        return owner

    def _known(self, pk: str) -> str | None:
        at, owner = self._recent.get(pk, (0.0, None))
        return owner if owner and time.monotonic() - at <= _RECENT_SECONDS else None

    def _cache_item(self, pk: str, item: Item) -> str:
        return self._cache_owner(pk, item[INFO]["workspace"])

    def _cache_owner(self, pk: str, owner: str) -> str:
        if len(self._recent) >= _MOST_RECENT:
            self._recent.clear()
        self._recent[pk] = (time.monotonic(), owner)
        return owner

    def _is_visible(self, key: Key, item: Item) -> bool:
        """Return whether an item, which names its owner, belongs to the current workspace."""
        if keys.EXPERIMENT.parse(key) is not None:
            return self._cache_item(key.pk, item) == self._active()
        if keys.ONLINE_SCORING.parse(key) is not None:
            return self.owns(item["experiment_id"])
        return True
