"""The place of a file of an asset."""

from backend.domains.assets.models import Asset
from backend.domains.files.rules import relative_path
from backend.values import frozen


@frozen
class FileTarget:
    """A key that belongs to an asset, and the bucket that it is in."""

    asset: Asset
    bucket: str
    prefix: str
    key: str

    @property
    def path(self) -> str:
        """Return the path in the asset, with a leading slash."""
        return relative_path(self.prefix, self.key)
