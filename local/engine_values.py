"""Stores the data that engines keep in memory only, and restores it when an engine restarts."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from botocore.exceptions import BotoCoreError, ClientError

from local.clients import Clients
from local.engine_room import EngineRoom
from local.engines.errors import EngineError
from local.plan import Plan
from local.pumps.supervisor import Supervisor
from local.resources import cognito, secretsmanager, sns, sqs, stepfunctions
from local.state import StateFolder
from local.states.executions import Executions

# If moto crashes, secrets that were written in the last seconds are lost.
_EVERY = 10.0

_log = logging.getLogger(__name__)


def store_engine_values(
    state: StateFolder,
    clients: Clients,
    plan: Plan,
    engines: EngineRoom,
    supervisor: Supervisor,
    executions: Executions,
) -> Callable[[], Awaitable[None]]:
    """Begin; return the function that stores the data for the last time."""

    async def remember() -> None:
        try:
            await asyncio.to_thread(secretsmanager.store_values, clients, state)
        except (BotoCoreError, ClientError) as error:
            _log.warning("the secrets cannot be stored: %s", error)

    async def remember_often() -> None:
        while True:
            await asyncio.sleep(_EVERY)
            await remember()

    async def replay(engine: str) -> None:
        try:
            await asyncio.to_thread(_restore, engine, clients, state, plan)
        except (BotoCoreError, ClientError) as error:
            raise EngineError(f"{engine} cannot be restored: {error}") from error
        if engine == "states":
            executions.mark_lost()

    supervisor.start("secrets", remember_often)
    engines.restarted = replay
    return remember


def _restore(engine: str, clients: Clients, state: StateFolder, plan: Plan) -> None:
    """Restore the data that an engine has lost by its restart."""
    if engine == "aws":
        secretsmanager.restore_values(clients, state)
        sns.recreate(clients, plan)
        cognito.recreate(clients, plan)
    elif engine == "queues":
        sqs.recreate(clients, plan)
    elif engine == "states":
        stepfunctions.recreate(clients, plan)
