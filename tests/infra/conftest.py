"""The assemblies that all tests of the templates read, synthesized once for all workers.

That takes some 10 s, which are counted for the first test that reads one.
"""

import os
from collections.abc import Callable

import pytest
from filelock import FileLock

from tests.infra.templates import Assembly, synthesize_all

TOPIC = "arn:aws:sns:eu-central-1:111122223333:operators"
ISSUER = "https://login.example.org/realm"
WEB_URL = "https://museum.example.org"
HARDENED: dict[str, object] = {
    "malwareScan": True,
    "webUrl": WEB_URL,
    "reservedConcurrency": {"SearchApi": 20},
    "searchInVpc": True,
    "searchLogs": True,
    "userPool": True,
    "userPoolFirewall": True,
    "userPoolRequestsPerAddress": 200,
    "routeThrottles": {
        "search": {"requestsPerSecond": 20, "burst": 40},
        "public": {"requestsPerSecond": 5, "burst": 10},
    },
}
"""Every optional protection."""
_PROD: dict[str, object] = {"stage": "prod", "bundle": False}  # without the layer's packages
_CONTEXTS: dict[str, dict[str, object]] = {
    "local": {"stage": "local"},
    "prod": {**_PROD, "alarmTopicArn": TOPIC},
    "locked": {**_PROD, "cloudTrail": True, "auditLock": "compliance", "auditLockDays": 2555},
    "pool": {**_PROD, "userPool": True},
    "signing-in": {
        **_PROD,
        "oidcIssuer": ISSUER,
        "oidcClientId": "web",
        "allowedIpRanges": [["192.0.2.1", "192.0.2.9"]],
    },
    "hardened": {**_PROD, **HARDENED},
    "without-search": {"search": "none"},
    "other-administrator": {"adminUserId": "someone"},
    "without-key": {"customerManagedKey": False},
    "without-key-scanned": {**_PROD, "customerManagedKey": False, "malwareScan": True},
}
"""The settings of each assembly, beside those of `cdk.json`."""


@pytest.fixture(scope="session")
def synthesized(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Assembly]:
    """The assembly of a name in `_CONTEXTS`; the first worker that needs one writes them all."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, written = shared / "assemblies", shared / "assemblies.written"
    with FileLock(shared / "assemblies.lock"):
        if not written.exists():
            synthesize_all(folder, _CONTEXTS)
            written.touch()
    assemblies = {name: Assembly(folder / name) for name in _CONTEXTS}
    return assemblies.__getitem__


@pytest.fixture(scope="session")
def local(synthesized: Callable[[str], Assembly]) -> Assembly:
    """The assembly of the stage that the local runtime runs."""
    return synthesized("local")


@pytest.fixture(scope="session")
def prod(synthesized: Callable[[str], Assembly]) -> Assembly:
    """The assembly of production."""
    return synthesized("prod")


@pytest.fixture(scope="session")
def locked(synthesized: Callable[[str], Assembly]) -> Assembly:
    """The assembly of production with a trail, whose audit archive nobody can change."""
    return synthesized("locked")


@pytest.fixture(scope="session")
def hardened(synthesized: Callable[[str], Assembly]) -> Assembly:
    """The assembly of production with every optional protection."""
    return synthesized("hardened")


@pytest.fixture(scope="session", params=["local", "prod"])
def assembly(request: pytest.FixtureRequest, local: Assembly, prod: Assembly) -> Assembly:
    """The assembly of each stage."""
    return {"local": local, "prod": prod}[request.param]
