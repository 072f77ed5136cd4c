"""The function that does the jobs which purge databases."""

from backend.entrypoints import ready
from backend.entrypoints.lifecycle import LifecycleWiring
from backend.entrypoints.working import WorkerWiring
from backend.spec.functions import PURGE_WORKER
from backend.spec.queues import PURGES

_wiring = WorkerWiring(PURGE_WORKER)
_steps = LifecycleWiring(PURGE_WORKER).purge_steps
handler = ready(_wiring.consumer_handler(PURGES, _steps))
