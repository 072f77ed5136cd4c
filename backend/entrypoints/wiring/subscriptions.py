"""Wires subscriptions, and the stream consumer that notifies subscribers."""

from functools import partial

from backend.aws import clients
from backend.aws.notifications import SnsNotifications
from backend.core.notifications import Notifications
from backend.domains.access.repository.roles import GrantRepository
from backend.domains.access.service.assigned_roles import AssignedRoles
from backend.domains.identity.repository.profiles import ProfileRepository
from backend.domains.identity.service.profiles import EmailAddresses
from backend.domains.subscriptions.repository import SubscriptionRepository
from backend.domains.subscriptions.service.commands import SubscriptionService
from backend.domains.subscriptions.service.notifications import Notifier
from backend.entrypoints.wiring.assets import assets
from backend.entrypoints.wiring.context import Context, once
from backend.spec.settings import SUBSCRIBERS_PER_MINUTE


@once
def notifications(context: Context) -> Notifications:
    return SnsNotifications(clients.at_first_use(clients.sns), context.settings)


def subscriptions(context: Context) -> SubscriptionService:
    return SubscriptionService(
        subscriptions=SubscriptionRepository(context.tables),
        assets=assets(context),
        addresses=_addresses(context),
        notifications=notifications(context),
        audit=context.audit,
        clock=context.clock,
        per_minute=partial(context.settings.number, SUBSCRIBERS_PER_MINUTE),
    )


def notifier(context: Context) -> Notifier:
    return Notifier(
        subscriptions=SubscriptionRepository(context.tables),
        assets=assets(context),
        addresses=_addresses(context),
        authorization=context.authorization,
        notifications=notifications(context),
    )


def _addresses(context: Context) -> EmailAddresses:
    roles = AssignedRoles(GrantRepository(context.tables))
    return EmailAddresses(ProfileRepository(context.tables), roles)
