"""What runs workflows: the state machine, the functions that it calls, alarms for both."""

from aws_cdk import Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from backend.spec.functions import FUNCTIONS
from infra.assets import Folders
from infra.constructs.alarms import Alarms
from infra.constructs.function import FunctionsOf
from infra.constructs.state_machine import declared_state_machine
from infra.resources import Resources
from infra.settings import Settings


class PipelinesStack(Stack):
    """Deployed after the indexing stack, to whose queues the function that stores outputs sends."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        settings: Settings,
        resources: Resources,
        folders: Folders,
    ) -> None:
        super().__init__(scope, name, description="Vitrine: what runs workflows")
        declared = {
            kind: [s for s in FUNCTIONS if s.kind == kind] for kind in ("pipeline", "output")
        }
        made = FunctionsOf(self, settings=settings, resources=resources, folders=folders)
        outputs = [made.make(spec) for spec in declared["output"]]
        machine = declared_state_machine(
            self,
            settings=settings,
            resources=resources,
            pipelines=[made.make(spec) for spec in declared["pipeline"]],
            process_output=outputs[0] if outputs else None,
        )
        self._watch(Alarms(self, settings), machine)

    def _watch(self, alarms: Alarms, machine: sfn.CfnStateMachine) -> None:
        alarms.above(
            "ExecutionsThrottledAlarm",
            cloudwatch.Metric(
                namespace="AWS/States",
                metric_name="ExecutionThrottled",
                dimensions_map={"StateMachineArn": machine.attr_arn},
            ),
            statistic="Sum",
            threshold=0,
            description="Step Functions delayed steps of executions: raise the account's quotas",
        )
