"""Engines that end, and a runtime that is stopped while it starts."""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import psutil
import pytest

from local import engine_room, serve
from local.engine_room import EngineRoom
from local.engines import EngineError, Running, stop_leftovers
from local.engines.base import Options
from local.engines.process import launch
from local.errors import LocalError
from local.iam.roles import Enforcement
from local.runner import Choices
from local.servers import HttpServer
from local.state import REPOSITORY, StateFolder
from web_page import Page


def _choices(folder: Path, say: Callable[[str], None]) -> Choices:
    nothing = cast("HttpServer", None)
    return Choices(
        state=StateFolder(folder),
        gateway=nothing,
        internal=nothing,
        assembly=None,
        settings={},
        in_memory=False,
        record=False,
        iam=Enforcement(True, None),
        build_page=False,
        progress=say,
    )


def _starting(monkeypatch: pytest.MonkeyPatch, work: Callable[[Choices], None]) -> None:
    """Have a runtime whose start is `work`, in a thread as engines are started."""

    class StartingRuntime:
        def __init__(self, choices: Choices) -> None:
            self._choices = choices

        @contextlib.asynccontextmanager
        async def serving(self) -> AsyncGenerator[dict[str, str]]:
            await asyncio.to_thread(work, self._choices)
            yield {}

    monkeypatch.setattr(serve, "Runtime", StartingRuntime)


def _serve(choices: Choices) -> None:
    asyncio.run(serve._serve(choices, None))  # pyright: ignore[reportPrivateUsage]


def test_a_start_that_is_stopped_ends_where_it_would_print_something(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[str] = []
    event = threading.Event()

    def say(text: str) -> None:
        lines.append(text)
        if text == "stopping":
            event.set()

    def work(choices: Choices) -> None:
        choices.progress("first")
        os.kill(os.getpid(), signal.SIGINT)
        assert event.wait(10)
        threading.Event().wait(0.2)  # until the signal's handler has ended
        choices.progress("second")
        choices.progress("third")

    _starting(monkeypatch, work)
    _serve(_choices(tmp_path, say))
    assert lines == ["first", "stopping"]


def _twice_stopped(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], list[int]]:
    """Send SIGTERM twice, half a second apart; return what was said, and the codes of exits."""
    lines: list[str] = []
    exits: list[int] = []
    received = threading.Event()

    def say(text: str) -> None:
        lines.append(text)
        received.set()

    def work(_choices: Choices) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        assert received.wait(10)
        threading.Event().wait(0.5)
        os.kill(os.getpid(), signal.SIGTERM)
        threading.Event().wait(0.2)  # until the signal's handler has ended

    monkeypatch.setattr(os, "_exit", exits.append)
    _starting(monkeypatch, work)
    _serve(_choices(folder, say))
    return lines, exits


def test_signals_within_a_second_are_one_order_and_a_later_one_ends_the_runner_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _twice_stopped(tmp_path, monkeypatch) == (["stopping"], [])
    monkeypatch.setattr("local.serve._SAME_STOP_SECONDS", 0.3)
    assert _twice_stopped(tmp_path, monkeypatch) == (["stopping"], [1])


def test_a_start_that_fails_by_itself_prints_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(_choices: Choices) -> None:
        raise LocalError("no room left")

    _starting(monkeypatch, work)
    with pytest.raises(LocalError, match="no room left"):
        _serve(_choices(tmp_path, lambda _: None))


def test_an_interrupt_amid_the_imports_is_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text(
        "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n", encoding="utf-8"
    )
    done = subprocess.run(
        [sys.executable, "-m", "local", "status"],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (128 + signal.SIGINT, b"interrupted\n")


def test_the_product_serves_when_the_samples_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[str] = []

    def say(text: str) -> None:
        lines.append(text)
        if "completes the samples" in text:
            os.kill(os.getpid(), signal.SIGINT)

    def fail(*_: object) -> None:
        raise LocalError("describing them failed: error: Internal Server Error")

    class Serving:
        page = Page(None)

        def __init__(self, _: Choices) -> None: ...

        @contextlib.asynccontextmanager
        async def serving(self) -> AsyncGenerator[dict[str, str]]:
            yield {"api": "http://127.0.0.1", "adminApiKey": ""}

    monkeypatch.setattr(serve, "Runtime", Serving)
    monkeypatch.setattr(serve, "import_samples", fail)
    choices = _choices(tmp_path, say)
    choices.state.create()
    asyncio.run(serve._serve(choices, tmp_path))  # pyright: ignore[reportPrivateUsage]
    assert lines == [
        "serving http://127.0.0.1",
        "the samples are not complete: describing them failed: error: Internal Server Error",
        "the product keeps running; the next `make run` completes the samples",
        "stopping",
    ]


@dataclass
class _Engine:
    """One start of an engine."""

    in_time: bool = True
    exit_code: int | None = None
    endpoint: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(port=1, url="x"))

    def wait_healthy(self) -> None:
        if not self.in_time:
            self.in_time = True  # the next time that somebody asks
            raise EngineError("aws does not answer after 300 s")

    def kill(self) -> None:
        self.exit_code = -9


@dataclass
class _Kind:
    """Starts what it is given."""

    starts: list[_Engine]
    started: int = 0

    def start(self, *_: Any, **__: Any) -> _Engine:
        self.started += 1
        return self.starts.pop(0)


@dataclass
class _Site:
    room: EngineRoom
    first: _Engine
    kind: _Kind
    released: list[str] = field(default_factory=list[str])
    refusals: int = 0

    async def give_back(self, name: str) -> None:
        if self.refusals:
            self.refusals -= 1
            raise EngineError("aws cannot be restored")
        self.released.append(name)


Make = Callable[..., _Site]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    def make_site(*starts: _Engine) -> _Site:
        first, kind = _Engine(), _Kind(list(starts))

        def start_all(*_: Any, **__: Any) -> dict[str, _Engine]:
            return {"aws": first}

        monkeypatch.setattr(engine_room, "ENGINES", {"aws": kind})
        monkeypatch.setattr(engine_room, "start_all", start_all)
        monkeypatch.setattr(engine_room, "_LOOK_EVERY", 0.01)
        room = EngineRoom(tools=tmp_path, state=StateFolder(tmp_path), options=Options())
        room.start_all(["aws"], lambda _: None)
        site = _Site(room, first, kind)
        room.restarted = site.give_back
        return site

    return make_site


async def _kept_until(site: _Site, fact: Callable[[], bool]) -> None:
    """Keep the engines alive until something holds, and a few looks longer."""
    keeping = asyncio.create_task(site.room.supervise())
    for _ in range(500):
        if fact():
            break
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)
    assert fact()
    assert not keeping.done()
    keeping.cancel()
    await asyncio.gather(keeping, return_exceptions=True)


@pytest.mark.parametrize("refusals", [0, 3])
@pytest.mark.parametrize("ends_again", [False, True])
def test_an_engine_that_ended_gets_back_what_it_forgot_once(
    make: Make, ends_again: bool, refusals: int
) -> None:
    """It is started again if it ended before it answered, and given again what it refused."""
    site = make(*[_Engine(in_time=False, exit_code=1)] * ends_again, _Engine())
    site.refusals = refusals
    site.first.exit_code = -9
    asyncio.run(_kept_until(site, lambda: site.released == ["aws"]))
    assert site.kind.started == 1 + ends_again


def test_a_killed_engine_stays_away_until_it_is_started_again(make: Make) -> None:
    async def scenario(site: _Site) -> None:
        await site.room.kill("aws")
        await _kept_until(site, lambda: site.kind.started == 0)
        await site.room.start("aws")

    site = make(_Engine())
    asyncio.run(scenario(site))
    assert site.released == ["aws"]


SLEEP = "import time; time.sleep(60)"
STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    "print('ready', flush=True); time.sleep(60)"
)

Start = Callable[..., Running]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start a Python program as if it were an engine."""
    started: list[Running] = []

    def start_program(program: str, *, healthy: bool = True) -> Running:
        running = launch(
            name="engine",
            command=[sys.executable, "-c", program],
            environment={"MADE": "up"},
            data=tmp_path / "data",
            log=tmp_path / "logs" / "engine.log",
            port=1,
            probe=lambda _: healthy,
        )
        started.append(running)
        return running

    yield start_program
    for running in started:
        running.kill()


def gone(pid: int) -> bool:
    """Whether a process is no more, or is just not yet waited for."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_an_engine_that_died_is_reported_with_the_end_of_its_log(start: Start) -> None:
    running = start(
        "import os; print('the', os.environ['MADE'], 'reason'); raise SystemExit(3)", healthy=False
    )
    with pytest.raises(EngineError, match=r"engine ended with code 3.*\nthe up reason") as caught:
        running.wait_healthy(10)
    assert "engine.log" in str(caught.value)
    assert not running.healthy()


def test_stop_ends_the_process_and_its_pid_file(start: Start, tmp_path: Path) -> None:
    running = start(SLEEP)
    running.wait_healthy(10)
    assert (tmp_path / "data" / "engine.pid").exists()
    running.stop()
    assert gone(running.endpoint.pid)
    assert list((tmp_path / "data").iterdir()) == []


def test_an_engine_deaf_to_the_polite_signal_is_killed(start: Start) -> None:
    running = start(STUBBORN)
    while "ready" not in running.log.read_text():
        assert running.exit_code is None
    running.stop(timeout=0.1)
    assert running.exit_code == -9


def test_leftovers_of_the_same_data_folder_are_stopped(start: Start, tmp_path: Path) -> None:
    running = start(SLEEP)
    assert stop_leftovers(tmp_path / "data") == ["engine"]
    assert gone(running.endpoint.pid)
    assert stop_leftovers(tmp_path / "data") == []


def test_a_process_that_merely_has_the_pid_is_left_alone(tmp_path: Path) -> None:
    other = subprocess.Popen([sys.executable, "-c", SLEEP])
    try:
        noted = {"pid": other.pid, "created": psutil.Process(other.pid).create_time() - 3600}
        (tmp_path / "engine.pid").write_text(json.dumps(noted))
        assert stop_leftovers(tmp_path) == []
        assert other.poll() is None
        assert list(tmp_path.iterdir()) == []
    finally:
        other.kill()
        other.wait()


def test_engines_die_with_a_runner_that_is_killed(tmp_path: Path) -> None:
    program = textwrap.dedent(f"""
        import os, pathlib, signal, sys
        from local.engines.process import launch
        running = launch(
            name="engine", command=[sys.executable, "-c", {SLEEP!r}], environment={{}},
            data=pathlib.Path({str(tmp_path)!r}), log=pathlib.Path({str(tmp_path)!r}) / "log",
            port=1, probe=lambda _: True,
        )
        print(running.endpoint.pid, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """)
    runner = subprocess.run(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        cwd=Path(__file__).parents[3],
    )
    assert runner.returncode == -9
    engine = int(runner.stdout)
    with contextlib.suppress(psutil.NoSuchProcess):
        psutil.Process(engine).wait(10)
    assert gone(engine)
