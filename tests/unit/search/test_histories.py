"""Whatever is delivered, when and how often: at the end the index is what the sources hold.

Forty histories, the same in each run; `make prove` runs ten thousand (`HISTORIES`).
"""

from collections.abc import Iterable, Iterator
from itertools import chain

import pytest

from tests.amounts import amount
from tests.unit.search.histories import History, Rules

HISTORIES = range(amount("HISTORIES"))
ENOUGH_TO_GO_WRONG = range(600)


def wrong(rules: Rules, seeds: Iterable[int] = HISTORIES) -> Iterator[int]:
    """The seeds of histories that end wrong."""
    for seed in seeds:
        history = History(seed, rules)
        history.run()
        if not history.is_right():
            yield seed


def test_every_history_ends_with_the_index_of_its_sources() -> None:
    assert list(wrong(Rules())) == []


def test_where_indexes_do_not_lag_nothing_needs_to_settle() -> None:
    assert list(wrong(Rules(lag=False, settle=False))) == []


@pytest.mark.parametrize(
    (
        "without",
        "expected",
    ),  # a seed that went wrong before is tried first: it saves most of the time
    [
        (Rules(settle=False), 53),
        (Rules(versions=False, lag=False, settle=False), 27),
        (Rules(ticket_before_read=False, lag=False, settle=False), 27),
        (Rules(tombstones=False, lag=False, settle=False), 56),
    ],
    ids=["settling", "versions", "ticket before read", "tombstones"],
)
def test_without_any_one_rule_some_history_ends_wrong(without: Rules, expected: int) -> None:
    assert next(wrong(without, chain([expected], ENOUGH_TO_GO_WRONG)), None) is not None
