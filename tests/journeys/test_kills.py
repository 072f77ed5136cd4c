"""kill -9 of each engine and of the runtime under load: afterwards the index is right, unaided.

What was acknowledged is there afterwards, with one exception, which is the local engine's own:
DynamoDB Local, killed itself, may have lost what it answered some milliseconds before. (The service
on AWS has no such gap.) Then the index is compared with the tables as they are.
"""

import os
import signal
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.journeys.load import Load, drift, load, stored
from tests.journeys.runtime import START_SECONDS, Runtime, kill_with_children, wait_until

SECONDS_UNDER_LOAD = float(os.environ.get("LOAD_SECONDS", "2"))
ROUNDS = int(os.environ.get("KILL_ROUNDS", "1"))
RIGHT_AGAIN_SECONDS = 60


@pytest.fixture(scope="module")
def on_disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    """A runtime with its tables on disk, whose engines are killed one after the other."""
    made = Runtime(tmp_path_factory.mktemp("killed") / "state")
    made.up()
    yield made
    made.down()


@pytest.mark.parametrize("round_", range(ROUNDS))
@pytest.mark.parametrize("engine", ["opensearch", "dynamodb", "s3", "queues", "aws"])
def test_an_engine_that_is_killed_under_load_leaves_no_drift(
    on_disk: Runtime, engine: str, round_: int
) -> None:
    api = on_disk.client()
    database = api.new_database(f"killed-{engine}-{round_}")
    with load(on_disk, database) as written:
        _work_goes_on(written)
        _kill(on_disk, engine)
        time.sleep(SECONDS_UNDER_LOAD)
    assert written.wrong == []
    _is_back(on_disk)
    _becomes_right(on_disk, database)
    if engine != "dynamodb":  # see the module
        assert _lost(written, stored(api, database)) == []


def test_a_runtime_that_is_killed_under_load_leaves_no_drift(own_runtime: Runtime) -> None:
    own_runtime.up()
    own_runtime.client().new_database("killed")
    with load(own_runtime, "killed") as written:
        _work_goes_on(written)
        kill_with_children(own_runtime.endpoint["pid"])
    assert written.wrong == []
    own_runtime.up()
    _becomes_right(own_runtime, "killed")


def _work_goes_on(written: Load) -> None:
    """Some writes have been acknowledged, however slow the machine is."""
    time.sleep(SECONDS_UNDER_LOAD)
    wait_until(lambda: len(written.acknowledged) >= 3)


def _kill(runtime: Runtime, engine: str) -> None:
    """End the engine's process, of which the runner is told nothing."""
    pid: int = runtime.admin("GET", "/health")["engines"][engine]["pid"]
    os.kill(pid, signal.SIGKILL)


def _is_back(runtime: Runtime) -> None:
    """The engines answer again: the seconds run from there, as how fast one starts is its own."""

    def is_back() -> bool:
        engines: dict[str, Any] = runtime.admin("GET", "/health")["engines"]
        return all(engine["healthy"] for engine in engines.values())

    wait_until(is_back, seconds=START_SECONDS)


def _becomes_right(runtime: Runtime, database: str) -> None:
    api = runtime.client()
    found: list[Any] = [None]

    def is_right() -> bool:
        try:
            found[0] = drift(api, database)
        except (AssertionError, httpx.HTTPError) as error:  # an engine is still away
            found[0] = error
        return found[0] == {}

    try:
        wait_until(is_right, seconds=RIGHT_AGAIN_SECONDS)
    except AssertionError:
        raise AssertionError(f"drift after {RIGHT_AGAIN_SECONDS} s: {found[0]!r:.2000}") from None


def _lost(written: Load, there: dict[str, Any]) -> list[str]:
    """What was acknowledged and is not stored."""
    missing: list[str] = []
    for asset, known in written.acknowledged.items():
        found = there.get(asset)
        if found is None:
            missing.append(f"{asset} as a whole")
            continue
        if known["name"] is not None and found[0] != known["name"]:
            missing.append(f"the name of {asset}: {found[0]}, not {known['name']}")
        if "metadata" in known and found[2] != known["metadata"]:
            missing.append(f"the metadata of {asset}")
        missing += [
            f"{asset}{path}" for path in known.get("files", ()) if asset + path not in there
        ]
    return missing
