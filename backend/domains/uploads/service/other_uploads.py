"""Other open uploads of a caller to an asset: a preview may be in one, and its file in another.

VAMS clients send previews in separate uploads.
"""

from threading import Lock

from backend.core.clock import Clock, epoch_seconds
from backend.core.parallel import in_parallel
from backend.domains.uploads.models import Upload
from backend.domains.uploads.repository import UploadRepository

# A user's newest uploads, among which those to the same asset are searched: one page of the index
# by user (decision 14).
AMONG = 1000
# Uploads to the same asset whose files are compared, each of which is read by itself.
LOOKED_AT = 100


class OtherUploads:
    """Reads them once, at first use, because a request may complete a thousand previews."""

    def __init__(self, uploads: UploadRepository, upload: Upload, clock: Clock) -> None:
        self._uploads = uploads
        self._upload = upload
        self._clock = clock
        self._lock = Lock()
        self._found: list[Upload] | None = None

    def with_open(self, path: str) -> tuple[str, ...]:
        """Return the ids of those that may still create a file of this path."""
        with self._lock:
            if self._found is None:
                self._found = self._read()
        now = epoch_seconds(self._clock())
        return tuple(
            upload.upload_id for upload in self._found if upload.may_complete(path, now=now)
        )

    def _read(self) -> list[Upload]:
        mine = self._upload
        ids = self._uploads.newest_of(mine.user_id, mine.asset_id, among=AMONG)
        others = [upload_id for upload_id in ids if upload_id != mine.upload_id][:LOOKED_AT]
        uploads = in_parallel(self._uploads.get, others)
        return [
            upload
            for upload in uploads
            if upload is not None
            and upload.status == "initialised"
            and (upload.database_id, upload.upload_type) == (mine.database_id, "assetFile")
        ]
