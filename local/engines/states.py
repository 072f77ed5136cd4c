"""moto's interpreter of state machines, in memory only (`local/states/`)."""

import sys
from pathlib import Path

from local import arns
from local.engines.base import Options, Progress
from local.engines.ports import LOOPBACK, chosen_port
from local.engines.probe import responds
from local.engines.process import Running, launch, stop_leftovers

_ROOT = Path(__file__).parents[2]


class StateMachines:
    """The engine behind `states`."""

    name = "states"

    def prepare(self, tools: Path, progress: Progress) -> None:
        """See `Engine.prepare`; moto comes with the Python environment."""

    def start(
        self,
        tools: Path,  # noqa: ARG002 - the interface of every engine
        data: Path,
        *,
        log: Path,
        port: int | None = None,
        options: Options | None = None,
    ) -> Running:
        """See `Engine.start`."""
        options = options or Options()
        stop_leftovers(data, name=self.name)
        port = chosen_port(port, name=self.name)
        module = ("-P", "-m", "local.states.engine")
        return launch(
            name=self.name,
            command=[sys.executable, *module, LOOPBACK, str(port), options.tasks or ""],
            environment={
                # The ARNs of executions must be those with which the templates were resolved.
                "MOTO_ACCOUNT_ID": arns.ACCOUNT,
                "AWS_DEFAULT_REGION": arns.REGION,
                "PYTHONPATH": str(_ROOT),
                "PYTHONUNBUFFERED": "1",
            },
            data=data,
            log=log,
            port=port,
            probe=responds("/moto-api/data.json"),
        )
