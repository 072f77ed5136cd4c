"""SNS behind the port `core.notifications.Notifications`.

There is one topic, with one subscription for each address. A message names its recipients by
digests of their addresses, and the filter of each subscription accepts messages with its own
digest. So filters never change, and subscriptions to assets are stored only in our table.
"""

import hashlib
import json
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from backend.aws.errors import code_of, translated
from backend.aws.settings import Settings
from backend.core.errors import InvalidInputError, UnavailableError
from backend.core.notifications import TooManyAddressesError
from backend.spec.topics import NOTIFICATIONS

if TYPE_CHECKING:
    from mypy_boto3_sns import SNSClient

ATTRIBUTE = "recipient"
# Recipients of one message. Their addresses must fit a message of 256 KB.
RECIPIENTS = 100
_SUBJECT_CHARS = 100  # SNS's limit
_FULL = frozenset({"FilterPolicyLimitExceeded", "SubscriptionLimitExceeded"})
_INVALID = frozenset({"InvalidParameter", "InvalidParameterValue"})
_BUSY = frozenset({"Throttled", "Throttling", "ThrottledException"})


@dataclass(eq=False, repr=False)
class SnsNotifications:
    """The topic of a deployment (see the port for what each method promises)."""

    client: "SNSClient"
    settings: Settings

    def add_address(self, email: str) -> None:
        # By recipient, not by asset: a filter policy has at most 150 values, and SNS would notify
        # users whose permission was revoked.
        policy = json.dumps({ATTRIBUTE: [digest(email)]})
        with _translate_errors():
            self.client.subscribe(
                TopicArn=self.settings.topic(NOTIFICATIONS),
                Protocol="email",
                Endpoint=email,
                Attributes={"FilterPolicy": policy},
            )

    def send(self, emails: Iterable[str], *, subject: str, text: str) -> None:
        recipients = sorted({digest(email) for email in emails})
        for start in range(0, len(recipients), RECIPIENTS):
            with _translate_errors():
                self.client.publish(
                    TopicArn=self.settings.topic(NOTIFICATIONS),
                    Subject=as_subject(subject),
                    Message=text,
                    MessageAttributes={
                        ATTRIBUTE: {
                            "DataType": "String.Array",
                            "StringValue": json.dumps(recipients[start : start + RECIPIENTS]),
                        }
                    },
                )


def digest(email: str) -> str:
    """Return the digest of an address; case is ignored."""
    return hashlib.sha256(email.lower().encode()).hexdigest()[:32]


def as_subject(text: str) -> str:
    """Convert a text to a subject that SNS accepts: printable ASCII, limited, a letter first."""
    plain = "".join(char if " " <= char <= "~" else "?" for char in text)
    return plain[:_SUBJECT_CHARS]


@contextmanager
def _translate_errors() -> Generator[None]:
    try:
        with translated("SNS"):
            yield
    except ClientError as error:
        code = code_of(error)
        if code in _FULL:
            raise TooManyAddressesError from error
        if code in _INVALID:
            message = error.response.get("Error", {}).get("Message", "")
            raise InvalidInputError(f"SNS rejected the request: {message}") from error
        if code in _BUSY:
            raise UnavailableError("SNS is overloaded") from error
        raise
