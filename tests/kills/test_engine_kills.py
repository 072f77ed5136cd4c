"""kill -9 of each engine under load: afterwards the index is correct, without any intervention.

One kill per engine takes about 20 s, most of it the restart of the engine. Acknowledged writes are
stored afterwards, with one exception of the local engine: DynamoDB Local, killed itself, may have
lost a transaction to which it replied some milliseconds before. (The service on AWS has no such
gap.) Then the index is compared with the tables as they are. The engine of executions keeps them in
memory: with it, uploads are processed, and each execution that it loses ends as failed.
"""

import os
import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.journeys.load import Load, load, stored
from tests.journeys.runtime import START_SECONDS, Api, Runtime, wait_until
from tests.journeys.test_executions import executions, have_ended
from tests.kills.right_again import (
    RIGHT_AGAIN_SECONDS,
    TRUTHFUL_ENDS,
    becomes_right,
    lost,
)

SECONDS_UNDER_LOAD = float(os.environ.get("LOAD_SECONDS", "2"))
ROUNDS = int(os.environ.get("KILL_ROUNDS", "1"))


@pytest.fixture(scope="module")
def on_disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    """A runtime with its tables on disk, whose engines are killed one after the other."""
    made = Runtime(tmp_path_factory.mktemp("killed") / "state")
    made.up()
    yield made
    made.down()


@pytest.mark.parametrize("round_", range(ROUNDS))
@pytest.mark.parametrize("engine", ["opensearch", "dynamodb", "s3", "queues", "aws", "states"])
def test_an_engine_that_is_killed_under_load_leaves_no_drift(
    on_disk: Runtime, engine: str, round_: int
) -> None:
    api = on_disk.client()
    name = f"killed-{engine}-{round_}"
    database = api.new_database(name, processing=engine == "states")
    with load(on_disk, database) as written:
        _wait_for_writes(written)
        _kill(on_disk, engine)
        time.sleep(SECONDS_UNDER_LOAD)
    assert written.wrong == []
    _is_back(on_disk)
    if engine == "states":
        _executions_end(api, database, written)
    becomes_right(on_disk, database)
    if engine != "dynamodb":  # see the module
        assert lost(written, stored(api, database)) == []


def _wait_for_writes(written: Load) -> None:
    """Some writes have been acknowledged, also on a slow machine."""
    time.sleep(SECONDS_UNDER_LOAD)
    wait_until(lambda: len(written.acknowledged) >= 3)


def _kill(runtime: Runtime, engine: str) -> None:
    """Kill the engine's process without informing the runner."""
    pid: int = runtime.admin("GET", "/health")["engines"][engine]["pid"]
    os.kill(pid, signal.SIGKILL)


def _executions_end(api: Api, database: str, written: Load) -> None:
    """Each uploaded file is processed, or its execution failed as interrupted."""
    uploaded = [asset for asset, known in written.acknowledged.items() if "files" in known]
    paths = [f"/database/{database}/assets/{asset}" for asset in uploaded]
    assert paths
    wait_until(lambda: all(have_ended(api, path, 1) for path in paths), seconds=RIGHT_AGAIN_SECONDS)
    for path in paths:
        for one in executions(api, path):
            error = one.get("error", {}).get("code")
            assert (one["executionStatus"], error) in TRUTHFUL_ENDS, one


def _is_back(runtime: Runtime) -> None:
    """The engines respond again: time is measured from here, without their start."""

    def is_back() -> bool:
        engines: dict[str, Any] = runtime.admin("GET", "/health")["engines"]
        return all(engine["healthy"] for engine in engines.values())

    wait_until(is_back, seconds=START_SECONDS)
