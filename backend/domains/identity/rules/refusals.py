"""Reasons for refused credentials: reported to the administrator, never to the sender."""

from enum import StrEnum
from types import MappingProxyType


class Reason(StrEnum):
    """A stable code; the guide for identity providers explains each."""

    ADDRESS = "address-not-allowed"
    NO_CREDENTIALS = "no-credentials"
    USER = "user-not-usable"

    KEY_UNKNOWN = "key-unknown"
    KEY_DISABLED = "key-disabled"
    KEY_EXPIRED = "key-expired"
    KEY_MAKER = "key-maker-ended"

    JWT_OFF = "tokens-not-accepted"
    JWT_SIZE = "token-too-long"
    JWT_FORM = "token-malformed"
    JWT_HEADER = "token-header"
    JWT_ALGORITHM = "token-algorithm"
    JWT_ISSUER = "token-issuer"
    JWT_KEY = "token-key-unknown"
    JWT_SIGNATURE = "token-signature"
    JWT_CLAIMS = "token-claims"
    JWT_EXPIRED = "token-expired"
    JWT_EARLY = "token-not-yet-valid"
    JWT_AUDIENCE = "token-audience"
    JWT_USE = "token-use"
    USER_DISABLED = "user-disabled"


class RefusedError(Exception):
    """The credentials identify no user. `facts` never contain credentials or unchecked text."""

    def __init__(self, reason: Reason, **facts: str) -> None:
        super().__init__(reason.value)
        self.reason = reason
        self.facts = MappingProxyType(facts)
