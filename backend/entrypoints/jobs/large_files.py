"""The function that puts the large files of uploads in their place."""

from backend.entrypoints import ready
from backend.entrypoints.working import WorkerWiring
from backend.spec.functions import LARGE_FILE_WORKER
from backend.spec.jobs import LARGE_FILES as KIND
from backend.spec.queues import LARGE_FILES

_wiring = WorkerWiring(LARGE_FILE_WORKER)
handler = ready(_wiring.consumer_handler(LARGE_FILES, {KIND.name: _wiring.large_files.step}))
