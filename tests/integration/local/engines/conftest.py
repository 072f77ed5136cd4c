"""Real engines, each on a folder of its own, restarted on their data."""

import os
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import cast

import pytest

from local.engines import ENGINES
from tests.integration.local.engines.support import Site

REPOSITORY = Path(__file__).parents[4]


@pytest.fixture(scope="session")
def tools() -> Path:
    """The tools folder of the runtime, so that nothing is downloaded twice."""
    return Path(os.environ.get("VITRINE_TOOLS") or REPOSITORY / ".local" / "tools")


@pytest.fixture(scope="module")
def site(
    request: pytest.FixtureRequest, tools: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    """The engine that the test module names in `ENGINE`, running."""
    engine = ENGINES[str(vars(cast("ModuleType", request.module))["ENGINE"])]
    engine.prepare(tools, lambda _: None)
    place = Site(engine, tools, tmp_path_factory.mktemp(engine.name))
    place.start()
    assert place.listens_on_loopback_only()
    yield place
    place.end()
