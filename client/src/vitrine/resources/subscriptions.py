"""Subscriptions: who is notified by e-mail of the changes of which asset."""

from collections.abc import Iterator, Sequence

from pydantic import Field

from vitrine import api_models as api
from vitrine.api_models import Subscription as Subscription
from vitrine.errors import ProtocolError
from vitrine.models import Message, Wire
from vitrine.resources.resource import Resource
from vitrine.transport import path_of

EVENT = "Asset Version Change"
ENTITY = "Asset"
_SUBSCRIBED = "success"


class _Page(Wire):
    items: list[Subscription] = Field(alias="Items")
    next_token: str | None = Field(default=None, alias="NextToken")


class _Listing(Wire):
    message: _Page


class Subscriptions(Resource):
    def list(self, *, page_size: int | None = None) -> Iterator[Subscription]:
        """List every subscription, page after page, fetched as it is consumed."""
        token: str | None = None
        seen: set[str] = set()
        while True:
            query = {"pageSize": page_size, "startingToken": token}
            page = self._transport.read(_Listing, path_of("subscriptions"), query=query).message
            yield from page.items
            token = page.next_token
            if token is None:
                return
            if token in seen:
                raise ProtocolError(
                    "GET /subscriptions: the server returned the same page token twice"
                )
            seen.add(token)

    def create(self, asset_id: str, subscribers: Sequence[str]) -> Message:
        """Subscribe further users. Raises ConflictError if one is subscribed already."""
        return self._write("POST", "subscriptions", asset_id, subscribers)

    def update(self, asset_id: str, subscribers: Sequence[str]) -> Message:
        """Replace the subscribers. Raises NotFoundError if there are none."""
        return self._write("PUT", "subscriptions", asset_id, subscribers)

    def delete(self, asset_id: str) -> Message:
        """Remove all subscribers."""
        everyone = ["everyone"]  # the contract requires some name here, and accepts any
        return self._write("DELETE", "subscriptions", asset_id, everyone)

    def unsubscribe(self, asset_id: str, subscribers: Sequence[str]) -> Message:
        """Unsubscribe users. Raises NotFoundError if one of them is not subscribed."""
        return self._write("DELETE", "unsubscribe", asset_id, subscribers)

    def is_subscribed(self, asset_id: str, user_id: str) -> bool:
        body = api.CheckBody(user_id=user_id, asset_id=asset_id)
        path = path_of("check-subscription")
        reply = self._transport.write(Message, "POST", path, body=body)
        return reply.message == _SUBSCRIBED

    def _write(self, method: str, route: str, asset_id: str, subscribers: Sequence[str]) -> Message:
        body = api.SubscriptionBody(
            event_name=EVENT, entity_name=ENTITY, entity_id=asset_id, subscribers=subscribers
        )
        return self._transport.write(Message, method, path_of(route), body=body)
