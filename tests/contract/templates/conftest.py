"""The assemblies that other projects' tools check."""

from collections.abc import Callable

import pytest

from tests.infra.conftest import hardened, local, locked, prod, written_once
from tests.infra.contexts import CONTEXTS
from tests.infra.templates import Assembly

__all__ = ["hardened", "local", "locked", "prod"]


@pytest.fixture(scope="session")
def synthesized(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Assembly]:
    names = ("hardened", "local", "locked", "prod")
    return written_once(tmp_path_factory, {name: CONTEXTS[name] for name in names})
