"""Moto's server and its interpreter of state machines (`local/states/`), in memory only.

`aws` is Secrets Manager, SNS, EventBridge, SSM and more. The runtime stores the data that it needs
after a restart, and restores it. Moto comes with the Python environment.
"""

import sys
from pathlib import Path

from local import arns
from local.engines.base import Options
from local.engines.engine import Engine, Start
from local.engines.ports import LOOPBACK
from local.engines.probe import responds


class MotoServer(Engine):
    """The engine behind `aws`."""

    name = "aws"
    module = "local.moto_server"
    probe = staticmethod(responds("/moto-api/data.json"))

    def command(self, start: Start) -> list[str]:
        """See `Engine.command`."""
        return [sys.executable, "-P", "-m", self.module, LOOPBACK, str(start.port)]

    def environment(self, options: Options) -> dict[str, str]:
        """See `Engine.environment`."""
        return {
            "MOTO_ACCOUNT_ID": options.account,
            "AWS_DEFAULT_REGION": options.region,
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "PYTHONUNBUFFERED": "1",
            # A resource that is created again gets its previous id, which functions have.
            "MOTO_COGNITO_IDP_USER_POOL_ID_STRATEGY": "HASH",
            "MOTO_COGNITO_IDP_USER_POOL_CLIENT_ID_STRATEGY": "HASH",
        }


class StateMachines(MotoServer):
    """The engine behind `states`."""

    name = "states"
    module = "local.states.engine"

    def command(self, start: Start) -> list[str]:
        """See `Engine.command`."""
        return [*super().command(start), start.options.tasks or ""]

    def environment(self, options: Options) -> dict[str, str]:
        """See `Engine.environment`."""
        # The ARNs of executions must be those with which the templates were resolved.
        own = {"MOTO_ACCOUNT_ID": arns.ACCOUNT, "AWS_DEFAULT_REGION": arns.REGION}
        return super().environment(options) | own
