"""Packed copies of what a run has logged, so that a search reads few items for each run.

A run has a chain of items of each kind, written in the transactions of what they repeat. Every
entry is an attribute of its own: writers of different keys do not disturb each other. The first
item of a chain holds the number of the last one, and the bytes used in that.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from vitrine_mlflow import keys
from vitrine_mlflow.expressions import ABSENT, Item, Put, Update
from vitrine_mlflow.keys import Key

METRICS, DETAILS = "M", "P"
# a metric may cost two units of writing; 100 runs of 30 metrics are read in one request
_LIMITS = {METRICS: 1_750, DETAILS: 3_500}
_STAY_BYTES = 60_000  # an item may grow to this by values that became longer
METRIC, PARAM, TAG, INPUT, OUTPUT = "m:", "p:", "t:", "i:", "o:"


def summary_key(experiment_id: str, run_id: str, kind: str, number: int = 0) -> Key:
    return keys.SUMMARY.key(
        experiment_id=experiment_id, run_id=run_id, kind=kind, number=f"{number:04d}"
    )


def last_number(first: Item | None) -> int:
    """The number of the last item of a chain."""
    return 0 if first is None else first.get("last", 0)


def later_keys(experiment_id: str, run_id: str, kind: str, first: Item | None) -> list[Key]:
    """The keys of a chain after its first item."""
    return [
        summary_key(experiment_id, run_id, kind, number)
        for number in range(1, last_number(first) + 1)
    ]


@dataclass
class SummaryChain:
    """Changes of one chain, collected for a transaction."""

    experiment_id: str
    run_id: str
    kind: str
    last: int = 0
    used: int = 0
    _known_last: int = 0
    _sets: dict[int, dict[str, Any]] = field(default_factory=lambda: defaultdict(dict))
    _removes: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    _added: int = 0

    @classmethod
    def read(cls, experiment_id: str, run_id: str, kind: str, first: Item | None) -> "SummaryChain":
        used = 0 if first is None else first.get("used", 0)
        last = last_number(first)
        return cls(experiment_id, run_id, kind, last, used, last)

    def add(self, attribute: str, value: Any) -> int:
        """Place a new entry; return the number of its item."""
        size = entry_size(attribute, value)
        if self.used and self.used + size > _LIMITS[self.kind]:
            self.last, self.used, self._added = self.last + 1, 0, 0
        self.used += size
        self._added += size
        self._sets[self.last][attribute] = value
        return self.last

    def replace(self, number: int, attribute: str, value: Any) -> None:
        """Change an entry where it is."""
        self._sets[number][attribute] = value

    def remove(self, number: int, attribute: str) -> None:
        self._removes[number].append(attribute)

    def writes(self) -> list[Update]:
        """The collected changes, to be written in one transaction."""
        numbers = set(self._sets) | set(self._removes)
        if self._added:
            numbers.add(0)
        return [self._update(number) for number in sorted(numbers)]

    def _update(self, number: int) -> Update:
        key = summary_key(self.experiment_id, self.run_id, self.kind, number)
        sets, adds, condition = dict(self._sets[number]), dict[str, int](), dict[str, Any]()
        if number == 0 and self._added:
            known = self._known_last
            # another writer that added an item in between must be seen before one is added
            condition = {"last": known or ABSENT}
            if self.last == known:
                adds = {"used": self._added}
            else:
                sets |= {"last": self.last, "used": self.used}
        return Update(key, sets, self._removes[number], adds, condition)

    def commit(self) -> None:
        """Begin to collect for the next transaction."""
        self._sets.clear()
        self._removes.clear()
        self._added = 0
        self._known_last = self.last

    def puts(self) -> list[Put]:
        """The collected changes as new items: for a run that does not exist yet."""
        made: list[Put] = []
        for number, entries in self._sets.items():
            counters = {"last": self.last, "used": self.used} if number == 0 else {}
            if not self.last:
                counters.pop("last", None)
            key = summary_key(self.experiment_id, self.run_id, self.kind, number)
            made.append(Put({"PK": key.pk, "SK": key.sk, **entries, **counters}))
        return made


def entry_size(attribute: str, value: Any) -> int:
    return len(attribute.encode()) + len(str(value).encode()) + 3


def item_size(item: Mapping[str, Any]) -> int:
    return sum(entry_size(name, value) for name, value in item.items())


def may_stay(old_value: Any, new_value: Any, item: Mapping[str, Any] | None) -> bool:
    """Whether a longer value still fits into the item of the old one."""
    growth = len(str(new_value).encode()) - len(str(old_value).encode())
    return item is None or item_size(item) + growth <= _STAY_BYTES


@dataclass
class Summary:
    """The metrics, params and tags of a run, from all its items of both chains."""

    metrics: dict[str, tuple[float, int, int]] = field(
        default_factory=dict[str, tuple[float, int, int]]
    )
    params: dict[str, str] = field(default_factory=dict[str, str])
    tags: dict[str, Any] = field(default_factory=dict[str, Any])
    inputs: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    outputs: dict[str, int] = field(default_factory=dict[str, int])


def metric_entry(value: float, timestamp: int, step: int) -> str:
    return f"{value!r} {timestamp} {step}"


def summary_of(items: Iterable[Item]) -> Summary:
    """Unpack items of the two chains of a run."""
    summary = Summary()
    targets: dict[str, dict[str, Any]] = {
        PARAM: summary.params,
        TAG: summary.tags,
        INPUT: summary.inputs,
        OUTPUT: summary.outputs,
    }
    for item in items:
        for name, value in item.items():
            prefix, rest = name[:2], name[2:]
            if prefix == METRIC:
                number, timestamp, step = value.split(" ")
                summary.metrics[rest] = (float(number), int(timestamp), int(step))
            elif prefix in targets:
                targets[prefix][rest] = value
    return summary
