"""A second deployment, for journeys that others on the same deployment would disturb.

They compare whole lists or a whole bucket, change what holds for every database, or need settings
of their own. A worker that runs a file of them starts the deployment.
"""

from collections.abc import Iterator

import pytest

from tests.factories.identity_provider import CLIENT, Provider, identity_provider
from tests.journeys import shared
from tests.journeys.runtime import Runtime


@pytest.fixture(scope="session")
def provider() -> Iterator[Provider]:
    with identity_provider() as running:
        yield running


@pytest.fixture(scope="session")
def runtime(provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    """A product with a user pool, another provider, and only this machine allowed to call it."""
    deployment = Runtime(tmp_path_factory.mktemp("alone") / "state")
    settings = {
        "userPool": "true",
        "oidcIssuer": provider.url,
        "oidcClientId": CLIENT,
        "oidcUserPrefix": "corp.",
        "allowedIpRanges": '["127.0.0.0/8"]',
    }
    given = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    deployment.up("--in-memory", *given)
    yield deployment
    shared.stop_and_check(deployment)
