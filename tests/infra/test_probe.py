"""The probe: an optional stack, whose function may only write its log."""

from collections.abc import Callable

from backend.spec.functions import FUNCTIONS
from backend.spec.functions.probe import PROBE
from tests.infra.templates import Assembly


def test_the_probe_is_alone_and_may_write_its_log_only(
    synthesized: Callable[[str], Assembly],
) -> None:
    found = synthesized("without-search")
    probe = found.resource("Probe")
    assert probe.stack == "probe"
    assert probe.properties["Handler"] == PROBE.handler
    assert str(probe.properties["FunctionName"]).endswith("-Probe")
    (statement,) = found.statements(found.resource("ProbeRole"))
    assert statement == (["logs:CreateLogStream", "logs:PutLogEvents"], ["<ProbeLogs.Arn>"])
    assert found.stack_order()["probe"] == set()
    assert all("probe" not in before for before in found.stack_order().values())


def test_there_is_no_probe_unless_the_stage_enables_it(assembly: Assembly) -> None:
    assert "probe" not in assembly.templates
    assert PROBE not in FUNCTIONS
