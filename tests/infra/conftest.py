"""The assemblies for tests of the templates, synthesized once for all workers.

That takes some 20 s of processor time, which count for the first test that reads one.
"""

import os
from collections.abc import Callable

import pytest
from filelock import FileLock

from tests.infra.contexts import CONTEXTS
from tests.infra.templates import Assembly, synthesize_all


@pytest.fixture(scope="session")
def synthesized(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Assembly]:
    """The assembly of a name in `CONTEXTS`; the first worker that needs one writes them all."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, written = shared / "assemblies", shared / "assemblies.written"
    entries = {name: {"context": context} for name, context in CONTEXTS.items()}
    names = list(entries)  # the first two are compared: processes have different hash seeds
    with FileLock(shared / "assemblies.lock"):
        if not written.exists():
            halves = [{name: entries[name] for name in names[start::2]} for start in (0, 1)]
            synthesize_all(folder, *halves)
            written.touch()
    assemblies = {name: Assembly(folder / name) for name in names}
    return assemblies.__getitem__


@pytest.fixture(scope="session")
def small(synthesized: Callable[[str], Assembly]) -> Assembly:
    """The assembly of the smallest stage with search, without a key of its own."""
    return synthesized("small")


@pytest.fixture(scope="session")
def prod(synthesized: Callable[[str], Assembly]) -> Assembly:
    """The assembly of production."""
    return synthesized("prod")


@pytest.fixture(scope="session")
def locked(synthesized: Callable[[str], Assembly]) -> Assembly:
    """The assembly of production with a trail, and an audit archive that cannot be changed."""
    return synthesized("locked")


@pytest.fixture(scope="session")
def hardened(synthesized: Callable[[str], Assembly]) -> Assembly:
    """The assembly of production with every optional protection."""
    return synthesized("hardened")


@pytest.fixture(scope="session")
def page(synthesized: Callable[[str], Assembly]) -> Assembly:
    """The assembly of a small stage with the page at a domain."""
    return synthesized("page")
