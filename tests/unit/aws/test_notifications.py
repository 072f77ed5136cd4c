"""Notifications by SNS: the recipients of each message, by the filters of moto."""

import json
from typing import Any

import boto3
import pytest

from backend.aws.notifications import ATTRIBUTE, SnsNotifications, as_subject, digest
from backend.aws.settings import Settings
from backend.core.errors import InvalidInputError


class TopicMailboxes:
    """The topic; each address has a separate queue instead of a mailbox."""

    def __init__(self) -> None:
        self.sns: Any = boto3.client("sns", region_name="us-east-1")
        self.sqs: Any = boto3.client("sqs", region_name="us-east-1")
        self.topic = self.sns.create_topic(Name="test-Notifications")["TopicArn"]
        self.notifications = SnsNotifications(
            self.sns, Settings({"TOPIC_Notifications": self.topic})
        )

    def policies(self) -> dict[str, Any]:
        found = self.sns.list_subscriptions_by_topic(TopicArn=self.topic)["Subscriptions"]
        policies: dict[str, Any] = {}
        for each in found:
            arn = each["SubscriptionArn"]
            result = self.sns.get_subscription_attributes(SubscriptionArn=arn)["Attributes"]
            policies[each["Endpoint"]] = json.loads(result["FilterPolicy"])
        return policies

    def mailbox(self, email: str) -> str:
        """A queue that receives the messages that pass the address's filter."""
        url = self.sqs.create_queue(QueueName=digest(email))["QueueUrl"]
        request = self.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
        self.sns.subscribe(
            TopicArn=self.topic,
            Protocol="sqs",
            Endpoint=request["Attributes"]["QueueArn"],
            Attributes={"FilterPolicy": json.dumps(self.policies()[email])},
        )
        return url

    def received(self, mailbox: str) -> list[tuple[str, str]]:
        messages = self.sqs.receive_message(QueueUrl=mailbox, MaxNumberOfMessages=10)
        bodies = [json.loads(one["Body"]) for one in messages.get("Messages", [])]
        return [(body["Subject"], body["Message"]) for body in bodies]


@pytest.fixture
def post() -> TopicMailboxes:
    return TopicMailboxes()


def test_a_message_reaches_only_its_recipients(post: TopicMailboxes) -> None:
    for email in ("ann@x.org", "bob@x.org", "eve@x.org"):
        post.notifications.add_address(email)
    boxes = {email: post.mailbox(email) for email in ("ann@x.org", "bob@x.org", "eve@x.org")}
    post.notifications.send(["ann@x.org", "bob@x.org"], subject="Hello", text="News\n")
    found = {email: post.received(box) for email, box in boxes.items()}
    listed = [("Hello", "News\n")]
    assert found == {"ann@x.org": listed, "bob@x.org": listed, "eve@x.org": []}


def test_an_address_is_added_once_with_a_filter_for_itself(post: TopicMailboxes) -> None:
    for _ in range(2):
        post.notifications.add_address("ann@x.org")
    assert post.policies() == {"ann@x.org": {ATTRIBUTE: [digest("ann@x.org")]}}


def test_hundreds_of_recipients_are_notified_in_several_messages(post: TopicMailboxes) -> None:
    emails = [f"user{number}@x.org" for number in range(250)]
    post.notifications.add_address(emails[249])
    box = post.mailbox(emails[249])
    post.notifications.send(emails, subject="Hello", text="News")
    assert post.received(box) == [("Hello", "News")]


def test_capitals_make_no_other_address() -> None:
    assert digest("Ann@X.org") == digest("ann@x.org")


def test_a_subject_is_printable_ascii_of_a_hundred_characters() -> None:
    assert as_subject("Changed: Löwe\n\u200b") == "Changed: L?we??"
    assert len(as_subject("Changed: " + "x" * 300)) == 100


def test_a_request_that_sns_rejects_is_invalid(post: TopicMailboxes) -> None:
    with pytest.raises(InvalidInputError):
        post.notifications.send(["ann@x.org"], subject="x", text="y" * 300_000)
