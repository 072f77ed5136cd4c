"""The routes of subscriptions."""

from backend.domains.subscriptions.models import (
    CheckBody,
    DoneReply,
    SubscriptionBody,
    SubscriptionReply,
    Subscriptions,
    SubscriptionsQuery,
    SubscriptionsReply,
)
from backend.domains.subscriptions.service.commands import Listed, SubscriptionService
from backend.http.call import Call
from backend.http.router import Router
from backend.spec import routes
from backend.spec.tables.registry import SUBSCRIPTION_ENTITY

# The text that VAMS clients compare replies with.
_DONE = "success"


def build_router(service: SubscriptionService) -> Router:
    """Bind the routes of subscriptions to the service."""
    router = Router()

    @router.bind(routes.LIST_SUBSCRIPTIONS)
    def list_subscriptions(call: Call, query: SubscriptionsQuery) -> SubscriptionsReply:
        page = service.list_subscriptions(call.caller, call.page(query))
        items = [reply for listed in page.items for reply in _replies(listed)]
        listing = Subscriptions(items=items, next_token=call.next_token(page.after))
        return SubscriptionsReply(message=listing)

    @router.bind(routes.CREATE_SUBSCRIPTION)
    def create_subscription(call: Call, body: SubscriptionBody) -> DoneReply:
        service.create_subscription(call.caller, body)
        return DoneReply(message=_DONE)

    @router.bind(routes.UPDATE_SUBSCRIPTION)
    def update_subscription(call: Call, body: SubscriptionBody) -> DoneReply:
        service.update_subscription(call.caller, body)
        return DoneReply(message=_DONE)

    @router.bind(routes.DELETE_SUBSCRIPTION)
    def delete_subscription(call: Call, body: SubscriptionBody) -> DoneReply:
        service.delete_subscription(call.caller, body)
        return DoneReply(message=_DONE)

    @router.bind(routes.UNSUBSCRIBE)
    def unsubscribe(call: Call, body: SubscriptionBody) -> DoneReply:
        service.unsubscribe(call.caller, body)
        return DoneReply(message=_DONE)

    @router.bind(routes.CHECK_SUBSCRIPTION)
    def check_subscription(call: Call, body: CheckBody) -> DoneReply:
        is_subscribed = service.is_subscribed(call.caller, body.user_id, body.asset_id)
        return DoneReply(message=_DONE if is_subscribed else "Not subscribed")

    return router


def _replies(listed: Listed) -> list[SubscriptionReply]:
    if listed.asset is None:
        return []
    return [
        SubscriptionReply(
            event_name=listed.row.event_name,
            entity_name=SUBSCRIPTION_ENTITY,
            entity_id=listed.row.entity_id,
            subscribers=listed.row.subscribers,
            entity_value=listed.asset.asset_name,
            database_id=listed.asset.database_id,
        )
    ]
