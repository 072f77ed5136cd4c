"""Queues with their dead letters, and the mappings that wake functions from queues and streams."""

from aws_cdk import Duration, Stack
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_event_sources as sources
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs
from aws_cdk.aws_dynamodb import Table as StreamedTable

from backend.spec.queues import Queue, QueueSubscription, StreamSubscription
from infra.constructs.naming import name_exactly

VISIBILITY_FACTOR = 6
"""AWS's advice: a message stays hidden six times as long as its function may run."""


def declared_queue(
    stack: Stack, spec: Queue, *, consumer_timeout: int
) -> tuple[sqs.Queue, sqs.Queue]:
    """The queue and its dead-letter queue, `<name>DeadLetters`."""
    dead_letters = sqs.Queue(
        stack,
        f"{spec.name}DeadLetters",
        encryption=sqs.QueueEncryption.SQS_MANAGED,
        enforce_ssl=True,
        retention_period=Duration.days(spec.retention_days),
    )
    queue = sqs.Queue(
        stack,
        spec.name,
        encryption=sqs.QueueEncryption.SQS_MANAGED,
        enforce_ssl=True,
        retention_period=Duration.days(spec.retention_days),
        visibility_timeout=Duration.seconds(VISIBILITY_FACTOR * consumer_timeout),
        dead_letter_queue=sqs.DeadLetterQueue(
            queue=dead_letters, max_receive_count=spec.max_receives
        ),
    )
    name_exactly(dead_letters, f"{spec.name}DeadLetters")
    name_exactly(queue, spec.name)
    return queue, dead_letters


def map_queue(
    stack: Stack, spec: QueueSubscription, *, queue: sqs.Queue, function: lambda_.Function
) -> None:
    """Wake `function` by the queue's messages; only those that it names come back."""
    mapping = lambda_.EventSourceMapping(
        stack,
        f"{spec.source.name}To{spec.consumer}",
        target=function,
        event_source_arn=queue.queue_arn,
        batch_size=spec.batch_size,
        max_batching_window=Duration.seconds(spec.window_seconds),
        max_concurrency=spec.max_concurrency,
        report_batch_item_failures=True,
    )
    name_exactly(mapping, f"{spec.source.name}To{spec.consumer}")


def map_stream(
    stack: Stack,
    spec: StreamSubscription,
    *,
    table: StreamedTable,
    function: lambda_.Function,
    failures: s3.Bucket,
) -> None:
    """Wake `function` by the table's changes; what it never takes goes whole to `failures`.

    Retries have no number: an outage is not poison, and a record is retried until it expires.
    """
    mapping = lambda_.EventSourceMapping(
        stack,
        f"{spec.source.name}To{spec.consumer}",
        target=function,
        event_source_arn=table.table_stream_arn,
        starting_position=lambda_.StartingPosition.TRIM_HORIZON,
        batch_size=spec.batch_size,
        max_batching_window=Duration.seconds(spec.window_seconds),
        bisect_batch_on_error=spec.bisect,
        report_batch_item_failures=True,
        max_record_age=Duration.seconds(spec.max_record_age_seconds),
        on_failure=sources.S3OnFailureDestination(failures),
        support_s3_on_failure_destination=True,
    )
    name_exactly(mapping, f"{spec.source.name}To{spec.consumer}")
