"""The resources that run workflows: the state machine, the functions that it calls, and alarms."""

from dataclasses import replace

from aws_cdk import Aws, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from backend.spec.buckets import ASSET_BUCKET, AUXILIARY_BUCKET
from backend.spec.functions import FUNCTIONS
from backend.spec.functions.inspection import WAITING_MEMORY_MB, WAITING_STORAGE_MB
from infra.assets import Folders
from infra.constructs.function import FunctionsOf
from infra.constructs.logs import log_group
from infra.constructs.network import readers_network
from infra.constructs.state_machine import declared_state_machine
from infra.resources import Resources
from infra.settings import Settings


class PipelinesStack(Stack):
    """Deployed after the indexing stack: the function that stores outputs sends to its queues."""

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
            kind: [s for s in FUNCTIONS if s.kind == kind]
            for kind in ("pipeline", "output", "reader")
        }
        made = FunctionsOf(self, settings=settings, resources=resources, folders=folders)
        if settings.readers_in_vpc:
            days = settings.log_retention_days
            group = log_group(self, "ReadersFlowLogs", days=days, key=resources.key)
            arns = [resources.buckets[b.name].bucket_arn for b in (ASSET_BUCKET, AUXILIARY_BUCKET)]
            arns += [f"arn:{Aws.PARTITION}:s3:::{name}" for name in resources.imported_buckets]
            resources.readers_network = readers_network(self, buckets=arns, refusals=group)
        if settings.readers != "off":
            resources.readers = {spec.name: made.make(spec) for spec in declared["reader"]}
        if settings.readers == "always":  # pipelines that only wait for their readers are small
            declared["pipeline"] = [
                replace(spec, memory_mb=WAITING_MEMORY_MB, storage_mb=WAITING_STORAGE_MB)
                if spec.calls
                else spec
                for spec in declared["pipeline"]
            ]
        outputs = [made.make(spec) for spec in declared["output"]]
        declared_state_machine(
            self,
            settings=settings,
            resources=resources,
            pipelines=[made.make(spec) for spec in declared["pipeline"]],
            process_output=outputs[0] if outputs else None,
        )
        self._watch(resources)

    def _watch(self, resources: Resources) -> None:
        resources.alarms.above(
            "ExecutionsThrottledAlarm",
            cloudwatch.Metric(
                namespace="AWS/States",
                metric_name="ExecutionThrottled",
                dimensions_map={"StateMachineArn": resources.state_machine},
            ),
            statistic="Sum",
            threshold=0,
            description="Step Functions delayed steps of executions: raise the account's quotas",
        )
