"""The port by which domains ask for documents to be built again. `backend/search` implements it.

Most changes need no asking: streams and object events bring them. This is for what these cannot
name, such as the files of an asset whose row is gone.
"""

from collections.abc import Iterable
from typing import Protocol


class Reindexing(Protocol):
    """Asks for documents to be built from their sources; may raise UnavailableError.

    They are built soon, and once more when the table indexes they are read from have caught up.
    """

    def assets(self, assets: Iterable[tuple[str, str]]) -> None:
        """The documents of assets, each named by its database and asset ids."""
        ...

    def files(self, database_id: str, asset_id: str, paths: Iterable[str]) -> None:
        """The documents of files of an asset; a path begins with `/`."""
        ...

    def keys(self, database_id: str, asset_id: str, keys: Iterable[str]) -> None:
        """The documents of files by their S3 keys, also when the asset's row is gone."""
        ...
