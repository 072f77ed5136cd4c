"""Reports objects that did not become files: counts them, and stores those that need attention."""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from backend.core.deliveries import StoreFailure
from backend.core.objects import ObjectRef
from backend.domains.bucket_sync import rules
from backend.domains.bucket_sync.models import Skip, SkipKind

Count = Callable[[SkipKind, int], None]
"""Counts skipped objects."""


@dataclass(eq=False, repr=False)
class SkipReports:
    """Stores one failure per folder and day, for any number of objects.

    Its body is a message of the sync's own queue: replayed, it is tried again.
    """

    store_failure: StoreFailure
    count: Count

    def report(self, skips: Iterable[Skip]) -> None:
        """Count all of them, and store those that need attention."""
        counted = Counter[SkipKind]()
        for skip in skips:
            counted[skip.kind] += 1
            if not skip.is_expected:
                self.store_failure(skip.place, _message(skip.example), sentence(skip))
        for kind, number in counted.items():
            self.count(kind, number)


def sentence(skip: Skip) -> str:
    """Return the message for people."""
    return f"{skip.place} was not imported: {skip.reason}"


def _message(named: ObjectRef) -> dict[str, str]:
    return {"body": json.dumps(rules.event_of(named))}
