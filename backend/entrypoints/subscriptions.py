"""Wires subscriptions, and the stream consumer that notifies subscribers.

After an outage the whole batch is delivered again, so some users may be notified twice. A record
that cannot be parsed is stored with the failures, so that it does not block others.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger

from backend.aws import clients
from backend.aws.items import from_wire
from backend.aws.notifications import SnsNotifications
from backend.core.deliveries import Event, Reply, failed, name_of, process_records
from backend.core.notifications import Notifications
from backend.domains.access.repository.roles import GrantRepository
from backend.domains.access.service.assigned_roles import AssignedRoles
from backend.domains.assets.repository import AssetRepository
from backend.domains.assets.service import AssetsById
from backend.domains.identity.repository.profiles import ProfileRepository
from backend.domains.identity.service.profiles import EmailAddresses
from backend.domains.subscriptions.repository import SubscriptionRepository
from backend.domains.subscriptions.rules import Happening, happening
from backend.domains.subscriptions.service import Notifier, SubscriptionService
from backend.entrypoints.wiring import Wiring
from backend.spec.buckets import FAILURE_BUCKET
from backend.spec.settings import SUBSCRIBERS_PER_MINUTE

if TYPE_CHECKING:
    from backend.search.indexing.failures import Failures

Handler = Callable[[dict[str, Any], Any], Reply]
_logger = Logger()


@dataclass(eq=False, repr=False)
class NotificationsConsumer:
    """Consumes the stream of entries."""

    notifier: Notifier
    failures: "Failures"

    def consume(self, event: Event) -> Reply:
        """Notify subscribers of the changes of assets in the batch."""
        return process_records(event, self._notify)

    def _notify(self, records: list[dict[str, Any]]) -> None:
        found = (_understood(record, self.failures) for record in records)
        self.notifier.notify(one for one in found if one is not None)


@dataclass(eq=False, repr=False)
class OutdatedNotifications:
    """Replays entries that the consumer above stored or its mapping gave up, without notifications.

    Such records are old. A replay only checks whether they can be parsed now, and then removes
    them.
    """

    failures: "Failures"

    def consume(self, event: Event) -> Reply:
        """Store the records that still cannot be parsed."""
        for record in event["Records"]:
            _understood(dict(record), self.failures)
        return failed(())


def _understood(record: dict[str, Any], failures: "Failures") -> Happening | None:
    try:
        return happening(from_wire(record["dynamodb"].get("NewImage") or {}))
    except ValueError as error:
        failures.keep(name_of(record), record, str(error))
        return None


@dataclass(eq=False, repr=False)
class SubscriptionsWiring(Wiring):
    """Creates the services of the domain subscriptions, and the consumer."""

    @cached_property
    def notifications(self) -> Notifications:
        return SnsNotifications(clients.at_first_use(clients.sns), self.settings)

    @cached_property
    def addresses(self) -> EmailAddresses:
        return EmailAddresses(
            ProfileRepository(self.tables), AssignedRoles(GrantRepository(self.tables))
        )

    @cached_property
    def subscriptions(self) -> SubscriptionService:
        return SubscriptionService(
            subscriptions=SubscriptionRepository(self.tables),
            assets=AssetsById(AssetRepository(self.tables), self.assets),
            addresses=self.addresses,
            notifications=self.notifications,
            audit=self.audit,
            clock=self.clock,
            per_minute=lambda: self.settings.number(SUBSCRIBERS_PER_MINUTE),
        )

    @property
    def notifier_handler(self) -> Handler:
        from backend.search.indexing.failures import FailureStore  # noqa: PLC0415 - the API has no use for it

        bucket = self.settings.bucket(FAILURE_BUCKET)
        failures = FailureStore(self.objects, bucket, self.function.name, self.clock)
        notifier = Notifier(
            subscriptions=SubscriptionRepository(self.tables),
            assets=self.assets,
            addresses=self.addresses,
            authorization=self.authorization,
            notifications=self.notifications,
        )
        consumer = NotificationsConsumer(notifier, failures)

        @_logger.inject_lambda_context(clear_state=True)
        def handle(event: dict[str, Any], context: Any) -> Reply:  # noqa: ARG001 - Lambda's
            return consumer.consume(event)

        return handle
