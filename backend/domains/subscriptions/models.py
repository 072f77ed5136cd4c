"""Subscriptions as stored, and the bodies and replies of their routes."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from backend.core.models import PageQuery, WireModel
from backend.core.names import AssetId, UserId
from backend.spec.keys import SUBSCRIBED_ENTITY

# Subscribers of one asset. Their ids fit one item, and their addresses a few requests.
MAX_SUBSCRIBERS = 500
# Users in one request. Each may take a request to SNS.
MAX_ASKED = 50


def _each_once(users: list[str]) -> list[str]:
    if len(set(users)) < len(users):
        raise ValueError("contains a user twice")
    return users


class Subscription(WireModel):
    """The subscribers of an asset as stored.

    Rows that another product wrote have neither `database_id` nor `revision`.
    """

    event_name: str
    key: Annotated[str, Field(alias=SUBSCRIBED_ENTITY.name)]
    subscribers: list[str]
    database_id: str | None = None
    revision: int | None = None

    @property
    def entity_id(self) -> str:
        return SUBSCRIBED_ENTITY.parse(self.key)[1]


class SubscriptionBody(WireModel):
    event_name: Literal["Asset Version Change"]
    entity_name: Literal["Asset"]
    entity_id: AssetId
    subscribers: Annotated[
        list[UserId], Field(min_length=1, max_length=MAX_ASKED), AfterValidator(_each_once)
    ]


class CheckBody(WireModel):
    user_id: UserId
    asset_id: AssetId


class SubscriptionReply(WireModel):
    """`entity_value` is the name of the asset."""

    event_name: str
    entity_name: str
    entity_id: str
    subscribers: list[str]
    entity_value: str
    database_id: str


class SubscriptionsQuery(PageQuery):
    most_items = 100


class Subscriptions(WireModel):
    items: Annotated[list[SubscriptionReply], Field(alias="Items")]
    next_token: Annotated[str | None, Field(alias="NextToken")] = None


class SubscriptionsReply(WireModel):
    message: Subscriptions


class DoneReply(WireModel):
    message: str
