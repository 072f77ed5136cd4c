"""moto's server: Secrets Manager, SNS, EventBridge, SSM and more, in memory only.

The runtime stores the data that it needs after a restart, and restores it.
"""

import sys
from pathlib import Path

from local.engines.base import Options, Progress
from local.engines.ports import LOOPBACK, chosen_port
from local.engines.probe import responds
from local.engines.process import Running, launch, stop_leftovers

_ROOT = Path(__file__).parents[2]


class MotoServer:
    """The engine behind `aws`."""

    name = "aws"

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
        return launch(
            name=self.name,
            command=[sys.executable, "-P", "-m", "local.moto_server", LOOPBACK, str(port)],
            environment={
                "MOTO_ACCOUNT_ID": options.account,
                "AWS_DEFAULT_REGION": options.region,
                "PYTHONPATH": str(_ROOT),
                "PYTHONUNBUFFERED": "1",
                # A resource that is created again gets its previous id, which functions have.
                "MOTO_COGNITO_IDP_USER_POOL_ID_STRATEGY": "HASH",
                "MOTO_COGNITO_IDP_USER_POOL_CLIENT_ID_STRATEGY": "HASH",
            },
            data=data,
            log=log,
            port=port,
            probe=responds("/moto-api/data.json"),
        )
