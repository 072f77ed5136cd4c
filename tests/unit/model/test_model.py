"""Whatever users do and whatever is delivered when: in the end the product is what its model says.

`make prove` runs thousands of histories; here some dozens of them, with seeds of their own.
"""

import os

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.model.lifecycle import Lifecycle
from tests.model.world import World

EXAMPLES = int(os.environ.get("MODEL_EXAMPLES", "40"))
STEPS = 40
SETTINGS = settings(
    max_examples=EXAMPLES,
    stateful_step_count=STEPS,
    deadline=None,
    print_blob=True,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.filter_too_much,
        HealthCheck.data_too_large,
    ],
)


class WithoutLag(Lifecycle):
    """Where indexes are exact, and nothing is built once more that was read from them."""

    def make_world(self) -> World:
        return World(lag=False, settles=False)


def test_every_history_ends_as_the_model_says() -> None:
    run_state_machine_as_test(Lifecycle, settings=SETTINGS)


def test_where_indexes_do_not_lag_nothing_needs_to_be_built_once_more() -> None:
    run_state_machine_as_test(WithoutLag, settings=SETTINGS)
