"""The assemblies that AWS's own tools check, and those of products without a function or queue."""

from collections.abc import Callable

import pytest

from tests.infra.contexts import CONTEXTS, LOCKED
from tests.infra.templates import Assembly, synthesize_all

_PROD = CONTEXTS["prod"]
_CHECKED = {
    "prod": _PROD,
    "hardened": CONTEXTS["hardened"] | LOCKED,
    "page": CONTEXTS["page"],
}
_USES = {"function": "JobStarter", "unused": "Reads"}


@pytest.fixture(scope="session")
def synthesized(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Assembly]:
    """Production, itself with all options, and without uses of a queue or the queue itself."""
    folder = tmp_path_factory.mktemp("assemblies")
    synthesize_all(
        folder, {name: {"context": item, "nag": True} for name, item in _CHECKED.items()}, nag=True
    )
    synthesize_all(
        folder,
        {
            "unused": {"context": _PROD, "without": _USES},
            "gone": {"context": _PROD, "without": {"gone": "Reads"}},
        },
    )
    return lambda name: Assembly(folder / name)
