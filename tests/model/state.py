"""The expected content of the deployment: plain values, changed by the same requests as users'."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from backend.core.names import extension_of
from tests.model.values import Value

RecordKind = Literal["metadata", "attribute"]
Records = dict[str, Value]


@dataclass
class ModelFile:
    """A file with the size of its latest version; an archived one has a delete marker."""

    size: int
    is_archived: bool = False


@dataclass
class ModelAsset:
    """An asset.

    `taken` are the paths that archiving the asset hid, and that restoring it shows again.
    """

    database_id: str
    asset_id: str
    name: str
    description: str
    is_distributable: bool
    tags: list[str]
    prefix: str
    created_at: str
    asset_type: str = "none"
    types: set[str] = field(default_factory=lambda: {"none"})
    """The asset's types since the last check; an archived asset keeps the last of them."""
    is_archived: bool = False
    is_half_done: bool = False
    """Whether its last change of state was cancelled. Only S3 shows which files it changed."""
    taken: set[str] = field(default_factory=set[str])
    files: dict[str, ModelFile] = field(default_factory=dict[str, ModelFile])
    records: dict[tuple[RecordKind, str], Records] = field(
        default_factory=dict[tuple[RecordKind, str], Records]
    )

    def of(self, kind: RecordKind, path: str) -> Records:
        """The records at a path, to be changed."""
        return self.records.setdefault((kind, path), {})

    def current(self) -> set[str]:
        """The paths of the files that are not archived, previews among them."""
        return {path for path, file in self.files.items() if not file.is_archived}

    def upload(self, path: str, size: int, *, among: set[str]) -> None:
        """A file was added.

        `among` are all that the bucket shows, others may be about to be restored.
        """
        self.files[path] = ModelFile(size)
        self.taken.discard(path)
        self.types |= {type_of(among), type_of(self.current())}

    def archive(self) -> None:
        self.types.add(type_of(self.current()))
        self.is_archived, self.is_half_done = True, False
        self.taken |= self.current()
        for path in self.taken:
            self.files[path].is_archived = True

    def unarchive(self) -> None:
        self.is_archived, self.is_half_done = False, False
        for path in self.taken:
            self.files[path].is_archived = False
        self.taken = set()


@dataclass
class Model:
    """Databases by id with their descriptions; deleted ones apart, with the last one of each id.

    Assets; tags.
    """

    databases: dict[str, str] = field(default_factory=dict[str, str])
    deleted: dict[str, str] = field(default_factory=dict[str, str])
    assets: dict[str, ModelAsset] = field(default_factory=dict[str, ModelAsset])
    leaving: set[str] = field(default_factory=set[str])
    """Ids of deleted assets, which may not be free yet."""
    links: dict[str, tuple[str, str, str]] = field(default_factory=dict[str, tuple[str, str, str]])
    """Links by their ids: the type, and the ids of both assets, a parent first."""
    tags: set[str] = field(default_factory=set[str])
    made: int = 0
    """All assets that were ever created."""

    def active(self) -> list[ModelAsset]:
        return [asset for asset in self.assets.values() if not asset.is_archived]

    def below(self, asset_id: str) -> set[str]:
        """All assets below this one in the tree."""
        result: set[str] = set()
        level = {asset_id}
        while (
            level := {
                child
                for kind, parent, child in self.links.values()
                if kind == "parentChild" and parent in level
            }
            - result
        ):
            result |= level
        return result

    def is_linked(self, asset_id: str, kind: str, *places: int) -> bool:
        """Return whether a link of this type has the asset at one of these places."""
        return any(
            link[0] == kind and asset_id in {link[n] for n in places}
            for link in self.links.values()
        )

    def unlink(self, asset_id: str) -> None:
        """Remove all links of an asset."""
        self.links = {name: link for name, link in self.links.items() if asset_id not in link[1:]}

    def withdraw(self, tag: str) -> None:
        self.tags.discard(tag)
        for asset in self.assets.values():
            asset.tags = [name for name in asset.tags if name != tag]


def type_of(paths: Iterable[str]) -> str:
    """The type of an asset by its files."""
    result = [path for path in paths if preview_base(path) is None]
    if len(result) > 1:
        return "folder"
    return (extension_of(result[0]) or "unknown") if result else "none"


def preview_base(path: str) -> str | None:
    """The path of the file that this is a preview of."""
    base, mark, _ = path.rpartition(".previewFile.")
    return base if mark else None
