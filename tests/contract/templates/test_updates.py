"""Deployed stacks can be updated to a product without a function or a queue."""

from collections.abc import Callable

from tests.infra.templates import Assembly, refused

QUEUE = "AWS::SQS::Queue"


def test_a_function_and_the_uses_of_a_queue_can_be_removed(
    synthesized: Callable[[str], Assembly],
) -> None:
    """The function was the last to use a stream."""
    prod, unused = synthesized("prod"), synthesized("unused")
    removed = {resource.name for resource in prod.all} - {resource.name for resource in unused.all}
    assert {"JobStarter", "ReadsDeadLettersAlarm"} <= removed
    assert refused(prod, unused) == []


def test_a_queue_is_removed_by_two_updates(synthesized: Callable[[str], Assembly]) -> None:
    prod, unused, gone = map(synthesized, ("prod", "unused", "gone"))
    removed = unused.of_type(QUEUE).keys() - gone.of_type(QUEUE).keys()
    assert removed == {"Reads", "ReadsDeadLetters"}
    assert refused(unused, gone) == []
    assert refused(prod, gone) != []  # which is why the change takes two updates
