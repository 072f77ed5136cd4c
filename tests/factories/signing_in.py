"""An authentication that accepts the tokens of one provider, in tests."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pytest

from backend.aws.remote_json import HttpRemoteJson
from backend.core.identity import Identity
from backend.domains.identity.rules.claims import Issuer
from backend.domains.identity.rules.refusals import Reason, RefusedError
from backend.domains.identity.service.tokens import (
    ProviderKeys,
    TokenAuthentication,
    TrustedIssuer,
)
from tests.factories.identity_provider import (
    CLIENT,
    Provider,
)

ISSUER = "https://idp.example.org/realm"


@dataclass
class ManualClock:
    """A clock that the test sets."""

    at: datetime

    def __call__(self) -> datetime:
        return self.at


@dataclass
class Deployment:
    """An authentication that accepts the tokens of one provider, and its warnings."""

    provider: Provider
    hand: ManualClock
    warnings: list[str] = field(default_factory=list[str])
    issuer: dict[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        self.authentication = self.build()

    def build(self, **issuer: Any) -> TokenAuthentication:
        values: dict[str, Any] = {"user_claims": ("sub",), "audiences": frozenset({CLIENT})}
        trusted = Issuer(self.provider.url, **(values | issuer))
        keys = ProviderKeys(
            HttpRemoteJson(trusted.url), self.hand, self.warnings.append, trusted.url
        )
        return TokenAuthentication({trusted.url: TrustedIssuer(trusted, keys)}, self.hand)

    def token(self, **changes: Any) -> str:
        return self.provider.token(at=self.hand.at.timestamp(), **changes)

    def identify(self, **changes: Any) -> Identity:
        return self.authentication.authenticate(self.token(**changes))

    def refusal(self, **changes: Any) -> Reason:
        with pytest.raises(RefusedError) as refused:
            self.identify(**changes)
        return refused.value.reason
