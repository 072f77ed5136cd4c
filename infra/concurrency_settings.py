"""The settings of a deployment about how many instances of functions run at once."""

from collections.abc import Iterator
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, Field, model_validator

from backend.spec.queues import QUEUE_SUBSCRIPTIONS, QueueSubscription
from infra.setting_types import SETTINGS_CONFIG, of_functions

# Instances of an account that cannot be reserved. Source: Lambda Developer Guide, "Configuring
# reserved concurrency for a function".
UNRESERVED = 100
# Minimum value of a queue mapping's maximum concurrency. Source: Lambda Developer Guide,
# "Configuring scaling behavior for SQS event source mappings".
LEAST_OF_QUEUE = 2

Instances = Annotated[int, Field(ge=1)]


class ConcurrencySettings(BaseModel):
    """The settings of a stage about concurrency."""

    model_config = SETTINGS_CONFIG

    reserved_concurrency: Annotated[dict[str, Instances], AfterValidator(of_functions)] = {}
    """Reserved concurrency by function name, which is also the maximum of the function. Other
    functions share the rest, which must be at least 100: new accounts have 10 in total and
    cannot reserve any."""

    account_concurrency: Instances = 1000
    """The account's quota "Concurrent executions" of Lambda in the region. New accounts have ten:
    with fewer instances than twice what the queues may use, synthesis warns."""

    queue_concurrency: Annotated[int, Field(ge=LEAST_OF_QUEUE, le=10)] = 10
    """Maximum concurrent instances by queue. Above 2, which is the least that Lambda allows, all
    queues together may use half of `accountConcurrency`; the rest is for requests and streams."""

    @model_validator(mode="after")
    def _check_concurrency(self) -> Self:
        account, reserved = self.account_concurrency, sum(self.reserved_concurrency.values())
        by_queues = self.concurrency_of_queues
        if by_queues > account // 2 and self.queue_concurrency > LEAST_OF_QUEUE:
            raise ValueError(
                f"queueConcurrency lets queues start {by_queues} instances at once, half of "
                f"accountConcurrency is {account // 2}: raise the account's quota, or lower it"
            )
        if reserved and reserved + UNRESERVED > account:
            raise ValueError(
                f"reservedConcurrency takes {reserved} of {account} instances "
                f"(accountConcurrency), of which {UNRESERVED} have to be left"
            )
        for subscription in QUEUE_SUBSCRIPTIONS:
            name, needed = subscription.consumer, self.concurrency_of(subscription)
            # Messages of a throttled function become dead letters.
            if self.reserved_concurrency.get(name, needed) < needed:
                raise ValueError(
                    f"reservedConcurrency: {name} needs at least {needed}, as many as its queue "
                    "delivers to"
                )
        return self

    @property
    def concurrency_of_queues(self) -> int:
        """Maximum number of instances that all queues together start."""
        return sum(map(self.concurrency_of, QUEUE_SUBSCRIPTIONS))

    def warnings(self) -> Iterator[str]:
        """Yield a sentence for each setting that works, but has disadvantages."""
        by_queues, account = self.concurrency_of_queues, self.account_concurrency
        if by_queues > account // 2:
            yield (
                f"accountConcurrency is {account}, and queues may start {by_queues} instances at "
                "once: requests are throttled (503) while queues are busy; raise the account's "
                f'quota "Concurrent executions" to at least {2 * by_queues}'
            )

    def instances_needed(self) -> dict[str, str]:
        """Return the values that bootstrap compares with the account's quota.

        They are properties of its custom resource.
        """
        reserved = sum(self.reserved_concurrency.values())
        sharing = [s for s in QUEUE_SUBSCRIPTIONS if s.consumer not in self.reserved_concurrency]
        needed = {
            "InstancesRequired": reserved + UNRESERVED if reserved else 0,
            "InstancesAdvised": 2 * self.concurrency_of_queues,
            "UnreservedAdvised": 2 * sum(map(self.concurrency_of, sharing)),
        }
        return {name: str(value) for name, value in needed.items()}

    def concurrency_of(self, subscription: QueueSubscription) -> int:
        """Return how many instances of its consumer a queue starts at most."""
        return min(subscription.max_concurrency, self.queue_concurrency)
