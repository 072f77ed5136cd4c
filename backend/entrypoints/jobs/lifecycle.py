"""The function that does the jobs which archive, bring back, delete, make versions and clean up."""

from backend.entrypoints import ready
from backend.entrypoints.lifecycle import LifecycleWiring
from backend.spec.functions import LIFECYCLE_WORKER
from backend.spec.jobs import CHANGE_FILES, WITHDRAW_ROLE, WITHDRAW_TAG
from backend.spec.queues import LIFECYCLE

_wiring = LifecycleWiring(LIFECYCLE_WORKER)
handler = ready(
    _wiring.consumer_handler(
        LIFECYCLE,
        {
            WITHDRAW_TAG.name: _wiring.tag_withdrawal,
            WITHDRAW_ROLE.name: _wiring.role_withdrawal,
            CHANGE_FILES.name: _wiring.file_changing.steps.step,
            **_wiring.lifecycle_steps,
            **_wiring.version_steps,
        },
    )
)
