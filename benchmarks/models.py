"""`python -m benchmarks.models [FOLDER]`: the results of inspections of a folder, and their cost.

Without a folder it reads the models of Debian's package `assimp-testmodels`. Each file is read in
the jail, as by the shipped pipelines; the folder is one asset.
"""

import json
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from backend.processing.jail.parent import Jail, Outcome
from backend.processing.jail.results import ReadingStalledError
from backend.processing.remote.invoker import refused
from backend.spec.formats import FORMAT_OF, extension_of, reason_not_inspected
from benchmarks.glb_validator import errors_of

DEBIAN_MODELS = Path("/usr/share/assimp/models")
_CRASHES = ("crashed", "reader was ended", "reader failed")
_HANGS = ("stalled: ", "seconds of processor time")


class FolderFiles:
    """The files of a folder of this machine, in the role of an asset's files."""

    def __init__(self, root: Path) -> None:
        self._root = root
        paths = sorted(path for path in root.rglob("*") if path.is_file())
        self._sizes = {path.relative_to(root).as_posix(): path.stat().st_size for path in paths}

    def sizes(self) -> Mapping[str, int]:
        return self._sizes

    def fetch(self, path: str, destination: Path) -> None:
        shutil.copyfile(self._root / path, destination)


@dataclass(frozen=True)
class Row:
    """The outcome of one file."""

    path: str
    outcome: Outcome

    @property
    def is_model(self) -> bool:
        return bool(self.outcome.result.facts) and FORMAT_OF[extension_of(self.path)].kind in {
            "glTF",
            "model",
        }


@dataclass(frozen=True)
class Figures:
    """The results for a folder; times in seconds of a clock, memory in MiB."""

    files: int
    models: int
    images: int
    thumbnails: int
    glbs: int
    glbs_with_errors: int
    refused: int
    other_formats: int
    crashes: tuple[str, ...]
    hangs: tuple[str, ...]
    median_seconds: float
    p95_seconds: float
    median_cpu_seconds: float
    p95_cpu_seconds: float
    most_mib: int


def rows_of(root: Path, models: Path) -> Iterator[Row]:
    """Inspect every file of a folder; GLBs are written to the folder `models`."""
    files = FolderFiles(root)
    jail = Jail()
    for number, path in enumerate(files.sizes()):
        with tempfile.TemporaryDirectory() as folder:
            try:
                outcome = jail.inspect(path, root / path, files, Path(folder))
            except ReadingStalledError as error:
                outcome = refused(f"stalled: {error}")
            if outcome.glb is not None:
                shutil.copyfile(outcome.glb, models / f"{number}.glb")
        yield Row(path, outcome)
    jail.close()


def measure(root: Path) -> tuple[Figures, list[Row]]:
    """Return the figures of a folder and the outcome of each file."""
    with tempfile.TemporaryDirectory() as folder:
        rows = list(rows_of(root, Path(folder)))
        errors = errors_of(Path(folder))
    usages = [row.outcome.usage for row in rows if row.is_model]
    seconds = [usage.seconds for usage in usages]
    cpu_seconds = [usage.cpu_seconds for usage in usages]
    figures = Figures(
        files=len(rows),
        models=len(usages),
        images=sum(bool(row.outcome.result.facts) for row in rows) - len(usages),
        thumbnails=sum(row.outcome.thumbnail is not None for row in rows),
        glbs=len(errors),
        glbs_with_errors=sum(count > 0 for count in errors.values()),
        refused=sum(row.outcome.result.refused is not None for row in rows),
        other_formats=sum(reason_not_inspected(extension_of(row.path)) is not None for row in rows),
        crashes=tuple(row.path for row in rows if _names(row, *_CRASHES)),
        hangs=tuple(row.path for row in rows if _names(row, *_HANGS)),
        median_seconds=statistics.median(seconds),
        p95_seconds=_percentile(seconds),
        median_cpu_seconds=statistics.median(cpu_seconds),
        p95_cpu_seconds=_percentile(cpu_seconds),
        most_mib=max(usage.peak_bytes for usage in usages) >> 20,
    )
    return figures, rows


def _names(row: Row, *words: str) -> bool:
    return any(word in (row.outcome.result.refused or "") for word in words)


def _percentile(values: Sequence[float]) -> float:
    return sorted(values)[int(len(values) * 0.95)]


def printed(figures: Figures) -> str:
    """Return the figures as a table."""
    read = f"{figures.files} files: {figures.models} models and {figures.images} images with facts"
    written = f"{figures.thumbnails} thumbnails, {figures.glbs} GLBs"
    wrong = f"{figures.glbs_with_errors} with errors"
    refused = f"{figures.refused} refused, {figures.other_formats} of them of other formats"
    ended = f"{len(figures.crashes)} crashes, {len(figures.hangs)} hangs"
    seconds = f"{figures.median_seconds:.2f} s (median), {figures.p95_seconds:.2f} s (95 %)"
    cpu = f"{figures.median_cpu_seconds:.2f} s and {figures.p95_cpu_seconds:.2f} s of a processor"
    return (
        f"{read}, {written} ({wrong})\n{refused}; {ended}\n"
        f"a model takes {seconds}, {cpu}, at most {figures.most_mib} MiB"
    )


def main(arguments: Sequence[str]) -> int:
    """Print the reasons of refusals, the figures, and the figures as JSON."""
    root = Path(arguments[0]) if arguments else DEBIAN_MODELS
    figures, rows = measure(root)
    for row in rows:
        is_inspected = reason_not_inspected(extension_of(row.path)) is None
        if row.outcome.result.refused and is_inspected:
            print(f"{row.path}: {row.outcome.result.refused}")
    print(printed(figures))
    print(json.dumps(figures.__dict__))
    return 1 if figures.crashes or figures.hangs or figures.glbs_with_errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
