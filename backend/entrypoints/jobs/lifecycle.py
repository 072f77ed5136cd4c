"""The function that does the jobs which archive, bring back, delete and clean up."""

from backend.entrypoints.working import WorkerWiring
from backend.spec.functions import LIFECYCLE_WORKER
from backend.spec.jobs import WITHDRAW_TAG
from backend.spec.queues import LIFECYCLE

_wiring = WorkerWiring(LIFECYCLE_WORKER)
handler = _wiring.consumer_handler(LIFECYCLE, {WITHDRAW_TAG.name: _wiring.tag_withdrawal})
