"""The function that completes uploaded files: large ones, and previews that wait."""

from backend.domains.uploads.service.waiting_previews import WaitingPreviews
from backend.entrypoints.wiring.context import Context
from backend.entrypoints.wiring.events import Run, handle
from backend.entrypoints.wiring.job_workers import job_consumer
from backend.entrypoints.wiring.uploads import large_files
from backend.spec import jobs, queues
from backend.spec.functions.workers import LARGE_FILE_WORKER


def _consumer(context: Context) -> Run:
    large = large_files(context)
    previews = WaitingPreviews(large.context, large.settlement)
    steps = {jobs.LARGE_FILES.name: large.step, jobs.WAITING_PREVIEWS.name: previews.step}
    return job_consumer(context, queues.LARGE_FILES, steps)


handler = handle(LARGE_FILE_WORKER, _consumer)
