"""The errors of quarantine."""

from backend.core.errors import StateForbidsError


class FileQuarantinedError(StateForbidsError):
    """A malware scan found a threat in this version of the file."""

    code = "FileQuarantined"
    needs_operator = False

    def __init__(self, key: str) -> None:
        super().__init__(
            f"{key} is quarantined: a malware scan found a threat in this version. Delete "
            "the file, or restore an older version"
        )
