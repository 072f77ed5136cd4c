"""A corpus from other sources: Debian's assimp-testmodels, 595 files in 40 formats.

`apt-get install assimp-testmodels` provides it; without it this test fails with this hint.
"""

from pathlib import Path

from tests.journeys.runtime import Runtime
from tests.journeys.test_import import figures

DEBIAN_MODELS = Path("/usr/share/assimp/models")


def test_every_file_of_debians_models_is_found_and_inspected(runtime: Runtime) -> None:
    assert DEBIAN_MODELS.is_dir(), "install Debian's package assimp-testmodels"
    found = figures(runtime, DEBIAN_MODELS, "models", seconds=1200)
    assert found["searchable"] == found["files"] == 595
    # 360 models and 67 images.
    assert found["facts"] >= 427, found
    assert found["thumbnails"] >= 414, found
    assert found["glbs"] >= 350, found
    # Every other file has a reason in words; of 113, that its extension is not inspected.
    assert found["unexplained"] == 0, found
    assert found["facts"] + found["refused"] == 595, found
