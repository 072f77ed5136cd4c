"""The process of an engine: its end, its log, and what a killed runner leaves."""

import contextlib
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from local.engines import EngineError, Running, stop_leftovers
from local.engines.process import launch

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
        cwd=Path(__file__).parents[4],
    )
    assert runner.returncode == -9
    engine = int(runner.stdout)
    with contextlib.suppress(psutil.NoSuchProcess):
        psutil.Process(engine).wait(10)
    assert gone(engine)
