"""A corpus that nobody here made: Debian's assimp-testmodels, 595 files in 40 formats.

`apt-get install assimp-testmodels` provides it; without it this test fails, and says so.
"""

from pathlib import Path

from tests.journeys.runtime import Runtime
from tests.journeys.test_import import figures

DEBIAN_MODELS = Path("/usr/share/assimp/models")


def test_every_file_of_debians_models_is_found(runtime: Runtime) -> None:
    assert DEBIAN_MODELS.is_dir(), "install Debian's package assimp-testmodels"
    found = figures(runtime, DEBIAN_MODELS, "models")
    assert found["searchable"] == found["files"] == 595
