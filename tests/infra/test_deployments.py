"""The templates follow CloudFormation's rules: stacks are created, unchanged, and deleted."""

from collections.abc import Callable

import pytest

from tests.cloudformation.building import Names
from tests.cloudformation.stacks import Stacks
from tests.infra.templates import Assembly

PATIENCE_SECONDS = 60
TOOLKIT = {"/cdk-bootstrap/hnb659fds/version": "30"}


def _in_order(assembly: Assembly) -> list[str]:
    """The stacks, each after those that it depends on, as the CDK command deploys them."""
    artifacts = assembly.manifest["artifacts"]
    names = [n for n, each in artifacts.items() if each["type"] == "aws:cloudformation:stack"]
    found: list[str] = []
    while waiting := [name for name in names if name not in found]:
        found += [n for n in waiting if {*artifacts[n]["dependencies"]} & set(names) <= set(found)]
    return found


@pytest.mark.parametrize("name", ["small", "hardened", "locked"])
def test_all_stacks_are_created_and_deleted_by_the_rules_of_cloudformation(
    synthesized: Callable[[str], Assembly], name: str
) -> None:
    assembly = synthesized(name)
    stacks = Stacks(Names(), TOOLKIT.get)
    order = _in_order(assembly)
    for again in (False, True):
        for stack in order:
            text = (assembly.folder / f"{stack}.template.json").read_text()
            creates = not again
            made = stacks.propose(stack, "a", text, creates=creates, parameters={}, tags=[])
            assert made.status == ("FAILED" if again else "CREATE_COMPLETE")
            if not again:
                stacks.execute(stack, "a", "").join(PATIENCE_SECONDS)
                assert stacks.find(stack).status == "CREATE_COMPLETE", stacks.find(stack).events
    for stack in reversed(order):
        record = stacks.find(stack)
        stacks.delete(stack, "").join(PATIENCE_SECONDS)
        assert record.status == "DELETE_COMPLETE"
