"""The bodies, queries and replies of the routes of downloads."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from backend.core.models import FullModel, WireModel, WrongFieldError
from backend.core.names import Line, VersionIdText
from backend.domains.assets.models import AssetPath

MAX_KEYS = 1500

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


class DownloadKey(WireModel):
    """One of several files to download."""

    key: Annotated[Line, Field(min_length=1)]
    version_id: Annotated[Line | None, Field(min_length=1, max_length=1024)] = None


class DownloadBody(VersionChoice):
    """The file or preview to download, or several files: `keys` are paths, with or without a
    version.

    With `attachment` a browser saves the file; without it, files that can be displayed are.
    """

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"downloadType": "assetFile", "key": "/scans/pump.e57"}]}
    )

    download_type: DownloadType
    key: Annotated[Line | None, Field(min_length=1)] = None
    keys: (
        Annotated[
            list[Annotated[Line, Field(min_length=1)] | DownloadKey],
            Field(min_length=1, max_length=MAX_KEYS),
        ]
        | None
    ) = None
    attachment: bool | None = None

    @model_validator(mode="after")
    def check_selection(self) -> Self:
        if self.keys is not None:
            self._check_keys(self.keys)
        elif self.download_type == "assetFile" and self.key is None:
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

    def _check_keys(self, keys: Sequence[str | DownloadKey]) -> None:
        if self.download_type != "assetFile":
            raise WrongFieldError("keys", "are for downloads of the type assetFile")
        if self.key is not None:
            raise WrongFieldError("keys", "must not be used with key")
        if self.version_id is not None:
            raise WrongFieldError("versionId", "must not be used with keys: name that of each key")
        way = "assetVersionId" if self.asset_version_id is not None else "assetVersionIdAlias"
        if self.asset_version_id is None and self.asset_version_id_alias is None:
            return
        for number, key in enumerate(keys):
            if isinstance(key, DownloadKey) and key.version_id is not None:
                raise WrongFieldError(f"keys.{number}.versionId", f"must not be used with {way}")


class StreamPath(AssetPath):
    """`proxy` is the rest of the path: a path in the asset, or the key of one of its files."""

    proxy: Annotated[Line, Field(min_length=1)]


class FileDownload(FullModel):
    """The result for one of several files: its URL, or why it has none."""

    key: str
    download_url: str | None = None
    version_id: str | None = None
    success: bool
    error: str | None = None


class DownloadReply(WireModel):
    """`expires_in` is in seconds. Of several `files`, the URL and the version are those of the
    first that can be downloaded.
    """

    download_url: str
    expires_in: int
    download_type: DownloadType
    version_id: str
    message: str
    files: list[FileDownload] | None = None
