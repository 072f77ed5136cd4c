"""The errors of assets."""

from backend.core.errors import (
    AlreadyExistsError,
    InvalidInputError,
    NotFoundError,
    RevisionConflictError,
)


class FileNotFoundInAssetError(NotFoundError):
    """The asset has no such file, or the file no such version."""

    code = "FileNotFound"

    def __init__(self, path: str, asset_id: str, version_id: str | None = None) -> None:
        version = "" if version_id is None else f" with version {version_id}"
        super().__init__(f"Asset {asset_id} has no file {path}{version}")


class PreviewNotFoundError(NotFoundError):
    """The asset has no preview."""

    code = "PreviewNotFound"

    def __init__(self, asset_id: str) -> None:
        super().__init__(f"Asset {asset_id} has no preview")


class NotDistributableError(InvalidInputError):
    """The asset is not distributable, so its files cannot be downloaded."""

    code = "AssetNotDistributable"

    def __init__(self) -> None:
        super().__init__("Asset not distributable")


class AssetNotFoundError(NotFoundError):
    """The asset does not exist, or is not visible to the caller."""

    code = "AssetNotFound"
    needs_operator = False  # a job ends with it if the asset was archived or deleted meanwhile

    def __init__(self, database_id: str | None, asset_id: str) -> None:
        where = "" if database_id is None else f" in database {database_id}"
        super().__init__(f"Asset {asset_id} does not exist{where}")


class AssetIdTakenError(AlreadyExistsError):
    """The id is in use in this deployment, possibly in another database."""

    code = "AssetIdTaken"

    def __init__(self, asset_id: str) -> None:
        super().__init__(f"The asset id {asset_id} is already in use")


class PrefixTakenError(AlreadyExistsError):
    """The prefix overlaps that of another asset."""

    code = "AssetPrefixTaken"

    def __init__(self, prefix: str) -> None:
        super().__init__(f"The prefix {prefix} overlaps the prefix of another asset")


class AssetRevisionError(RevisionConflictError):
    code = "AssetRevisionConflict"

    def __init__(self, asset_id: str) -> None:
        super().__init__(f"Asset {asset_id} was changed by someone else; read it again")


class AssetVersionNotFoundError(NotFoundError):
    code = "AssetVersionNotFound"

    def __init__(self, asset_id: str, asset_version_id: str) -> None:
        super().__init__(f"Asset {asset_id} has no version {asset_version_id}")
