"""Completes previews whose file is part of another open upload, once that file is uploaded.

The job checks repeatedly: the other upload need not know of it, so nothing is lost if a process
dies. The interval grows with the time that it has waited.
"""

from dataclasses import dataclass
from datetime import datetime

from backend.core.clock import epoch_seconds
from backend.domains.jobs.models import Job, Progress
from backend.domains.uploads.models import Upload, UploadFile
from backend.domains.uploads.service.completion import Completion, Outcome
from backend.domains.uploads.service.context import UploadContext
from backend.domains.uploads.service.settlement import ASSET_GONE, Settlement

# A tenth of the time waited so far: the other upload often ends within seconds, or takes hours
# (decision 14).
FIRST_WAIT = 2
LONGEST_WAIT = 300
"""Maximum seconds between two checks. Each pause is a tenth of the job's age, within the limits."""
# Previews that one step checks. Each takes a request to S3, and a lease lasts half a minute.
LOOKED_AT = 200


@dataclass(eq=False, repr=False)
class WaitingPreviews:
    context: UploadContext
    settlement: Settlement

    def step(self, job: Job) -> Progress:
        """Settle the next preview that can be completed, or wait.

        Raises:
            UnavailableError: a service is unavailable; repeat the step.
        """
        upload = self.context.uploads.get(str(job.parameters["uploadId"]))
        if upload is None:
            return Progress(finished=True, problems=("the upload no longer exists",))
        left = [
            number
            for number in (int(text) for text in job.parameters["files"])
            if self._is_of(job, upload, upload.files[number])
        ]
        if not left:
            return Progress(cursor=job.cursor, finished=True)
        start = int(job.cursor.get("index", 0))
        following = [number for number in left if number >= start]
        # The service that completes files of the upload. None if its asset is not active.
        asset = self.context.active_asset(upload)
        completion = None if asset is None else self.context.completion(upload, asset)
        # The other uploads, read before the files are checked. If one ends meanwhile, its
        # file is already stored when it is checked.
        uploads = (
            self.context.uploads.get(str(upload_id)) for upload_id in job.parameters["awaits"]
        )
        awaited = [upload for upload in uploads if upload is not None]
        for number in following[:LOOKED_AT]:
            file = upload.files[number]
            outcome = self._outcome(completion, awaited, file)
            if outcome is not None:
                # Remove the temporary data of the file, and write the result to the upload.
                assets = self.context.assets.assets
                if completion is None:  # a deleted asset's uploads are deleted with it
                    archived = assets.get(upload.database_id, upload.asset_id, in_archive=True)
                    completion = archived and self.context.completion(upload, archived)
                if completion is not None and outcome.error is not None:
                    completion.discard(file, assembled=True)
                elif completion is not None and outcome.left is not None:
                    completion.remove_temporary(file)
                return self.settlement.progress_of(
                    upload, file, outcome, cursor=job.cursor, following={"index": number + 1}
                )
        if len(following) > LOOKED_AT:
            return Progress(cursor={"index": following[LOOKED_AT]})
        return Progress(cursor={"index": 0}, wait_seconds=self._wait(job))

    def _is_of(self, job: Job, upload: Upload, file: UploadFile) -> bool:
        handed = upload.handed.get(file.path)
        return handed is not None and handed.job_id == job.job_id

    def _outcome(
        self, completion: Completion | None, awaited: list[Upload], file: UploadFile
    ) -> Outcome | None:
        """Return the result of a preview; None while it has to wait."""
        if completion is None:
            return Outcome(ASSET_GONE)
        base = completion.missing_base(file.path)
        if base is None:
            return completion.settle_waiting(file, completion.upload.handed[file.path].parts)
        now = epoch_seconds(self.context.clock())
        if any(upload.may_complete(base, now=now) for upload in awaited):
            return None
        return Outcome(f"the upload of {base} ended without that file", kind="abandoned")

    def _wait(self, job: Job) -> int:
        waited = self.context.clock() - datetime.fromisoformat(job.created_at)
        return min(max(FIRST_WAIT, int(waited.total_seconds()) // 10), LONGEST_WAIT)
