"""The errors of asset lifecycle."""

from backend.core.errors import InvalidInputError, StateForbidsError


class JobOvertakenError(StateForbidsError):
    """The asset has changed state since the job started."""

    code = "JobOvertaken"
    needs_operator = False

    def __init__(self, asset_id: str) -> None:
        super().__init__(f"Asset {asset_id} was deleted, or its state was changed again")


class AssetArchivedError(StateForbidsError):
    """The asset is already archived."""

    code = "AssetArchived"

    def __init__(self, asset_id: str) -> None:
        super().__init__(f"Asset {asset_id} is already archived")


class AssetActiveError(StateForbidsError):
    """The asset is not archived."""

    code = "AssetActive"

    def __init__(self, asset_id: str) -> None:
        super().__init__(f"Asset {asset_id} is not archived")


class AssetBusyError(StateForbidsError):
    """The previous change of the asset's state is still in progress."""

    code = "AssetBusy"

    def __init__(self, asset_id: str, job_id: str) -> None:
        super().__init__(
            f"The files of asset {asset_id} are still being changed by job {job_id}: "
            "wait for it, or cancel it"
        )


class DatabaseDeletedError(InvalidInputError):
    """The database of the asset is deleted."""

    code = "DatabaseDeleted"

    def __init__(self, database_id: str, asset_id: str) -> None:
        super().__init__(f"Asset {asset_id} cannot be restored: database {database_id} is deleted")


class NotRemovedError(StateForbidsError):
    """The object store confirmed a deletion but still lists the version."""

    code = "ObjectNotRemoved"

    def __init__(self, bucket: str, key: str, version_id: str) -> None:
        where = f"s3://{bucket}/{key} (version {version_id})"
        super().__init__(f"{where} is still listed after it was deleted")


class ConfirmationMissingError(StateForbidsError):
    """Archiving the current version also archives the asset and must be confirmed."""

    code = "ConfirmArchiveAssetMissing"

    def __init__(self, asset_version_id: str) -> None:
        super().__init__(
            f"Version {asset_version_id} is the current version, so its asset is archived "
            "as well: confirm this with confirmArchiveAsset"
        )
