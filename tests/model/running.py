"""The number of histories and their length."""

import os

from hypothesis import HealthCheck, settings

from tests.amounts import amount
from tests.model.lifecycle import Lifecycle
from tests.model.world import World

EXAMPLES = amount("MODEL_HISTORIES")
DRAWN = "MODEL_EXAMPLES" in os.environ or "ENGINE_EXAMPLES" in os.environ
"""`make prove` draws its histories; other tests run the same ones each time."""
SETTINGS = settings(
    max_examples=EXAMPLES,
    stateful_step_count=40,
    deadline=None,
    derandomize=not DRAWN,
    print_blob=True,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.filter_too_much,
        HealthCheck.data_too_large,
    ],
)


class WithoutLag(Lifecycle):
    """For exact indexes, after which nothing is built once more."""

    def make_world(self) -> World:
        return World(lag=False, settles=False)
