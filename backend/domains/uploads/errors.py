"""The errors of uploads."""

from collections.abc import Sequence

from backend.core.errors import NotFoundError, StateForbidsError


class UploadNotFoundError(NotFoundError):
    code = "UploadNotFound"

    def __init__(self, upload_id: str) -> None:
        super().__init__(f"Upload {upload_id} does not exist")


class UploadExpiredError(NotFoundError):
    """The upload has expired; start a new one."""

    code = "UploadExpired"

    def __init__(self, upload_id: str) -> None:
        super().__init__(f"Upload {upload_id} has expired; start a new one")


class UploadCompletedError(StateForbidsError):
    """The upload is already completed."""

    code = "UploadCompleted"

    def __init__(self, upload_id: str) -> None:
        super().__init__(f"Upload {upload_id} is already completed")


class UploadBusyError(StateForbidsError):
    """The upload is being processed by another request."""

    code = "UploadBusy"

    def __init__(self, upload_id: str) -> None:
        super().__init__(f"Upload {upload_id} is being processed by another request; try again")


class FilesBeingFinishedError(StateForbidsError):
    """Files of the upload are being completed, so it cannot be cancelled."""

    code = "FilesBeingFinished"

    def __init__(self, upload_id: str, paths: Sequence[str]) -> None:
        super().__init__(
            f"Upload {upload_id} cannot be cancelled: {len(paths)} of its files are being "
            f"completed, such as {paths[0]}"
        )


class FileNotOpenError(StateForbidsError):
    """The upload of the file cannot be continued."""

    code = "FileNotOpen"

    def __init__(self, path: str, fact: str) -> None:
        super().__init__(f"The upload of {path} cannot be continued: {fact}")
