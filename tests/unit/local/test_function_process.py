"""Processes of functions: which of them may get a call."""

import asyncio
from pathlib import Path

from local.function_process import FunctionSpec, Worker

SPEC = FunctionSpec(
    name="f",
    arn="arn:aws:lambda:us-east-1:000000000000:function:f",
    handler="f.handler",
    runtime="python3.13",
    memory=128,
    timeout=3,
    concurrency=None,
    environment={},
    code=Path("code"),
    layers=(),
    role="arn:aws:iam::000000000000:role/f",
)


def test_a_process_that_is_to_be_ended_gets_no_call() -> None:
    async def waiting() -> tuple[bool, bool, bool]:
        worker = Worker(
            SPEC,
            port=1,
            environment={},
            runtime=Path("runtime"),
            log=Path("log"),
            policies=None,
            on_ready=lambda: None,
        )
        asked = asyncio.create_task(worker.next_call())
        await asyncio.sleep(0)
        before = worker.ready
        worker.retire()
        asked.cancel()
        return before, worker.ready, worker.coming

    assert asyncio.run(waiting()) == (True, False, False)
