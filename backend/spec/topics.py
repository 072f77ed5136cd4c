"""SNS topics, which notify people."""

from backend.values import frozen


@frozen
class Topic:
    """A standard topic."""

    name: str
    description: str


NOTIFICATIONS = Topic("Notifications", "Emails to subscribers of assets.")

TOPICS = (NOTIFICATIONS,)
