"""The function that archives expired runs and traces of MLflow's table.

Its code is the store's package, not the product's: neither imports the other.
"""

from collections.abc import Iterator
from typing import cast

from aws_cdk import Aws, Duration, Size, Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from vitrine_mlflow.archive import BUCKET, PREFIX, TABLE

from backend.spec.buckets import ARTEFACTS_BUCKET, FAILURE_BUCKET
from backend.spec.key_layouts import TRACKING_ARCHIVE_PREFIX
from infra.constructs.alarms import of_lambda
from infra.constructs.function import ARCHITECTURE, RUNTIME, function_role
from infra.constructs.logs import log_group
from infra.constructs.naming import name_exactly
from infra.constructs.queue_consumer import ITERATOR_AGE_MS
from infra.constructs.state_machine import physical_name
from infra.grants import (
    SEAL,
    STREAM_LIST,
    STREAM_READ,
    TABLE_KEY_READ,
    TABLE_KEY_WRITE,
    write_logs,
)
from infra.resources import Resources
from infra.settings import ROOT, Settings

NAME = "TrackingArchiver"
PATTERN = (
    '{"eventName":["REMOVE"],"userIdentity":'
    '{"type":["Service"],"principalId":["dynamodb.amazonaws.com"]}}'
)
"""A filter for deletions by the time to live."""
_MAXIMUM_AGE_SECONDS = 86_400  # the time for which a stream keeps a record


def add_archiver(
    stack: Stack, table: dynamodb.Table, settings: Settings, resources: Resources
) -> None:
    """Archive items that the table's time to live deletes to the bucket of artefacts."""
    group = log_group(stack, f"{NAME}Logs", days=settings.log_retention_days, key=resources.key)
    name = physical_name(settings, NAME)
    statements = [write_logs(group.log_group_arn), *_grants(table, resources)]
    function = lambda_.Function(
        stack,
        NAME,
        function_name=name,
        description="Archives expired runs and traces of MLflow.",
        runtime=RUNTIME,
        architecture=ARCHITECTURE,
        handler="vitrine_mlflow.archive.handler",
        code=lambda_.Code.from_asset(
            str(ROOT / "tracking" / "src"), exclude=["**/__pycache__", "*.egg-info"]
        ),
        memory_size=512,
        timeout=Duration.minutes(15),
        ephemeral_storage_size=Size.gibibytes(4),  # memory for the compressed items of one run
        environment={
            TABLE: table.table_name,
            BUCKET: resources.buckets[ARTEFACTS_BUCKET.name].bucket_name,
            PREFIX: TRACKING_ARCHIVE_PREFIX,
        },
        role=cast("iam.IRole", function_role(stack, NAME, statements)),
        log_group=group,
        logging_format=lambda_.LoggingFormat.JSON,
    )
    name_exactly(function, NAME)
    _map(stack, table, function, resources)
    _watch(resources, name)


def _map(
    stack: Stack, table: dynamodb.Table, function: lambda_.Function, resources: Resources
) -> None:
    failures = resources.buckets[FAILURE_BUCKET.name].bucket_arn
    lambda_.CfnEventSourceMapping(
        stack,
        f"TrackingTableTo{NAME}",
        function_name=function.function_arn,
        event_source_arn=table.table_stream_arn,
        starting_position="TRIM_HORIZON",
        batch_size=10,
        bisect_batch_on_function_error=True,
        maximum_record_age_in_seconds=_MAXIMUM_AGE_SECONDS,
        filter_criteria=lambda_.CfnEventSourceMapping.FilterCriteriaProperty(
            filters=[lambda_.CfnEventSourceMapping.FilterProperty(pattern=PATTERN)]
        ),
        destination_config=lambda_.CfnEventSourceMapping.DestinationConfigProperty(
            on_failure=lambda_.CfnEventSourceMapping.OnFailureProperty(destination=failures)
        ),
    )


def _watch(resources: Resources, function: str) -> None:
    alarms = resources.alarms
    alarms.above(
        f"{NAME}ErrorsAlarm",
        of_lambda("Errors", function),
        statistic="Sum",
        threshold=0,
        description=f"{NAME} failed: its log contains the reason",
    )
    alarms.above(
        f"{NAME}ThrottledAlarm",
        of_lambda("Throttles", function),
        statistic="Sum",
        threshold=0,
        description=f"Lambda had no instance for {NAME}",
    )
    alarms.above(
        f"{NAME}IteratorAgeAlarm",
        of_lambda("IteratorAge", function),
        threshold=ITERATOR_AGE_MS,
        description=f"{NAME} is behind the stream of its table",
    )


def _grants(table: dynamodb.Table, resources: Resources) -> Iterator[iam.PolicyStatement]:
    archive = resources.buckets[ARTEFACTS_BUCKET.name]
    failures = resources.buckets[FAILURE_BUCKET.name]
    for actions, arns in (
        (("dynamodb:BatchWriteItem", "dynamodb:DeleteItem", "dynamodb:Query"), [table.table_arn]),
        (STREAM_READ, [cast("str", table.table_stream_arn)]),
        (STREAM_LIST, [f"{table.table_arn}/stream/*"]),
        (
            ("s3:PutObject",),
            [
                archive.arn_for_objects(f"{TRACKING_ARCHIVE_PREFIX}*"),
                failures.arn_for_objects("aws/lambda/*"),
            ],
        ),
        (("s3:ListBucket",), [failures.bucket_arn]),
    ):
        yield iam.PolicyStatement(actions=list(actions), resources=arns)
    if resources.key is not None:
        for service, uses in (("dynamodb", (*TABLE_KEY_READ, *TABLE_KEY_WRITE)), ("s3", SEAL)):
            yield iam.PolicyStatement(
                actions=list(uses),
                resources=[resources.key.key_arn],
                conditions={
                    "StringEquals": {"kms:ViaService": f"{service}.{Aws.REGION}.{Aws.URL_SUFFIX}"}
                },
            )
