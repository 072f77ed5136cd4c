"""A runtime that is stopped while it starts: it ends soon, and prints no errors of that."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import cast

import pytest

from local import serve
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
    found = threading.Event()

    def say(text: str) -> None:
        lines.append(text)
        if text == "stopping":
            found.set()

    def work(choices: Choices) -> None:
        choices.progress("first")
        os.kill(os.getpid(), signal.SIGINT)
        assert found.wait(10)
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


def test_signals_within_a_second_are_one_order_to_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _twice_stopped(tmp_path, monkeypatch) == (["stopping"], [])


def test_a_signal_that_is_repeated_later_ends_the_runner_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    assert done.returncode == -signal.SIGINT
    assert done.stderr == b""


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
