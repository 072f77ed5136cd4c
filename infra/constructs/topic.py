"""SNS topics as declared."""

from aws_cdk import Stack
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns

from backend.spec.topics import Topic
from infra.constructs.naming import name_exactly


def declared_topic(stack: Stack, spec: Topic, *, key: kms.IKey | None) -> sns.Topic:
    """Return the topic, which accepts messages over TLS only."""
    topic = sns.Topic(stack, spec.name, display_name="Vitrine", enforce_ssl=True, master_key=key)
    name_exactly(topic, spec.name)
    return topic
