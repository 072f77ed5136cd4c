"""Several engines, with the two that start quickly: started in parallel, without orphans."""

import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Never

import psutil
import pytest

from local.engines import (
    LOOPBACK,
    EngineError,
    free_port,
    free_ports,
    is_free,
    prepare_all,
    start_all,
    stop_all,
)

REPOSITORY = Path(__file__).parents[4]
QUICK: tuple[str, ...] = ("s3", "aws")


def silent(_: str) -> None:
    """Accept a progress line and print nothing."""


@pytest.fixture
def listener() -> Iterator[int]:
    """A port on which another socket listens."""
    with socket.create_server((LOOPBACK, 0)) as server:
        yield int(server.getsockname()[1])


def alive(pid: int) -> bool:
    """Return whether a process runs; one that only waits for its parent has ended."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_engines_start_together_and_stop(tools: Path, tmp_path: Path) -> None:
    prepare_all(tools, silent, names=QUICK)
    lines: list[str] = []
    ports: dict[str, int] = dict(zip(QUICK, free_ports(len(QUICK)), strict=True))
    running = start_all(
        tools, tmp_path / "data", tmp_path / "logs", lines.append, names=QUICK, ports=ports
    )
    try:
        assert {name: engine.endpoint.port for name, engine in running.items()} == ports
        assert all(engine.healthy() for engine in running.values())
    finally:
        stop_all(running)
    assert len(lines) == len(QUICK)
    assert not any(alive(engine.endpoint.pid) for engine in running.values())
    assert list((tmp_path / "data").glob("*.pid")) == []


def test_preparing_again_needs_neither_network_nor_toolchain(
    tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare_all(tools, silent)

    def unreachable(*_: object, **__: object) -> Never:
        raise AssertionError("asked for something")

    monkeypatch.setattr(socket, "create_connection", unreachable)
    monkeypatch.setattr(subprocess, "Popen", unreachable)
    prepare_all(tools, silent)


def test_a_port_in_use_is_one_clear_line_and_nothing_stays_running(
    tools: Path, tmp_path: Path, listener: int
) -> None:
    prepare_all(tools, silent, names=QUICK)
    with pytest.raises(EngineError, match=rf"^aws: port {listener} on 127\.0\.0\.1 is in use$"):
        start_all(tools, tmp_path, tmp_path / "logs", silent, names=QUICK, ports={"aws": listener})
    assert list(tmp_path.glob("*.pid")) == []


def test_free_ports_differ_and_a_taken_one_is_not_free(listener: int) -> None:
    assert len(set(free_ports(20))) == 20
    # An engine listens seconds later: the system must not have assigned its port by then.
    assert all(port < 32_768 for port in free_ports(20))
    assert is_free(free_port())
    assert not is_free(listener)


def test_engines_of_a_killed_runner_have_ended_when_the_next_one_starts(
    tools: Path, tmp_path: Path
) -> None:
    prepare_all(tools, silent, names=QUICK)
    program = textwrap.dedent(f"""
        import json, pathlib, time
        from local.engines import start_all
        tools, here = pathlib.Path({str(tools)!r}), pathlib.Path({str(tmp_path)!r})
        running = start_all(tools, here, here / "logs", lambda _: None, names={QUICK!r})
        print(json.dumps([engine.endpoint.pid for engine in running.values()]), flush=True)
        time.sleep(60)
    """)
    runner = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, cwd=REPOSITORY
    )
    assert runner.stdout is not None
    with runner, runner.stdout as output:
        pids: list[int] = json.loads(output.readline())
        guards = [child for child in psutil.Process(runner.pid).children() if child.pid not in pids]
        for guard in guards:  # the worst case: no process is left to end them
            guard.kill()
        os.kill(runner.pid, signal.SIGKILL)
    assert all(alive(pid) for pid in pids)
    lines: list[str] = []
    running = start_all(tools, tmp_path, tmp_path / "logs", lines.append, names=QUICK)
    stop_all(running)
    assert not any(alive(pid) for pid in pids)
    assert lines[:2] == [
        "aws: stopped a process of an earlier run",
        "s3: stopped a process of an earlier run",
    ]
