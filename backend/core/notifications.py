"""The port to e-mail notifications. `backend/aws/notifications.py` implements it with SNS."""

from collections.abc import Iterable
from typing import Protocol

from backend.core.errors import StateForbidsError


class TooManyAddressesError(StateForbidsError):
    """The SNS topic has reached its quota of subscriptions."""

    code = "TooManyAddresses"

    def __init__(self) -> None:
        super().__init__(
            "No more email addresses can be added: the SNS topic has reached its quota of "
            "subscriptions"
        )


class Notifications(Protocol):
    """Sends notifications by e-mail. All may raise UnavailableError."""

    def add_address(self, email: str) -> None:
        """Subscribe an address; it receives notifications once its owner has confirmed.

        A confirmed address remains unchanged; an unconfirmed one is sent another request to
        confirm.

        Raises:
            InvalidInputError: e-mail cannot be sent to the address.
            TooManyAddressesError: the topic has reached its quota.
        """
        ...

    def send(self, emails: Iterable[str], *, subject: str, text: str) -> None:
        """Send a message to those of the addresses that were added and confirmed.

        The subject is shortened and converted to what SNS accepts.
        """
        ...
