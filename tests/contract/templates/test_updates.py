"""Deployed stacks can be updated to a product without a function or a queue."""

from pathlib import Path

from tests.infra.contexts import CONTEXTS
from tests.infra.templates import Assembly, synthesize_without
from tests.infra.test_exports import refused


def test_a_function_that_was_the_last_to_use_a_stream_can_be_removed(
    prod: Assembly, tmp_path: Path
) -> None:
    without = synthesize_without(tmp_path, "function", "JobStarter", CONTEXTS["prod"])
    assert len(without.all) < len(prod.all)
    assert refused(prod, without) == []


def test_a_queue_is_removed_by_two_updates(prod: Assembly, tmp_path: Path) -> None:
    context = CONTEXTS["prod"]
    unused = synthesize_without(tmp_path / "unused", "uses", "Reads", context)
    gone = synthesize_without(tmp_path / "gone", "queue", "Reads", context)
    assert unused.of_type("AWS::SQS::Queue").keys() - gone.of_type("AWS::SQS::Queue").keys() == {
        "Reads",
        "ReadsDeadLetters",
    }
    assert refused(prod, unused) == []
    assert refused(unused, gone) == []
    assert refused(prod, gone) != []  # which is why the change takes two updates
