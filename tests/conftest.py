"""The real engines, started once for all tests, when the first asks for them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.engines import RealEngines


@pytest.fixture(scope="session")
def engines(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[RealEngines]":
    from tests.engines import started

    with started(tmp_path_factory.mktemp("engines")) as running:
        yield running
