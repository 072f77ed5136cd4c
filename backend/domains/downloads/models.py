"""The bodies, queries and replies of the routes of downloads."""

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from backend.core.models import WireModel
from backend.core.names import Text
from backend.domains.assets.models import AssetPath
from backend.domains.files.models import VersionIdText

DownloadType = Literal["assetFile", "assetPreview"]


class VersionChoice(WireModel):
    """Which version of a file; of the three ways to name one at most one is taken."""

    version_id: Annotated[Text | None, Field(min_length=1, max_length=1024)] = None
    asset_version_id: VersionIdText | None = None
    asset_version_id_alias: Annotated[Text | None, Field(min_length=1, max_length=64)] = None

    @model_validator(mode="after")
    def one_version_is_named(self) -> Self:
        ways = (self.version_id, self.asset_version_id, self.asset_version_id_alias)
        if sum(way is not None for way in ways) > 1:
            raise ValueError(
                "at most one of versionId, assetVersionId and assetVersionIdAlias is taken"
            )
        return self


class DownloadBody(VersionChoice):
    """What to download."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"downloadType": "assetFile", "key": "/scans/pump.e57"}]}
    )

    download_type: DownloadType
    key: Annotated[Text | None, Field(min_length=1)] = None

    @model_validator(mode="after")
    def one_thing_is_named(self) -> Self:
        if self.download_type == "assetFile" and self.key is None:
            raise ValueError("key is missing: a download of type assetFile names a file")
        of_asset = self.asset_version_id is not None or self.asset_version_id_alias is not None
        if self.download_type == "assetPreview" and of_asset:
            raise ValueError("versions of the asset hold no preview: name none for assetPreview")
        return self


class StreamPath(AssetPath):
    """`proxy` is all that follows: a path in the asset, or the key of one of its files."""

    proxy: Annotated[Text, Field(min_length=1)]


class DownloadReply(WireModel):
    """`expires_in` is in seconds."""

    download_url: str
    expires_in: int
    download_type: DownloadType
    version_id: str
    message: str
