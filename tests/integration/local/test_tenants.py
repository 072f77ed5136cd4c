"""Functions in tenant isolation: the process that serves each tenant."""

import asyncio
from pathlib import Path

from local.functions import Functions
from local.runtime_api import runtime_app
from local.servers import HttpServer, bind_any
from tests.factories.function_specs import function_spec

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
            first = await asyncio.gather(*(functions.invoke("f", {}, each) for each in "ab"))
            again = await functions.invoke("f", {}, "a")
            third = await functions.invoke("f", {}, "c")
            return [str(each.value()) for each in (*first, again, third)]
        finally:
            await functions.stop()
            await server.stop()

    answers = [each.split() for each in asyncio.run(scenario())]
    assert [tenant for tenant, _ in answers] == ["a", "b", "a", "c"]
    a, b, again, c = (process for _, process in answers)
    assert a == again
    assert len({a, b, c}) == 3
