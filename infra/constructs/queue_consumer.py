"""Queues with their dead letters, and the mappings of queues and streams to functions."""

from aws_cdk import Duration, Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs

from backend.spec.queues import Queue, QueueSubscription, StreamSubscription
from infra.constructs.naming import name_exactly

# Age of a stream's records above which an alarm is raised: a stream keeps them for 24 hours, and an
# operator needs most of that.
ITERATOR_AGE_MS = 300_000


def declared_queue(
    stack: Stack, spec: Queue, *, consumer_timeout: int, key: kms.IKey | None
) -> tuple[sqs.Queue, sqs.Queue]:
    """Return the queue and its dead-letter queue, `<name>DeadLetters`."""
    dead_letters = sqs.Queue(
        stack,
        f"{spec.name}DeadLetters",
        encryption=sqs.QueueEncryption.KMS if key else sqs.QueueEncryption.SQS_MANAGED,
        encryption_master_key=key,
        enforce_ssl=True,
        retention_period=Duration.days(spec.retention_days),
    )
    queue = sqs.Queue(
        stack,
        spec.name,
        encryption=sqs.QueueEncryption.KMS if key else sqs.QueueEncryption.SQS_MANAGED,
        encryption_master_key=key,
        enforce_ssl=True,
        retention_period=Duration.days(spec.retention_days),
        visibility_timeout=Duration.seconds(spec.time_outs_hidden * consumer_timeout),
        dead_letter_queue=sqs.DeadLetterQueue(
            queue=dead_letters, max_receive_count=spec.max_receives
        ),
    )
    name_exactly(dead_letters, f"{spec.name}DeadLetters")
    name_exactly(queue, spec.name)
    return queue, dead_letters


def map_queue(
    stack: Stack,
    spec: QueueSubscription,
    *,
    queue: sqs.Queue,
    function: lambda_.Function,
    concurrency: int,
) -> None:
    """Invoke `function` with the queue's messages.

    Only messages that it returns are delivered again.
    """
    lambda_.CfnEventSourceMapping(
        stack,
        f"{spec.source.name}To{spec.consumer}",
        function_name=function.function_arn,
        event_source_arn=queue.queue_arn,
        batch_size=spec.batch_size,
        maximum_batching_window_in_seconds=spec.window_seconds,
        scaling_config=lambda_.CfnEventSourceMapping.ScalingConfigProperty(
            maximum_concurrency=concurrency
        ),
        function_response_types=["ReportBatchItemFailures"],
    )


def map_stream(
    stack: Stack,
    spec: StreamSubscription,
    *,
    table: dynamodb.Table,
    function: lambda_.Function,
    failures: s3.Bucket,
    with_events: bool,
) -> None:
    """Invoke `function` with the table's changes; batches that never succeed go to `failures`.

    Retries are not limited: an outage is not poison, and a record is retried until it expires.
    """
    filters = None
    text = (spec.pattern_with_events if with_events else None) or spec.pattern
    if text is not None:
        pattern = lambda_.CfnEventSourceMapping.FilterProperty(pattern=text)
        filters = lambda_.CfnEventSourceMapping.FilterCriteriaProperty(filters=[pattern])
    lambda_.CfnEventSourceMapping(
        stack,
        f"{spec.source.name}To{spec.consumer}",
        function_name=function.function_arn,
        event_source_arn=table.table_stream_arn,
        starting_position="TRIM_HORIZON",
        batch_size=spec.batch_size,
        maximum_batching_window_in_seconds=spec.window_seconds,
        bisect_batch_on_function_error=spec.bisect,
        function_response_types=["ReportBatchItemFailures"],
        maximum_record_age_in_seconds=spec.max_record_age_seconds,
        filter_criteria=filters,
        destination_config=lambda_.CfnEventSourceMapping.DestinationConfigProperty(
            on_failure=lambda_.CfnEventSourceMapping.OnFailureProperty(
                destination=failures.bucket_arn
            )
        ),
    )
