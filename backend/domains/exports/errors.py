"""The errors of exports."""

from backend.core.errors import TooLargeError


class ExportTooLargeError(TooLargeError):
    """The requested data of one asset exceeds a page of the export."""

    code = "ExportTooLarge"

    def __init__(self, what: str, flag: str) -> None:
        super().__init__(
            f"{what} exceed the size of an export page; request the export without {flag}"
        )
