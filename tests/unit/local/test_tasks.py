"""Calls of functions by state machines: only so many of one function at once."""

import asyncio
import os
from collections.abc import Mapping
from typing import Any, cast

from local.function_process import InvocationResult
from local.pumps.activity import Activity
from local.states.tasks import Tasks


class _Functions:
    """Counts the calls that run at the same time, by function."""

    def __init__(self) -> None:
        self.running: dict[str, int] = {}
        self.most: dict[str, int] = {}

    async def invoke(self, reference: str, event: Mapping[str, Any]) -> InvocationResult:
        self.running[reference] = self.running.get(reference, 0) + 1
        self.most[reference] = max(self.most.get(reference, 0), self.running[reference])
        await asyncio.sleep(0.001)
        self.running[reference] -= 1
        return InvocationResult(b"{}")


class _Roles:
    def place(self) -> None:
        return None

    def lacks(self, role: str, request: object) -> None:
        return None


def test_a_function_is_called_as_often_at_once_as_there_are_processors() -> None:
    functions = _Functions()

    async def scenario() -> None:
        calling = Tasks(
            functions=cast("Any", functions),
            clients=cast("Any", None),
            bus=cast("Any", None),
            roles=cast("Any", _Roles()),
            activity=Activity(),
            executions=cast("Any", None),
        )
        names = ("inspect", "store") * 10
        answers = await asyncio.gather(*(calling.invoke(name, {}, "role") for name in names))
        assert {answer.status_code for answer in answers} == {200}

    most = max(2, os.cpu_count() or 2)
    asyncio.run(scenario())
    assert functions.most == {"inspect": most, "store": most}
