"""The table of entries, and the archive: large values, and what expired."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from backend.core.objects import Objects
from backend.core.parallel import in_parallel
from backend.core.transactions import Put
from backend.domains.audit.models import Entry, LargeValue
from backend.domains.audit.rules import dumped, value_key
from backend.spec.tables.operations import AUDIT


def put(entry: Entry) -> Put:
    """The write of an entry; its key holds chance, so no other one is ever overwritten."""
    item = entry.model_dump(by_alias=True, exclude_none=True, exclude={"changes"})
    return Put(table=AUDIT, item=item | {"changes": dumped(entry.changes)})


@dataclass(frozen=True, slots=True)
class AuditArchive:
    """The archive bucket; its name is asked for when it is first needed."""

    objects: Objects
    bucket: Callable[[], str]

    def keep_values(self, values: Sequence[LargeValue]) -> None:
        """Store large values, each under its hash, so a repetition changes nothing."""

        def keep(value: LargeValue) -> None:
            self.objects.put(
                self.bucket(),
                value_key(value.sha256),
                value.content,
                content_type="application/json",
                metadata={},
            )

        unique = {value.sha256: value for value in values}
        in_parallel(keep, list(unique.values()))
