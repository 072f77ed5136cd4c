"""Queries on facts: dependencies within an asset, and files of a similar shape."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from backend.core.file_kinds import is_preview
from backend.core.identity import Identity
from backend.core.objects import ObjectHead, Objects
from backend.core.paging import Page, PageRequest, fill, text_bytes
from backend.core.references import AssetRef, FileKeyRef
from backend.domains.assets.errors import FileNotFoundInAssetError
from backend.domains.assets.models import Asset
from backend.domains.assets.service.commands import AssetService
from backend.domains.facts.errors import NoShapeError
from backend.domains.facts.models import FileReferences, SimilarShape
from backend.domains.facts.repository import FactRepository
from backend.domains.facts.rules.resolution import (
    Paths,
    Resolved,
    circular_edges,
    possible_targets,
    resolve_references,
)

# Files of an asset that are listed to resolve references. They take 20 requests to S3. Further
# references keep the state from the inspection.
MAX_LISTED = 20_000
# Files beyond a page that are followed to find cycles: ten batch reads.
MAX_FOLLOWED = 1000
# S3's maximum for one list request.
_LISTED_AT_ONCE = 1000
# The names of fields and the state of an entry, besides its paths.
_ENTRY_BYTES = 200


class Dependency(NamedTuple):
    """A reference, the file it resolves to, and whether it is part of a cycle."""

    found: Resolved
    circular: bool


class Dependencies(NamedTuple):
    """A file with its references; `omitted` counts those that were not stored."""

    path: str
    references: tuple[Dependency, ...]
    omitted: int


class SimilarFile(NamedTuple):
    asset: Asset
    path: str
    similarity: float


class ShapeSearch(Protocol):
    """Finds documents of files by their shape."""

    def similar(
        self, caller: Identity, shape: str, *, size: int, but: FileKeyRef
    ) -> list[SimilarShape]:
        """Return the most similar documents that the caller may see, without the file `but`."""
        ...


@dataclass(eq=False, repr=False)
class FactQueries:
    assets: AssetService
    facts: FactRepository
    objects: Objects
    shapes: ShapeSearch

    def list_dependencies(
        self, caller: Identity, ref: AssetRef, page: PageRequest, *, file_path: str | None = None
    ) -> Page[Dependencies]:
        """List the files of an asset that refer to others, by path, with their resolved references.

        References are stored facts; whether their files exist is read now.

        Raises:
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
        """
        asset = self.assets.get_asset(caller, *ref.ids)

        def fetch(request: PageRequest) -> Page[FileReferences]:
            if file_path is None:
                return self.facts.references(asset, request)
            read = [] if request.after else self.facts.references_of(asset, [file_path])
            return Page(tuple(read))

        files = fill(
            fetch,
            page,
            visible=lambda _: True,
            position_of=lambda references: self.facts.position_of(asset, references),
            size_of=_size,
        )
        if not files.items:
            return Page((), files.after)
        paths = self._paths(asset)
        led = {item.path: resolve_references(item, paths) for item in files.items}
        in_circle = circular_edges(self._edges(asset, led, paths))
        return Page(
            tuple(
                Dependencies(
                    references.path,
                    tuple(
                        Dependency(r, (references.path, r.path) in in_circle)
                        for r in led[references.path]
                    ),
                    references.stored.omitted,
                )
                for references in files.items
            ),
            files.after,
        )

    def list_dependents(
        self, caller: Identity, ref: AssetRef, file_path: str, page: PageRequest
    ) -> Page[str]:
        """List the files of an asset that refer to a file, or to one in a folder (ending in `/`).

        The file itself need not exist. Files of the folder itself are left out.

        Raises:
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
        """
        asset = self.assets.get_asset(caller, *ref.ids)
        is_folder = file_path.endswith("/")

        def refers(references: FileReferences) -> bool:
            if is_folder:
                inside = (path.startswith(file_path) for path in possible_targets(references))
                return not references.path.startswith(file_path) and any(inside)
            return references.path != file_path and file_path in possible_targets(references)

        dependents = fill(
            lambda request: self.facts.references(asset, request),
            page,
            visible=refers,
            position_of=lambda references: self.facts.position_of(asset, references),
            size_of=lambda references: text_bytes(references.path),
        )
        return Page(tuple(item.path for item in dependents.items), dependents.after)

    def similar_files(
        self, caller: Identity, ref: AssetRef, file_path: str, *, size: int
    ) -> list[SimilarFile]:
        """List files with a similar shape, in all assets that the caller may see.

        Raises:
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
            FileNotFoundInAssetError: the asset has no such file.
            NoShapeError: the file has no shape.
            UnavailableError: search does not respond.
        """
        asset = self.assets.get_asset(caller, *ref.ids)
        bucket, prefix = self.assets.location(asset)
        key = prefix + file_path.removeprefix("/")
        if not isinstance(self.objects.head(bucket, key), ObjectHead):
            raise FileNotFoundInAssetError(file_path, asset.asset_id)
        shape = self.facts.shape(asset, file_path)
        if shape is None:
            raise NoShapeError(file_path)
        similar = self.shapes.similar(caller, shape, size=size, but=FileKeyRef(*ref.ids, key))
        owners = self.assets.visible(
            caller,
            {
                file.asset_id: AssetRef(database_id=file.database_id, asset_id=file.asset_id)
                for file in similar
            }.values(),
        )
        # The index lags behind the tables: files that were moved or deleted since are left out.
        return [
            SimilarFile(
                owner, "/" + file.key.removeprefix(owner.asset_location.key), file.similarity
            )
            for file in similar
            if (owner := owners.get(file.asset_id)) is not None
            and file.key.startswith(owner.asset_location.key)
        ]

    def _paths(self, asset: Asset) -> Paths:
        bucket, prefix = self.assets.location(asset)
        known: set[str] = set()
        after: str | None = None
        while len(known) < MAX_LISTED:
            page = self.objects.list_objects(bucket, prefix, limit=_LISTED_AT_ONCE, after=after)
            known |= {
                "/" + item.key.removeprefix(prefix)
                for item in page.objects
                if not item.key.endswith("/") and not is_preview(item.key)
            }
            after = page.next_key
            if after is None:
                return Paths(frozenset(known))
        return Paths(frozenset(known), is_whole=False)

    def _edges(
        self, asset: Asset, led: dict[str, list[Resolved]], paths: Paths
    ) -> dict[str, frozenset[str]]:
        """Return the references of the files of a page, and those of the files they refer to."""
        edges = {path: _resolved_paths(references) for path, references in led.items()}
        room = MAX_FOLLOWED
        while room > 0:
            unknown = {other for others in edges.values() for other in others} - edges.keys()
            wanted = sorted(unknown)[:room]
            if not wanted:
                break
            edges |= dict.fromkeys(wanted, frozenset[str]())
            for references in self.facts.references_of(asset, wanted):
                edges[references.path] = _resolved_paths(resolve_references(references, paths))
            room -= len(wanted)
        return edges


def _resolved_paths(references: Iterable[Resolved]) -> frozenset[str]:
    return frozenset(reference.path for reference in references if reference.path is not None)


def _size(file: FileReferences) -> int:
    """Return the size of a file's references in a reply, which may contain each path twice."""
    references = file.stored.references
    return _ENTRY_BYTES + sum(
        2 * text_bytes(reference.path) + _ENTRY_BYTES for reference in references
    )
