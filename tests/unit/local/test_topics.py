"""Topics of the templates: the same ones at every start, made again when the engine forgot them."""

from types import SimpleNamespace
from typing import Any, cast

import boto3
import pytest
from moto import mock_aws

from local.assembly import Resource
from local.clients import Clients
from local.errors import AssemblyError
from local.plan import Plan
from local.resources.base import Context
from local.resources.sns import create_topic, recreate


class Keys:
    """Return the published messages about keys."""

    def __init__(self) -> None:
        self.noted: dict[str, str | None] = {}

    def record_encryption_key(self, resource: str, key: str | None) -> None:
        self.noted[resource] = key


def resource(**properties: Any) -> Resource:
    return cast(
        "Resource",
        SimpleNamespace(
            stack="vitrine-local-storage",
            logical_id="Notifications",
            kind="AWS::SNS::Topic",
            properties=properties,
        ),
    )


@pytest.fixture
def context() -> Any:
    clients = SimpleNamespace(sns=boto3.client("sns", region_name="us-east-1"))
    return SimpleNamespace(clients=clients, roles=Keys(), plan=Plan())


@mock_aws
def test_a_topic_has_the_same_arn_at_every_start_and_after_a_restart_of_its_engine(
    context: Any,
) -> None:
    declared = resource(DisplayName="Vitrine", KmsMasterKeyId="key")
    made = create_topic(cast("Context", context), declared)
    assert create_topic(cast("Context", context), declared).ref == made.ref
    assert context.roles.noted == {made.ref: "key"}
    context.clients.sns.delete_topic(TopicArn=made.ref)
    recreate(cast("Clients", context.clients), context.plan)
    listed = context.clients.sns.list_topics()["Topics"]
    assert [topic["TopicArn"] for topic in listed] == [made.ref]


@mock_aws
def test_messages_of_a_topic_are_not_dropped_in_silence(context: Any) -> None:
    with pytest.raises(AssemblyError, match="FifoTopic"):
        create_topic(cast("Context", context), resource(FifoTopic=True))
