"""SQS queues with their attributes and dead-letter queues."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from local import arns
from local.plan import Queue
from local.resources.base import Context, Created, Properties, parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mypy_boto3_sqs.literals import QueueAttributeNameType

    from local.assembly import Resource
    from local.clients import Clients
    from local.plan import Plan


class Redrive(Properties):
    """The queue for messages that were received too often; CloudFormation uses SQS's own names."""

    dead_letter_target_arn: str
    max_receive_count: int

    model_config = Properties.model_config | ConfigDict(alias_generator=to_camel)


class SqsQueue(Properties):
    """`AWS::SQS::Queue`; the engine stores its messages unencrypted and has no tags."""

    no_effect = "KmsDataKeyReusePeriodSeconds RedriveAllowPolicy SqsManagedSseEnabled Tags"

    queue_name: str | None = None
    content_based_deduplication: bool | None = None
    delay_seconds: int | None = None
    fifo_queue: bool = False
    maximum_message_size: int | None = None
    message_retention_period: int | None = None
    receive_message_wait_time_seconds: int | None = None
    redrive_policy: Redrive | None = None
    visibility_timeout: int | None = None
    kms_master_key_id: str | None = None


def create_queue(context: Context, resource: Resource) -> Created:
    """Create the queue if it does not exist, and set its attributes."""
    queue = parse(SqsQueue, resource)
    suffix = ".fifo" if queue.fifo_queue else ""
    limit = 80 - len(suffix)
    name = queue.queue_name or (
        arns.physical_name(resource.stack, resource.logical_id, limit=limit) + suffix
    )
    client = context.clients.sqs
    attributes = _attributes(queue)
    try:
        url = client.get_queue_url(QueueName=name)["QueueUrl"]
    except client.exceptions.QueueDoesNotExist:
        url = client.create_queue(QueueName=name, Attributes=_named(attributes))["QueueUrl"]
        context.fresh.append(f"queue {name}")
    else:
        changeable = {key: value for key, value in attributes.items() if key != "FifoQueue"}
        if changeable:
            client.set_queue_attributes(QueueUrl=url, Attributes=_named(changeable))
    context.stateful.append(f"queue {name}")
    queue_arn = arns.arn("sqs", name)
    context.roles.record_encryption_key(queue_arn, queue.kms_master_key_id)
    redrive = queue.redrive_policy
    context.plan.queues[queue_arn] = Queue(
        name=name,
        arn=queue_arn,
        url=url,
        attributes=attributes,
        dead_letters=redrive.dead_letter_target_arn if redrive else None,
    )
    return Created(url, {"Arn": queue_arn, "QueueName": name, "QueueUrl": url})


def recreate(clients: Clients, plan: Plan) -> None:
    """Create the queues that an engine without persistence has lost by its restart."""
    known = {url.rsplit("/", 1)[-1] for url in clients.sqs.list_queues().get("QueueUrls", [])}
    for queue in plan.queues.values():  # dead-letter queues come first, as in the template
        if queue.name not in known:
            clients.sqs.create_queue(QueueName=queue.name, Attributes=_named(queue.attributes))


def _named(attributes: Mapping[str, str]) -> Mapping[QueueAttributeNameType, str]:
    return cast("Mapping[QueueAttributeNameType, str]", attributes)


def _attributes(queue: SqsQueue) -> dict[str, str]:
    numbers = {
        "DelaySeconds": queue.delay_seconds,
        "MaximumMessageSize": queue.maximum_message_size,
        "MessageRetentionPeriod": queue.message_retention_period,
        "ReceiveMessageWaitTimeSeconds": queue.receive_message_wait_time_seconds,
        "VisibilityTimeout": queue.visibility_timeout,
    }
    attributes = {name: str(value) for name, value in numbers.items() if value is not None}
    if queue.content_based_deduplication is not None:
        attributes["ContentBasedDeduplication"] = str(queue.content_based_deduplication).lower()
    if queue.fifo_queue:
        attributes["FifoQueue"] = "true"
    if queue.redrive_policy:
        attributes["RedrivePolicy"] = json.dumps(
            {
                "deadLetterTargetArn": queue.redrive_policy.dead_letter_target_arn,
                "maxReceiveCount": queue.redrive_policy.max_receive_count,
            }
        )
    return attributes
