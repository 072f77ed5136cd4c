"""The state machine of executions: its definition, its permissions, the content of its log."""

from collections.abc import Callable
from typing import Any

import pytest

from backend.spec.buckets import AUXILIARY_BUCKET
from backend.spec.functions import FUNCTIONS
from backend.spec.state_machine import definition
from infra.constructs.state_machine import DELIVER_LOGS
from infra.settings import SettingsError, default_context, read_settings
from tests.infra.contexts import CONTEXTS
from tests.infra.templates import STATE_MACHINE, Assembly

CALLED = [spec for spec in FUNCTIONS if spec.kind in {"pipeline", "output"}]
ALLOWED = {
    "ExecutionsApi": {"states:GetExecutionHistory", "states:StopExecution"},
    "ExecutionStarter": {"states:StartExecution", "states:StopExecution"},
    "ReconcileExecutions": {"states:DescribeExecution"},
}


def _machine(assembly: Assembly) -> dict[str, Any]:
    (machine,) = assembly.of_type("AWS::StepFunctions::StateMachine").values()
    assert machine.stack == "pipelines"
    return machine.properties


def test_the_state_machine_is_the_declared_one(assembly: Assembly) -> None:
    properties = _machine(assembly)
    assert properties["StateMachineType"] == "STANDARD"
    arn = STATE_MACHINE.rpartition(":")[2]
    stage = properties["StateMachineName"].split("-")[1]
    assert properties["StateMachineName"] == arn.format(stage=stage)
    declared = definition("function" if any(s.kind == "output" for s in CALLED) else None)
    assert list(properties["Definition"]["States"]) == list(declared["States"])


def test_its_log_holds_every_state_and_no_data_of_executions(assembly: Assembly) -> None:
    logging = _machine(assembly)["LoggingConfiguration"]
    assert (logging["Level"], logging["IncludeExecutionData"]) == ("ALL", False)
    (destination,) = logging["Destinations"]
    group = destination["CloudWatchLogsLogGroup"]["LogGroupArn"]
    assert assembly.text(group) == "<ExecutionsLogs.Arn>"
    name = assembly.resource("ExecutionsLogs").properties["LogGroupName"]
    assert name.startswith("/aws/vendedlogs/states/")


def _allowed(assembly: Assembly) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for actions, resources in assembly.statements(assembly.resource("ExecutionsRole")):
        for action in actions:
            found.setdefault(action, []).extend(resources)
    for action in DELIVER_LOGS:
        assert found.pop(action) == ["*"]
    return found


def test_it_calls_functions_that_are_declared_for_it_and_nothing_else(assembly: Assembly) -> None:
    arns = sorted(f"<{spec.name}.Arn>" for spec in CALLED)
    assert _allowed(assembly) == {
        "lambda:InvokeFunction": arns,
        "s3:ListBucket": [f"<{AUXILIARY_BUCKET.name}.Arn>"],
    }


def test_a_stage_allows_further_functions_queues_and_buses(
    synthesized: Callable[[str], Assembly],
) -> None:
    context = CONTEXTS["locked"]
    allowed = _allowed(synthesized("locked"))
    functions = [a for a in allowed["lambda:InvokeFunction"] if not a.startswith("<")]
    assert functions == context["allowedPipelineFunctions"]
    assert allowed["sqs:SendMessage"] == context["allowedPipelineQueues"]
    assert allowed["events:PutEvents"] == context["allowedPipelineBuses"]


def test_only_executions_of_this_state_machine_take_its_role(prod: Assembly) -> None:
    policy = prod.resource("ExecutionsRole").properties["AssumeRolePolicyDocument"]
    (statement,) = policy["Statement"]
    assert statement["Principal"] == {"Service": "states.amazonaws.com"}
    arn = prod.text(statement["Condition"]["ArnEquals"]["aws:SourceArn"])
    assert arn == STATE_MACHINE.format(stage="prod")


def test_a_function_makes_its_requests_about_executions_and_no_others(prod: Assembly) -> None:
    arn = STATE_MACHINE.format(stage="prod")
    assert {spec.name for spec in FUNCTIONS if spec.runs} == set(ALLOWED)
    for name, allowed in ALLOWED.items():
        found = {
            action: resources
            for actions, resources in prod.statements(prod.resource(f"{name}Role"))
            for action in actions
            if action.startswith("states:")
        }
        executions = [f"{arn.replace('stateMachine', 'execution')}:*"]
        assert found == {
            action: [arn] if action == "states:StartExecution" else executions for action in allowed
        }


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("allowedPipelineFunctions", "convert"),
        ("allowedPipelineFunctions", "arn:aws:lambda:eu-central-1:111122223333:function:*"),
        (
            "allowedPipelineFunctions",
            "arn:aws:lambda:eu-central-1:111122223333:function:vitrine-prod-api-AssetsApi",
        ),
        ("allowedPipelineQueues", "https://sqs.eu-central-1.amazonaws.com/111122223333/renders"),
        ("allowedPipelineBuses", "default"),
    ],
)
def test_a_resource_that_pipelines_may_not_name_is_refused(name: str, value: str) -> None:
    context: dict[str, object] = default_context() | {"stage": "prod", name: [value]}
    with pytest.raises(SettingsError, match=name):
        read_settings(context.get)
