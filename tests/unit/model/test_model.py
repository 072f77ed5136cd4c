"""Whatever users do and whatever is delivered when: in the end the product is what its model says.

`make prove` runs thousands of histories; here some dozens of them, the same in every run.
"""

from hypothesis.stateful import run_state_machine_as_test

from backend.spec.queues import QUEUE_SUBSCRIPTIONS, STREAM_SUBSCRIPTIONS
from tests.model.deployment import CONSUMERS, LEFT_OUT
from tests.model.lifecycle import Lifecycle
from tests.model.running import SETTINGS, WithoutLag


def test_every_history_ends_as_in_the_model() -> None:
    run_state_machine_as_test(Lifecycle, settings=SETTINGS)


def test_where_indexes_do_not_lag_nothing_needs_to_be_built_once_more() -> None:
    run_state_machine_as_test(WithoutLag, settings=SETTINGS)


def test_every_consumer_is_in_the_model_or_left_out_for_a_reason() -> None:
    declared = {item.consumer for item in (*STREAM_SUBSCRIPTIONS, *QUEUE_SUBSCRIPTIONS)}
    assert declared == CONSUMERS.keys() | LEFT_OUT.keys()
