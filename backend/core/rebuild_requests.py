"""The port by which domains request that search documents are rebuilt.

`backend/search/indexing/rebuild_requests.py` implements it. Most changes need no request, because
streams and object events report them. It is for changes that these cannot report, such as the files
of an asset whose row is deleted.
"""

from collections.abc import Iterable
from typing import Protocol

from backend.core.references import AssetRef


class RebuildRequests(Protocol):
    """Requests to build documents from their sources. Each method may raise UnavailableError.

    A document is built soon after the request, and a second time when the table indexes from which
    it is read contain all earlier writes.
    """

    def assets(self, assets: Iterable[AssetRef]) -> None:
        """Request the documents of assets."""
        ...

    def files(self, database_id: str, asset_id: str, paths: Iterable[str]) -> None:
        """Request the documents of files of an asset. Each path begins with `/`."""
        ...

    def keys(self, database_id: str, asset_id: str, keys: Iterable[str]) -> None:
        """Request the documents of files by their S3 keys, also if the asset's row is deleted."""
        ...
