"""The model can fail: a product with any one of its rules broken is found out."""

from collections.abc import Callable

import pytest

from tests.model import scripts
from tests.model.lifecycle import Lifecycle
from tests.model.mutants import MUTANTS, Mutant
from tests.model.running import WithoutLag


def run(machine: type[Lifecycle], history: Callable[[Lifecycle], None]) -> None:
    """A history from its beginning to its end, when all must be right."""
    state = machine()
    state.begin(is_furnished=True)
    try:
        history(state)
        state.everything_is_delivered_and_right()
    finally:
        state.world.close()


@pytest.mark.parametrize("machine", [Lifecycle, WithoutLag])
@pytest.mark.parametrize("history", scripts.ALL, ids=lambda history: history.__name__)
def test_the_product_as_it_is_passes(
    machine: type[Lifecycle], history: Callable[[Lifecycle], None]
) -> None:
    run(machine, history)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_product_with_a_broken_rule_is_found_out(mutant: Mutant) -> None:
    with mutant.breaks(), pytest.raises(AssertionError, match=mutant.shows):
        run(mutant.machine, mutant.history)
