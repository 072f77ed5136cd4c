"""CloudFormation creates a few routes and alarms at a time, which its services limit by rate."""

import pytest

from infra.constructs.http_api import CREATED_AT_ONCE
from tests.infra.templates import Assembly

ROUTES = ("AWS::ApiGatewayV2::Route", "AWS::ApiGatewayV2::Integration")
ALARMS = ("AWS::CloudWatch::Alarm",)


@pytest.mark.parametrize(("kinds", "at_once"), [(ROUTES, CREATED_AT_ONCE), (ALARMS, 3)])
def test_resources_are_created_in_a_few_chains(
    prod: Assembly, kinds: tuple[str, ...], at_once: int
) -> None:
    resources = {name: body for kind in kinds for name, body in prod.of_type(kind).items()}
    earlier = {
        name: before
        for name, resource in resources.items()
        for before in resource.body.get("DependsOn", [])
    }
    # Each depends on another one, except the first few: this is the number of chains.
    assert len(set(earlier.values())) == len(earlier) == len(resources) - at_once
    assert [_end(earlier, name) for name in resources if _end(earlier, name) in earlier] == []


def _end(earlier: dict[str, str], name: str) -> str:
    """Return the beginning of the chain of that name; itself, if it is a circle."""
    for _ in earlier:
        name = earlier.get(name, name)
    return name


def test_the_stage_is_created_after_its_routes(hardened: Assembly) -> None:
    """API Gateway refuses settings of a route that does not exist."""
    (stage,) = hardened.of_type("AWS::ApiGatewayV2::Stage").values()
    routes = {name for kind in ROUTES for name in hardened.of_type(kind)}
    assert set(stage.body["DependsOn"]) == routes


def test_the_state_machine_is_created_long_after_its_role(prod: Assembly) -> None:
    """Step Functions tests its log destination at once, and IAM needs seconds for a new role.

    The role refers to no function, and the state machine waits for them.
    """
    role, machine = prod.resource("ExecutionsRole"), prod.resource("Executions")
    functions = {
        name for name in prod.of_type("AWS::Lambda::Function") if name in str(machine.body)
    }
    assert functions >= {"Inspect", "ProcessOutput"}
    assert not [name for name in functions if f"'{name}'" in str(role.body)]
    (invoked,) = (arns for actions, arns in prod.statements(role) if "lambda:" in actions[0])
    names = {name.rpartition(":")[2] for name in invoked}
    assert names == {f"vitrine-prod-{name}" for name in functions}
    (trust,) = role.properties["AssumeRolePolicyDocument"]["Statement"]
    condition = trust["Condition"]
    assert prod.text(condition["ArnLike"]["aws:SourceArn"]).endswith(":stateMachine:*")
    assert prod.text(condition["StringEquals"]["aws:SourceAccount"]) == "<AWS::AccountId>"
