"""Processes of functions: which of them may get a call, and how they end."""

import asyncio
import os
from dataclasses import replace
from pathlib import Path

from local.function_process import FunctionSpec, Worker
from tests.factories.function_specs import function_spec

SPEC = function_spec()


def _worker(spec: FunctionSpec = SPEC, folder: Path = Path()) -> Worker:
    return Worker(
        spec,
        port=1,
        environment={},
        runtime=folder,
        log=folder / "log",
        policies=None,
        on_ready=lambda: None,
    )


def _running(folder: Path, program: str) -> Worker:
    """Return a worker whose process runs a program instead of AWS's runtime client."""
    (folder / "awslambdaric.py").write_text(program, encoding="utf-8")
    return _worker(replace(SPEC, code=folder), folder)


def test_a_process_that_is_to_be_ended_gets_no_call() -> None:
    async def waiting() -> tuple[bool, bool, bool]:
        worker = _worker()
        request = asyncio.create_task(worker.next_call())
        await asyncio.sleep(0)
        before = worker.ready
        worker.retire()
        request.cancel()
        return before, worker.ready, worker.coming

    assert asyncio.run(waiting()) == (True, False, False)


def test_a_process_that_is_ended_while_it_is_created_ends(tmp_path: Path) -> None:
    async def scenario() -> None:
        worker = _running(tmp_path, "import time; time.sleep(60)")
        living = asyncio.create_task(worker.run())
        await asyncio.sleep(0)
        assert worker.pid is None
        await worker.end()
        await asyncio.wait_for(living, 20)

    asyncio.run(scenario())


def test_a_signal_to_the_group_of_the_runner_does_not_reach_its_functions(tmp_path: Path) -> None:
    worker = _running(tmp_path, "import os; open('group', 'w').write(str(os.getpgrp()))")
    asyncio.run(worker.run())
    assert int((tmp_path / "group").read_text(encoding="utf-8")) != os.getpgrp()
