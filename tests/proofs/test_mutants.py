"""The model can fail: a product with any one of its rules broken is found out."""

import os
from pathlib import Path

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.model.mutants import MUTANTS, Mutant
from tests.model.running import SETTINGS

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "proofs.md"
ENOUGH_TO_GO_WRONG = int(os.environ.get("MUTANT_EXAMPLES", "1500"))


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_product_with_a_broken_rule_is_found_out(mutant: Mutant) -> None:
    # The same histories each time, and none of them made shorter: it is enough that one fails.
    wanted = settings(
        SETTINGS,
        max_examples=ENOUGH_TO_GO_WRONG,
        derandomize=True,
        database=None,
        phases=(Phase.generate,),
        report_multiple_bugs=False,
    )
    with mutant.breaks(), pytest.raises(AssertionError, match=mutant.shows):
        run_state_machine_as_test(mutant.machine, settings=wanted)


def test_the_guide_tells_of_each_mutant() -> None:
    rows = [line for line in GUIDE.read_text(encoding="utf-8").splitlines() if line[:2] == "| "]
    assert len(rows) == len(MUTANTS) + 1
    assert [m.name for m in MUTANTS if not any(row.startswith(f"| {m.name}") for row in rows)] == []
