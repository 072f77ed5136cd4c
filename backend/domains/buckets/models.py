"""Asset buckets as stored, and the replies of their route."""

from typing import Annotated

from pydantic import Field

from backend.core.models import WireModel


class AssetBucket(WireModel):
    """A bucket and the prefix in it that holds assets; `/` means the bucket's root."""

    bucket_id: str
    bucket_name: str
    base_assets_prefix: str

    @property
    def key_prefix(self) -> str:
        """What the keys of assets begin with: empty for the root, else ending in `/`."""
        return self.base_assets_prefix.lstrip("/")


class BucketsReply(WireModel):
    items: Annotated[list[AssetBucket], Field(alias="Items")]
    next_token: Annotated[str | None, Field(alias="NextToken")] = None
