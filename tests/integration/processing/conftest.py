"""One jail for the tests of a process: starting its libraries takes longer than most files."""

from collections.abc import Iterator

import pytest

from backend.processing.jail.parent import Jail
from tests.integration.processing.attacks import SECRET


@pytest.fixture(scope="session")
def jail() -> Iterator[Jail]:
    """A jail whose parent has a secret in its environment."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("VICTIM", SECRET)
        started = Jail()
        yield started
        started.close()
