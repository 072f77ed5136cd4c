"""Runtimes for all xdist workers: the first starts one, the last checks its logs and stops it."""

import os
import random
import shutil
import tempfile
from collections.abc import Collection, Generator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock

from local.engines import free_port
from tests.journeys import canaries
from tests.journeys.runtime import Runtime, local

FOLDER = "VITRINE_TEST_RUN"
"""The environment variable that names the folder of the test run; workers inherit it."""
SEED = "FUZZ_SEED"
"""The environment variable that holds the seed of random requests; a fresh one unless it is set."""
PROVIDER_PORT = "VITRINE_TEST_PROVIDER_PORT"
STATE = "state"


def begin() -> None:
    """Create the folder of a test run and draw its seed; workers inherit both."""
    if not _is_worker():
        os.environ[FOLDER] = tempfile.mkdtemp(prefix="vitrine-tests-")
        os.environ[PROVIDER_PORT] = str(free_port())
        os.environ.setdefault(SEED, str(random.getrandbits(32)))


def end() -> None:
    """Stop what a crashed worker left running, and remove the folder; workers do nothing."""
    if _is_worker():
        return
    folder = Path(os.environ[FOLDER])
    for endpoint in folder.glob(f"*/{STATE}/endpoint.json"):
        local("down", "--state", str(endpoint.parent))
    shutil.rmtree(folder)


def provider_port() -> int:
    """Return the port of the identity provider that the second deployment trusts."""
    return int(os.environ[PROVIDER_PORT])


def _is_worker() -> bool:
    return "PYTEST_XDIST_WORKER" in os.environ


@contextmanager
def shared_runtime(worker: str, *options: str, name: str = "runtime") -> Generator[Runtime]:
    """Yield a running runtime that every worker of this test run uses.

    Args:
        worker: xdist's name of this process, `master` without xdist.
        name: distinguishes the runtimes that a test run shares.
        options: options of `python -m local up`.

    Raises:
        AssertionError: a function's policy refused a call, or a log holds a secret. Only the last
            worker to leave can say so.
    """
    folder = Path(os.environ[FOLDER]) / name
    users = folder / "users"
    users.mkdir(parents=True, exist_ok=True)
    lock, shared = FileLock(folder / "lock"), Runtime(folder / STATE)
    with lock:
        if not any(users.iterdir()):
            shared.up(*options)
        (users / worker).touch()
    yield shared
    shared.connections.close()
    with lock:
        (users / worker).unlink()
        canaries.keep(folder / f"planted-{worker}")
        if not any(users.iterdir()):
            stop_and_check(shared, canaries.kept(folder.glob("planted-*")))


def stop_and_check(runtime: Runtime, planted: Collection[str] = ()) -> None:
    """Stop a runtime.

    Args:
        runtime: the runtime to stop.
        planted: what other processes sent to it and received, which no log may hold.

    Raises:
        AssertionError: a policy refused a call to a function, or a log holds a secret.
    """
    refused = _refused(runtime.state)
    logged = canaries.leaks(runtime.state / "logs", canaries.secrets_of(runtime.state), planted)
    runtime.down()
    assert refused == [], "the templates' policies refuse what functions need"
    assert logged == [], "logs contain keys, tokens, secrets or presigned URLs"


def _refused(state: Path) -> list[str]:
    """Return the calls that policies refused.

    A consumer would only retry, and no test would fail.
    """
    logs = (state / "logs" / "functions").glob("*.log")
    lines = (line for log in logs for line in log.read_text(errors="replace").splitlines())
    return sorted({line for line in lines if line.startswith("[IAM]")})
