"""Journeys share one runtime; those that break engines or keep state start their own."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.journeys.canaries import secrets_of, told
from tests.journeys.runtime import Api, Runtime


@pytest.fixture(scope="session")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    """The product with its tables in memory."""
    shared = Runtime(tmp_path_factory.mktemp("runtime"))
    shared.up("--in-memory")
    yield shared
    refused = _refused(shared.state)
    logged = told(shared.state / "logs", secrets_of(shared.state))
    shared.down()
    assert refused == [], "the templates' policies refuse what functions need"
    assert logged == [], "logs tell keys, tokens, secrets or presigned URLs"


def _refused(state: Path) -> list[str]:
    """What the policies refused to functions; a consumer would only try it again and again."""
    logs = (state / "logs" / "functions").glob("*.log")
    lines = (line for log in logs for line in log.read_text(errors="replace").splitlines())
    return sorted({line for line in lines if line.startswith("[IAM]")})


@pytest.fixture
def api(runtime: Runtime) -> Api:
    return runtime.client()


@pytest.fixture
def database(api: Api) -> str:
    """A new database of the test's own."""
    return api.new_database(f"db-{uuid4().hex[:12]}")


@pytest.fixture
def own_runtime(tmp_path: Path) -> Iterator[Runtime]:
    """A runtime with its tables on disk that a test may break; it is not started yet."""
    own = Runtime(tmp_path / "state")
    yield own
    own.down()
