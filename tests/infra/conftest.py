"""The assemblies that all tests of the templates read, synthesized once a session."""

import pytest

from tests.infra.templates import Assembly, synthesize

TOPIC = "arn:aws:sns:eu-central-1:111122223333:operators"


@pytest.fixture(scope="session")
def local(tmp_path_factory: pytest.TempPathFactory) -> Assembly:
    """The assembly of the stage that the local runtime runs."""
    return synthesize(tmp_path_factory.mktemp("local"), {"stage": "local"})


@pytest.fixture(scope="session")
def prod(tmp_path_factory: pytest.TempPathFactory) -> Assembly:
    """The assembly of production, without the layer's packages."""
    context: dict[str, object] = {"stage": "prod", "bundle": False, "alarmTopicArn": TOPIC}
    return synthesize(tmp_path_factory.mktemp("prod"), context)


@pytest.fixture(scope="session")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Assembly:
    """The assembly of production with a trail, whose audit archive nobody can change."""
    context: dict[str, object] = {"stage": "prod", "bundle": False, "cloudTrail": True}
    lock: dict[str, object] = {"auditLock": "compliance", "auditLockDays": 2555}
    return synthesize(tmp_path_factory.mktemp("locked"), context | lock)


@pytest.fixture(scope="session", params=["local", "prod"])
def assembly(request: pytest.FixtureRequest, local: Assembly, prod: Assembly) -> Assembly:
    """Each stage in turn."""
    return {"local": local, "prod": prod}[request.param]
