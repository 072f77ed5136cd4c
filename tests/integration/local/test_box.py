"""Processes of functions: those of tenants, and the box that refuses system calls."""

import asyncio
import errno
import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from local.function_process import Worker
from local.functions import Functions
from local.iam.roles import Enforcement
from local.runtime_api import runtime_app
from local.servers import HttpServer, bind_any
from tests.factories.function_specs import function_spec

# Runs in place of AWS's runtime client, first in the process, and prints the allowed calls.
PROGRAM = """
import ctypes, json, os, platform, sys
from pathlib import Path
machine = ("x86_64", "aarch64").index(platform.machine())
libc = ctypes.CDLL(None, use_errno=True)
calls = {
    "prctl": ((157, 167), (3, 0, 0, 0, 0)),
    "capset": ((126, 91), (0, 0)),
    "ptrace": ((101, 117), (-1, 0, 0, 0)),
    "unshare": ((272, 97), (0,)),
    "landlock_create_ruleset": ((444, 444), (0, 0, 1)),
    "landlock_add_rule": ((445, 445), (-1, 0, 0, 0)),
    "landlock_restrict_self": ((446, 446), (-1, 0)),
    "seccomp": ((317, 277), (2, 0, 0)),
}
found = {}
for name, (numbers, arguments) in calls.items():
    ctypes.set_errno(0)
    libc.syscall(numbers[machine], *map(ctypes.c_long, arguments))
    found[name] = ctypes.get_errno()
def written(path):
    try:
        with open(path, "a") as file:
            file.write("x")
    except OSError as error:
        return error.errno
    return 0
found["tmp"] = written(f"/tmp/boxed-{os.getpid()}")
found["code"] = written("beside")
print(json.dumps(found))
"""
REFUSED = {
    *("prctl", "capset", "ptrace", "unshare"),
    *("landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"),
}


def document(record: Path) -> dict[str, Any]:
    """The policies of a function whose role allows nothing."""
    return {
        "principal": "arn:aws:sts::000000000000:assumed-role/f/f",
        "role": "f",
        "statements": [],
        "region": "us-east-1",
        "account": "000000000000",
        "keys": {},
        "domain": None,
        "record": str(record),
    }


def ran(
    code: Path, name: str | None, policies: Path | None = None, written: str = "beside"
) -> dict[str, Any]:
    program = PROGRAM.replace("beside", written)
    (code / "awslambdaric.py").write_text(program, encoding="utf-8")
    spec = function_spec(code=code)
    worker = Worker(
        spec,
        port=1,
        environment={},
        runtime=code,
        log=code / "log",
        policies=policies,
        box=name,
        on_ready=lambda: None,
    )
    asyncio.run(worker.run())
    return json.loads((code / "log").read_text(encoding="utf-8"))


@pytest.fixture
def code() -> Iterator[Path]:
    """A folder outside `/tmp`, in which a box refuses writes of functions."""
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="boxed-") as folder:
        yield Path(folder)


def refused(found: Mapping[str, int]) -> set[str]:
    return {name for name, number in found.items() if number in {errno.EPERM, errno.EACCES}}


def test_without_a_box_nothing_is_refused(code: Path) -> None:
    assert refused(ran(code, None)) == set()


def test_the_box_of_lambda_refuses_what_lambda_is_reported_to_refuse(code: Path) -> None:
    assert refused(ran(code, "lambda")) == {*REFUSED, "code"}


def test_the_strict_box_also_refuses_the_other_call_for_filters(code: Path) -> None:
    assert refused(ran(code, "lambda-strict")) == {*REFUSED, "seccomp", "code"}


def test_the_record_of_grants_is_writable_in_the_box(code: Path) -> None:
    record = code / "record"
    policies = code / "policies.json"
    policies.write_text(json.dumps(document(record)), encoding="utf-8")
    assert refused(ran(code, "lambda", policies, written="record")) == REFUSED
    assert record.exists()


def test_no_box_is_the_default() -> None:
    assert Enforcement().box is None


# Replaces AWS's runtime client: returns the tenant of each call and the id of the process.
_ECHO = """
import json, os
from urllib.request import Request, urlopen
base = f"http://{os.environ['AWS_LAMBDA_RUNTIME_API']}/2018-06-01/runtime/invocation"
while True:
    with urlopen(f"{base}/next") as call:
        headers = call.headers
    body = json.dumps(f"{headers['Lambda-Runtime-Aws-Tenant-Id']} {os.getpid()}").encode()
    urlopen(Request(f"{base}/{headers['Lambda-Runtime-Aws-Request-Id']}/response", body)).close()
"""


def test_a_process_serves_one_tenant_and_makes_room_for_others_when_idle(tmp_path: Path) -> None:
    (tmp_path / "awslambdaric.py").write_text(_ECHO, encoding="utf-8")
    spec = function_spec(code=tmp_path, timeout=60, concurrency=2, per_tenant=True)

    async def scenario() -> list[str]:
        functions = Functions(logs=tmp_path)
        server = HttpServer(*(bind_any() for _ in range(4)))
        await server.start(runtime_app(functions))
        functions.begin(
            ports=server.ports, environment={}, runtime=tmp_path, policies=lambda _: None
        )
        functions.register(spec)
        try:
            first = await asyncio.gather(*(functions.invoke("f", {}, item) for item in "ab"))
            again = await functions.invoke("f", {}, "a")
            third = await functions.invoke("f", {}, "c")
            return [str(item.value()) for item in (*first, again, third)]
        finally:
            await functions.stop()
            await server.stop()

    answers = [item.split() for item in asyncio.run(scenario())]
    assert [tenant for tenant, _ in answers] == ["a", "b", "a", "c"]
    a, b, again, c = (process for _, process in answers)
    assert a == again
    assert len({a, b, c}) == 3
