"""The errors of facts."""

from backend.core.errors import NotFoundError


class NoShapeError(NotFoundError):
    """The file is not a model, has not been inspected, or has no surface."""

    code = "FileHasNoShape"

    def __init__(self, path: str) -> None:
        super().__init__(f"File {path} has no shape that can be compared")
