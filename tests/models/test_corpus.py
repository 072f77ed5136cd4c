"""The results of the shipped pipelines for Debian's assimp-testmodels: 595 files in 40 formats.

`apt-get install assimp-testmodels` provides it; without it this test fails with this hint. Times
are those of a processor, which other programs of the machine hardly change.
"""

import sys

from benchmarks.models import DEBIAN_MODELS, measure, printed


def test_debians_models_are_read() -> None:
    assert DEBIAN_MODELS.is_dir(), "install Debian's package assimp-testmodels"
    figures, rows = measure(DEBIAN_MODELS)
    report = printed(figures)
    sys.stdout.write(f"{report}\n")
    assert (figures.crashes, figures.hangs, figures.glbs_with_errors) == ((), (), 0), report
    assert figures.files == 595
    assert figures.models >= 351, report
    assert figures.thumbnails >= 414, report
    assert figures.glbs >= 350, report
    # Every other file has a reason in words.
    answered = figures.models + figures.images + figures.refused
    assert answered == len(rows), report
    assert all(row.outcome.result.refused != "" for row in rows)
    assert figures.median_cpu_seconds <= 0.3, report
    assert figures.p95_cpu_seconds <= 1.5, report
    assert figures.most_mib <= 350, report
