"""The errors of downloads."""

from backend.core.errors import GoneError, PermissionDeniedError


class NotStreamedError(PermissionDeniedError):
    """The asset is not distributable, so its files cannot be streamed."""

    code = "AssetNotStreamable"

    def __init__(self) -> None:
        super().__init__("Asset not distributable")


class FileArchivedError(GoneError):
    """The file is archived; restore it first."""

    code = "FileArchived"

    def __init__(self, key: str) -> None:
        super().__init__(f"{key} is archived")


class AssetVersionArchivedError(GoneError):
    """The asset version is archived; restore it first."""

    code = "AssetVersionArchived"

    def __init__(self, version_id: str) -> None:
        super().__init__(f"Version {version_id} of the asset is archived")
