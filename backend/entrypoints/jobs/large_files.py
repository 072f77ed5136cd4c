"""The function that completes uploaded files: large ones, and previews that wait."""

from backend.domains.uploads.service import WaitingPreviews
from backend.entrypoints import ready
from backend.entrypoints.job_workers import WorkerWiring
from backend.spec import jobs, queues
from backend.spec.functions.workers import LARGE_FILE_WORKER

_wiring = WorkerWiring(LARGE_FILE_WORKER)
_large_files = _wiring.large_files
_previews = WaitingPreviews(_large_files.context, _large_files.settlement)
_STEPS = {jobs.LARGE_FILES.name: _large_files.step, jobs.WAITING_PREVIEWS.name: _previews.step}
handler = ready(_wiring.consumer_handler(queues.LARGE_FILES, _STEPS))
