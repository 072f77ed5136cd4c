"""A progress bar on standard error during transfers; silent without a terminal."""

from collections.abc import Generator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from vitrine.transfer.report import FileOutcome, Observer, Silent, Status


class _Bar:
    """Counts bytes and files; Rich's own lock makes it thread-safe."""

    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress = progress
        self._task = task
        self._files = 0
        self._size = 0
        self._finishing = 0

    def planned(self, *, files: int, size: int) -> None:
        self._files += files
        self._size += size
        self._progress.update(self._task, total=self._size, files=self._files)

    def moved(self, size: int) -> None:
        self._progress.advance(self._task, size)

    def finishing(self, *, files: int) -> None:
        self._finishing += files
        note = f"{self._finishing} large files are being completed" if self._finishing else ""
        self._progress.update(self._task, finishing=note)

    def settled(self, outcome: FileOutcome) -> None:
        if outcome.status in {Status.FAILED, Status.REFUSED}:
            self._progress.update(self._task, trouble=" with errors")


@contextmanager
def progress_on(console: Console, title: str) -> Generator[Observer]:
    """Return an observer that draws on the console, as long as the context lasts."""
    if not console.is_terminal:
        yield Silent()
        return
    progress = Progress(
        TextColumn("{task.description} {task.fields[files]} files{task.fields[trouble]}"),
        TextColumn("{task.fields[finishing]}"),
        BarColumn(),
        DownloadColumn(binary_units=True),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    with progress:
        yield _Bar(
            progress, progress.add_task(title, total=None, files=0, trouble="", finishing="")
        )
