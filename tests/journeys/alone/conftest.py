"""A second deployment, for journeys that others on the same deployment would disturb.

They compare complete lists or a complete bucket, change settings of all databases, or need other
settings. Its two files do not disturb each other: one is about users, the other about everything
else.
"""

from collections.abc import Iterator

import pytest

from tests.factories.identity_provider import CLIENT, Provider, address, identity_provider
from tests.journeys import shared
from tests.journeys.runtime import Runtime


@pytest.fixture(scope="session")
def provider() -> Iterator[Provider]:
    with identity_provider(shared.provider_port()) as running:
        yield running


@pytest.fixture(scope="session")
def runtime(worker_id: str) -> Iterator[Runtime]:
    """A product with a user pool and another provider, which only this machine may call."""
    settings = {
        "userPool": "true",
        "oidcIssuer": address(shared.provider_port()),
        "oidcClientId": CLIENT,
        "oidcUserPrefix": "corp.",
        "allowedIpRanges": '["127.0.0.0/8"]',
    }
    values_given = [
        word for name, value in settings.items() for word in ("--set", f"{name}={value}")
    ]
    with shared.shared_runtime(worker_id, "--in-memory", *values_given, name="alone") as running:
        yield running
