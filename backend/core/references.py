"""References to what is stored: the ids of an asset, and of a file in it."""

from dataclasses import dataclass


# No named tuples: references of two kinds with equal fields differ, also in a set.
@dataclass(frozen=True, slots=True, order=True)
class AssetRef:
    database_id: str
    asset_id: str

    @property
    def ids(self) -> tuple[str, str]:
        return self.database_id, self.asset_id


@dataclass(frozen=True, slots=True)
class FileRef:
    """A file by its path in the asset, which begins with `/`."""

    database_id: str
    asset_id: str
    path: str

    @property
    def asset(self) -> AssetRef:
        return AssetRef(self.database_id, self.asset_id)


@dataclass(frozen=True, slots=True)
class FileKeyRef:
    """A file's document by the parts of its id: the asset and the whole key of the object.

    It identifies the document even if the location of the asset's files is no longer known.
    """

    database_id: str
    asset_id: str
    key: str

    @property
    def asset(self) -> AssetRef:
        return AssetRef(self.database_id, self.asset_id)
