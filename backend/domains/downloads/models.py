"""The bodies, queries and replies of the routes of downloads."""

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from backend.core.models import WireModel, WrongFieldError
from backend.core.names import Line, VersionIdText
from backend.domains.assets.models import AssetPath

DownloadType = Literal["assetFile", "assetPreview"]


class VersionChoice(WireModel):
    """The version of a file; at most one of the three ways to name it is allowed."""

    version_id: Annotated[Line | None, Field(min_length=1, max_length=1024)] = None
    asset_version_id: VersionIdText | None = None
    asset_version_id_alias: Annotated[Line | None, Field(min_length=1, max_length=64)] = None

    @model_validator(mode="after")
    def one_version_is_named(self) -> Self:
        ways = {
            "versionId": self.version_id,
            "assetVersionId": self.asset_version_id,
            "assetVersionIdAlias": self.asset_version_id_alias,
        }
        names = [name for name, value in ways.items() if value is not None]
        if len(names) > 1:
            raise WrongFieldError(names[1], f"at most one of {', '.join(ways)} is allowed")
        return self


class DownloadBody(VersionChoice):
    """The file or preview to download.

    With `attachment` a browser saves the file; without it, files that can be displayed are.
    """

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"downloadType": "assetFile", "key": "/scans/pump.e57"}]}
    )

    download_type: DownloadType
    key: Annotated[Line | None, Field(min_length=1)] = None
    attachment: bool | None = None

    @model_validator(mode="after")
    def check_selection(self) -> Self:
        if self.download_type == "assetFile" and self.key is None:
            raise WrongFieldError("key", "is required for downloads of the type assetFile")
        if self.download_type == "assetPreview":
            fact = (
                "must not be used with assetPreview: versions of an asset do not contain its "
                "preview"
            )
            if self.asset_version_id is not None:
                raise WrongFieldError("assetVersionId", fact)
            if self.asset_version_id_alias is not None:
                raise WrongFieldError("assetVersionIdAlias", fact)
        return self


class StreamPath(AssetPath):
    """`proxy` is the rest of the path: a path in the asset, or the key of one of its files."""

    proxy: Annotated[Line, Field(min_length=1)]


class DownloadReply(WireModel):
    """`expires_in` is in seconds."""

    download_url: str
    expires_in: int
    download_type: DownloadType
    version_id: str
    message: str
