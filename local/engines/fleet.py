"""All engines together: prepared and started in parallel, stopped together."""

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from local.engines.base import Engine, Options, Progress
from local.engines.process import Running, stop_leftovers

ENGINES: Mapping[str, Engine] = {}


def prepare_all(tools: Path, progress: Progress, *, names: Iterable[str] = ENGINES) -> None:
    """Prepare the named engines (all, if not said) in parallel.

    Raises:
        EngineError: one cannot be prepared; the others are finished first.
    """
    raise NotImplementedError


def start_all(  # noqa: PLR0913
    tools: Path,
    data: Path,
    logs: Path,
    progress: Progress,
    *,
    names: Iterable[str] = ENGINES,
    ports: Mapping[str, int] | None = None,
    options: Options | None = None,
    timeout: float = 120.0,
) -> dict[str, Running]:
    """Start the named engines on `data` in parallel and return when all are healthy.

    Leftovers of a killed runner on `data` are stopped first. Logs go to `logs/<name>.log`.

    Raises:
        EngineError: one did not come up; the others are stopped again.
    """
    raise NotImplementedError


def stop_all(running: Mapping[str, Running], timeout: float = 10.0) -> None:
    """Stop all of them at the same time."""
    raise NotImplementedError
