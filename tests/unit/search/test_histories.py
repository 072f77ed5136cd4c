"""Whatever is delivered, when and how often: at the end the index is what the sources hold.

`make prove` runs ten thousand of them.
"""

import os
from collections.abc import Iterator

import pytest

from tests.unit.search.histories import History, Rules

HISTORIES = int(os.environ.get("HISTORIES", "120"))
ENOUGH_TO_GO_WRONG = 600


def wrong(rules: Rules, histories: int = HISTORIES) -> Iterator[int]:
    """The seeds of histories that end wrong."""
    for seed in range(histories):
        history = History(seed, rules)
        history.run()
        if not history.is_right():
            yield seed


def test_every_history_ends_with_the_index_that_the_sources_say() -> None:
    assert list(wrong(Rules())) == []


def test_where_indexes_do_not_lag_nothing_needs_to_settle() -> None:
    assert list(wrong(Rules(lag=False, settle=False))) == []


@pytest.mark.parametrize(
    "without",
    [
        Rules(settle=False),
        Rules(versions=False, lag=False, settle=False),
        Rules(ticket_before_read=False, lag=False, settle=False),
        Rules(tombstones=False, lag=False, settle=False),
    ],
    ids=["settling", "versions", "ticket before read", "tombstones"],
)
def test_without_any_one_rule_some_history_ends_wrong(without: Rules) -> None:
    assert next(wrong(without, ENOUGH_TO_GO_WRONG), None) is not None
