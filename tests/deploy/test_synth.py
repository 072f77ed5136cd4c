"""The command that writes the templates, which cfn-lint checks (`PART=contract` lints them too)."""

import os

from tests.journeys.docs.test_commands import ALL, SYNTH, ran
from tests.journeys.runtime import ROOT


def test_make_synth_writes_templates() -> None:
    assert SYNTH in ALL
    ran(SYNTH, dict(os.environ))
    assert list((ROOT / "cdk.out").glob("*.template.json"))
