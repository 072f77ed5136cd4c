"""SNS topics.

The engine keeps them in memory, so each start creates them again, by the same name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from local import arns
from local.resources.base import Context, Created, Properties, parse

if TYPE_CHECKING:
    from local.assembly import Resource
    from local.clients import Clients
    from local.plan import Plan


class SnsTopic(Properties):
    """`AWS::SNS::Topic`; the engine sends no e-mail and encrypts nothing."""

    no_effect = "DisplayName Tags"

    topic_name: str | None = None
    kms_master_key_id: str | None = None


def create_topic(context: Context, resource: Resource) -> Created:
    """Create the topic if it does not exist."""
    topic = parse(SnsTopic, resource)
    name = topic.topic_name or arns.physical_name(resource.stack, resource.logical_id, limit=256)
    topic_arn = context.clients.sns.create_topic(Name=name)["TopicArn"]
    context.roles.record_encryption_key(topic_arn, topic.kms_master_key_id)
    context.plan.topics.append(name)
    return Created(topic_arn, {"TopicArn": topic_arn, "TopicName": name})


def recreate(clients: Clients, plan: Plan) -> None:
    """Create the topics that the engine has lost by its restart; subscriptions are lost."""
    for name in plan.topics:
        clients.sns.create_topic(Name=name)
