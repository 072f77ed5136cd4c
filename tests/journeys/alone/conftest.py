"""A second deployment, for journeys that others on the same deployment would disturb.

They compare whole lists or a whole bucket, change what holds for every database, or need settings
of their own. Its files do not disturb one another: one is about users, the other about all else.
"""

from collections.abc import Iterator

import pytest

from tests.factories.identity_provider import CLIENT, Provider, address, identity_provider
from tests.journeys import shared
from tests.journeys.foreign_workflows import ALLOWED_QUEUES
from tests.journeys.runtime import Runtime


@pytest.fixture(scope="session")
def provider() -> Iterator[Provider]:
    with identity_provider(shared.provider_port()) as running:
        yield running


@pytest.fixture(scope="session")
def runtime(worker_id: str) -> Iterator[Runtime]:
    """A product with a user pool, another provider, and only this machine allowed to call it."""
    settings = {
        "userPool": "true",
        "oidcIssuer": address(shared.provider_port()),
        "oidcClientId": CLIENT,
        "oidcUserPrefix": "corp.",
        "allowedIpRanges": '["127.0.0.0/8"]',
        "allowedPipelineQueues": ALLOWED_QUEUES,
    }
    given = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    with shared.shared_runtime(worker_id, "--in-memory", *given, name="alone") as running:
        yield running
