"""The assemblies for tests of the templates, synthesized once for all workers.

That takes some 10 s, which count for the first test that reads one.
"""

import os
from collections.abc import Callable, Mapping

import pytest
from filelock import FileLock

from tests.infra.contexts import CONTEXTS
from tests.infra.templates import Assembly, synthesize_all


@pytest.fixture(scope="session")
def synthesized(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Assembly]:
    """The assembly of a name in `CONTEXTS`; the first worker that needs one writes them all."""
    return written_once(tmp_path_factory, CONTEXTS)


def written_once(
    tmp_path_factory: pytest.TempPathFactory, contexts: Mapping[str, dict[str, object]]
) -> Callable[[str], Assembly]:
    """Write assemblies for all workers, unless another worker has, and return them by name."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, written = shared / "assemblies", shared / "assemblies.written"
    with FileLock(shared / "assemblies.lock"):
        if not written.exists():
            synthesize_all(folder, contexts)
            written.touch()
    assemblies = {name: Assembly(folder / name) for name in contexts}
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
    """The assembly of production with a trail, and an audit archive that cannot be changed."""
    return synthesized("locked")


@pytest.fixture(scope="session")
def hardened(synthesized: Callable[[str], Assembly]) -> Assembly:
    """The assembly of production with every optional protection."""
    return synthesized("hardened")


@pytest.fixture(scope="session", params=["local", "prod"])
def assembly(request: pytest.FixtureRequest, local: Assembly, prod: Assembly) -> Assembly:
    """The assembly of each stage."""
    return {"local": local, "prod": prod}[request.param]
