"""The errors of files."""

from backend.core.errors import AlreadyExistsError, ConflictError, NotFoundError, StateForbidsError


class ChangeOvertakenError(ConflictError):
    """Another change of the asset's files was started after the state was read."""


class ChangeBusyError(ConflictError):
    """The files of the asset are being changed by another request."""

    code = "FilesBusy"
    needs_operator = False

    def __init__(self, asset_id: str, job_id: str | None) -> None:
        by = "others" if job_id is None else f"job {job_id}"
        super().__init__(f"The files of asset {asset_id} are being changed by {by}; try again")


class ChangeEndedError(StateForbidsError):
    """The job has already completed or undone its change."""

    code = "FileChangeEnded"

    def __init__(self, job_id: str) -> None:
        super().__init__(f"Job {job_id} has already completed or undone its change")


class FileChangeFailedError(ConflictError):
    """The change failed and was undone."""

    code = "FileChangeFailed"


class ViewNotFoundError(NotFoundError):
    code = "ViewNotFound"

    def __init__(self, asset_id: str, view_id: str) -> None:
        super().__init__(f"Asset {asset_id} has no saved view {view_id}")


class TooManyViewsError(ConflictError):
    """The asset has as many saved views as it may have."""

    code = "TooManyViews"

    def __init__(self, asset_id: str, limit: int) -> None:
        super().__init__(
            f"Asset {asset_id} has {limit} saved views, the limit; delete one to save another"
        )


class SourceGoneError(NotFoundError):
    """The file version to copy was deleted before the copy was complete."""

    code = "SourceFileNotFound"
    needs_operator = False

    def __init__(self, key: str) -> None:
        super().__init__(f"The version of {key} to copy was deleted before the copy was complete")


class FileExistsInAssetError(AlreadyExistsError):
    code = "FileExists"

    def __init__(self, path: str, asset_id: str, *, replaced: str | None = None) -> None:
        """`replaced` names the data of an archived file that would be lost."""
        file = "a file" if replaced is None else "an archived file"
        remedy = (
            ""
            if replaced is None
            else f", whose {replaced} would be replaced: restore it, or delete it first"
        )
        super().__init__(f"Asset {asset_id} already has {file} {path}{remedy}")


class FileStateError(StateForbidsError):
    """The state of the file does not allow the operation."""

    code = "FileStateForbids"

    def __init__(self, path: str, fact: str) -> None:
        super().__init__(f"{path} {fact}")


class FileVersionNotFoundError(NotFoundError):
    code = "FileVersionNotFound"

    def __init__(self, path: str, version_id: str) -> None:
        super().__init__(f"{path} has no version {version_id}")
