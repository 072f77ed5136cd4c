"""Where an identity provider signs users in: read from its discovery document, and kept."""

import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest

from backend.core.errors import UnavailableError
from backend.domains.identity.service.endpoints import FRESH, ProviderEndpoints

ISSUER = "https://idp.example.org/realm"
DOCUMENT = {
    "issuer": ISSUER,
    "authorization_endpoint": f"{ISSUER}/authorize",
    "token_endpoint": f"{ISSUER}/token",
}


@dataclass
class Published:
    """A provider's documents; None while it does not answer."""

    document: dict[str, Any] | None = field(default_factory=lambda: dict(DOCUMENT))
    read_urls: list[str] = field(default_factory=list[str])

    def read(self, url: str) -> bytes:
        self.read_urls.append(url)
        if self.document is None:
            raise UnavailableError("no answer")
        return json.dumps(self.document).encode()


@pytest.fixture
def published() -> Published:
    return Published()


def test_endpoints_are_read_once_and_again_after_a_while(
    published: Published, now: datetime
) -> None:
    times = [now]
    endpoints = ProviderEndpoints(published, lambda: times[0], ISSUER)
    assert endpoints.get() == (
        f"{ISSUER}/authorize",
        f"{ISSUER}/token",
        f"{ISSUER}/.well-known/openid-configuration",
    )
    endpoints.get()
    assert published.read_urls == [f"{ISSUER}/.well-known/openid-configuration"]
    times[0] += FRESH + timedelta(seconds=1)
    published.document = None
    assert endpoints.get().token == f"{ISSUER}/token"
    assert len(published.read_urls) == 2


@pytest.mark.parametrize(
    "changes",
    [
        {"issuer": "https://other.example.org"},
        {"token_endpoint": None},
        {"token_endpoint": "http://idp.example.org/token"},
        {"authorization_endpoint": "javascript:alert(1)"},
    ],
    ids=str,
)
def test_what_may_not_be_used_is_unavailable(
    published: Published, now: datetime, changes: dict[str, Any]
) -> None:
    published.document = {**DOCUMENT, **changes}
    with pytest.raises(UnavailableError):
        ProviderEndpoints(published, lambda: now, ISSUER).get()
