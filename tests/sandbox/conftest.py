"""The product in boxes that refuse system calls, as AWS Lambda is reported to do."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.journeys.runtime import Runtime
from tests.journeys.shared import stop_and_check


@pytest.fixture(scope="module", params=["lambda", "lambda-strict"])
def boxed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Runtime]:
    """A runtime whose functions are in the box; in the strict one no process can confine itself."""
    folder: Path = tmp_path_factory.mktemp(str(request.param))
    runtime = Runtime(folder / "state")
    runtime.up("--in-memory", "--sandbox", str(request.param))
    yield runtime
    stop_and_check(runtime)
