"""The state machine that runs executions: its definition, its role, its log."""

from collections.abc import Iterable
from typing import cast

from aws_cdk import Aws, RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_stepfunctions as sfn

from backend.spec.buckets import AUXILIARY_BUCKET
from backend.spec.state_machine import NAME, definition
from infra.constructs.logs import log_group
from infra.constructs.naming import name_exactly
from infra.resources import Resources
from infra.settings import Settings

# The actions that Step Functions requires of the role to write logs. They cannot be limited to one
# log group. Source: Step Functions Developer Guide, "Using CloudWatch Logs to log execution
# history".
DELIVER_LOGS = (
    "logs:CreateLogDelivery",
    "logs:DeleteLogDelivery",
    "logs:DescribeLogGroups",
    "logs:DescribeResourcePolicies",
    "logs:GetLogDelivery",
    "logs:ListLogDeliveries",
    "logs:PutResourcePolicy",
    "logs:UpdateLogDelivery",
)


def physical_name(settings: Settings, name: str) -> str:
    """Return the fixed name of the state machine, or of a function."""
    # Fixed, because executions are started from earlier stacks and ended from later ones, and
    # because an alarm that refers to a function would prevent its removal (see `AlarmsStack`).
    return f"vitrine-{settings.stage}-{name}"


def state_machine_arn(settings: Settings) -> str:
    """Return the ARN of the state machine, without a reference to its stack."""
    name = physical_name(settings, NAME)
    return f"arn:{Aws.PARTITION}:states:{Aws.REGION}:{Aws.ACCOUNT_ID}:stateMachine:{name}"


def declared_state_machine(
    stack: Stack,
    *,
    settings: Settings,
    resources: Resources,
    pipelines: Iterable[lambda_.Function],
    process_output: lambda_.Function | None,
) -> sfn.CfnStateMachine:
    """Return the state machine, which may call its functions and the resources in the settings."""
    called = [*pipelines, *([process_output] if process_output else [])]
    group = _log_group(stack, settings, resources)
    machine = sfn.CfnStateMachine(
        stack,
        "Executions",
        state_machine_name=physical_name(settings, NAME),
        state_machine_type="STANDARD",
        role_arn=_role(stack, settings, called, resources).role_arn,
        definition=definition(
            process_output.function_arn if process_output else None, partition=Aws.PARTITION
        ),
        # No encryption configuration, also with a customer-managed key: with one, status events
        # would lack the error and cause of a failed execution.
        logging_configuration=sfn.CfnStateMachine.LoggingConfigurationProperty(
            level="ALL",
            # Execution data holds task tokens and users' metadata.
            include_execution_data=False,
            destinations=[
                sfn.CfnStateMachine.LogDestinationProperty(
                    cloud_watch_logs_log_group=sfn.CfnStateMachine.CloudWatchLogsLogGroupProperty(
                        log_group_arn=group.log_group_arn
                    )
                )
            ],
        ),
    )
    # Step Functions tests the log destination with the role, for which IAM needs some seconds: the
    # role refers to no function and is created first, the state machine after the functions.
    machine.node.add_dependency(*called)
    machine.apply_removal_policy(RemovalPolicy.DESTROY)
    # cfn-lint 1.58 takes numbers only for the time-outs of a task, which may be JSONata.
    machine.add_metadata("cfn-lint", {"config": {"ignore_checks": ["E3601"]}})
    return machine


def _log_group(stack: Stack, settings: Settings, resources: Resources) -> logs.LogGroup:
    group = log_group(stack, "ExecutionsLogs", days=settings.log_retention_days, key=resources.key)
    resource = group.node.default_child
    if isinstance(resource, logs.CfnLogGroup):
        # Log groups with this prefix do not count for the account's resource policy of logs.
        resource.log_group_name = f"/aws/vendedlogs/states/{physical_name(settings, NAME)}"
    return group


def _role(
    stack: Stack, settings: Settings, called: list[lambda_.Function], resources: Resources
) -> iam.Role:
    of_account = f"arn:{Aws.PARTITION}:lambda:{Aws.REGION}:{Aws.ACCOUNT_ID}:function"
    functions = [f"{of_account}:{physical_name(settings, f.node.id)}" for f in called]
    calls = (
        ("lambda:InvokeFunction", [*functions, *settings.allowed_pipeline_functions]),
        ("sqs:SendMessage", settings.allowed_pipeline_queues),
        ("events:PutEvents", settings.allowed_pipeline_buses),
        ("s3:ListBucket", [resources.buckets[AUXILIARY_BUCKET.name].bucket_arn]),
    )
    allowed = [
        iam.PolicyStatement(actions=[action], resources=list(arns))
        for action, arns in calls
        if arns
    ]
    allowed.append(iam.PolicyStatement(actions=list(DELIVER_LOGS), resources=["*"]))
    service = iam.ServicePrincipal(
        "states.amazonaws.com",
        conditions={
            "StringEquals": {"aws:SourceAccount": stack.account},
            # As Step Functions documents it ("Prevent cross-service confused deputy issue").
            "ArnLike": {
                "aws:SourceArn": state_machine_arn(settings).replace(
                    physical_name(settings, NAME), "*"
                )
            },
        },
    )
    role = iam.Role(
        stack,
        "ExecutionsRole",
        description="What executions of workflows may call",
        assumed_by=cast("iam.IPrincipal", service),
        inline_policies={"Declared": iam.PolicyDocument(statements=allowed)},
    )
    name_exactly(role, "ExecutionsRole")
    return role
