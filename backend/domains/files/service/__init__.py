"""Operations on files of assets: list and describe them, for routes and for other slices."""

from backend.domains.files.service.copies import Copies, FileCopy, Unfinished
from backend.domains.files.service.queries import FileQueries
from backend.domains.files.service.states import FileState, FileStates
from backend.domains.files.service.target import FileTarget

__all__ = [
    "Copies",
    "FileCopy",
    "FileQueries",
    "FileState",
    "FileStates",
    "FileTarget",
    "Unfinished",
]
