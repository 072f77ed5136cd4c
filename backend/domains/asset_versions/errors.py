"""The errors of asset versions."""

from backend.core.errors import AlreadyExistsError, RevisionConflictError, StateForbidsError


class TurnTakenError(RevisionConflictError):
    """Another request has started a version of the asset meanwhile."""

    def __init__(self, asset_id: str) -> None:
        super().__init__(f"Other versions of asset {asset_id} are being requested; try again")


class AliasTakenError(AlreadyExistsError):
    """Another version of the asset has this alias."""

    code = "VersionAliasTaken"
    needs_operator = False

    def __init__(self, alias: str) -> None:
        super().__init__(f"Another version of this asset already has the alias {alias}")


class VersionRevisionError(RevisionConflictError):
    code = "AssetVersionRevisionConflict"

    def __init__(self, asset_version_id: str) -> None:
        super().__init__(f"Version {asset_version_id} was changed by someone else; read it again")


class VersionArchivedError(StateForbidsError):
    """The asset version is archived."""

    code = "AssetVersionIsArchived"

    def __init__(self, asset_version_id: str) -> None:
        super().__init__(f"Version {asset_version_id} is already archived")


class VersionActiveError(StateForbidsError):
    """The asset version is not archived."""

    code = "AssetVersionIsActive"

    def __init__(self, asset_version_id: str) -> None:
        super().__init__(f"Version {asset_version_id} is not archived")


class VersionOvertakenError(StateForbidsError):
    """The asset was archived or deleted while the version was being created."""

    code = "AssetVersionOvertaken"
    needs_operator = False

    def __init__(self, asset_id: str) -> None:
        super().__init__(
            f"Asset {asset_id} was archived or deleted while the version was being created"
        )


class CreationCancelledError(StateForbidsError):
    """Creation of the version was cancelled, but not all of its rows were removed."""

    code = "AssetVersionGivenUp"


class RequestLostError(StateForbidsError):
    """The request ended before all files of the version were stored."""

    code = "AssetVersionRequestLost"
    needs_operator = False

    def __init__(self) -> None:
        super().__init__("The request ended before all of its files were stored; send it again")
