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
    """Tells people by e-mail. All may raise UnavailableError."""

    def add_address(self, email: str) -> None:
        """Let an address receive what is sent to it, once its owner confirmed that.

        One that is known stays as it is; one that was never confirmed is asked again.

        Raises:
            InvalidInputError: mail cannot be sent there.
            TooManyAddressesError: there is no room for another one.
        """
        ...

    def send(self, emails: Iterable[str], *, subject: str, text: str) -> None:
        """Send a message to those of the addresses that were added and confirmed.

        The subject is cut and spelled as SNS takes it.
        """
        ...
