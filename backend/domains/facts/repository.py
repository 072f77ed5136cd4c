"""Facts as attributes of files, by access pattern. The slice of metadata writes them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from backend.core.paging import Page, PageRequest, Position
from backend.core.references import FileRef
from backend.core.tables import Query, Tables
from backend.core.transactions import Item
from backend.domains.assets.models import Asset
from backend.domains.facts.models import FileReferences, InspectedFile, StoredReferences
from backend.spec import keys
from backend.spec.facts import (
    FACT_BY_KEY,
    READERS_VERSION,
    READERS_VERSION_KEY,
    REFERENCES_KEY,
    REFUSED_KEY,
    SHAPE_KEY,
    SOURCE_VERSION_KEY,
)
from backend.spec.tables.metadata import FILE_ATTRIBUTES

_VALUE = "attributeValue"


class FactSource(NamedTuple):
    """The S3 version that the facts of a file describe, and why it was refused."""

    version_id: str | None
    refused: str | None


NO_SOURCE = FactSource(None, None)


@dataclass(eq=False, repr=False)
class FactRepository:
    tables: Tables

    def references(self, asset: Asset, page: PageRequest) -> Page[FileReferences]:
        """Return the references of an asset's files, by path."""
        query = Query(
            table=FILE_ATTRIBUTES,
            partition=REFERENCES_KEY,
            sort_prefix=keys.FILE.prefix(asset.database_id, asset.asset_id),
            consistent=True,
        )
        return self.tables.query(query, page).map(_references)

    def references_of(self, asset: Asset, paths: Iterable[str]) -> list[FileReferences]:
        """Return the references of those of the files that have any."""
        wanted = [(FILE_ATTRIBUTES, _key(REFERENCES_KEY, asset, path)) for path in paths]
        return [_references(item) for _, item in self.tables.get_many(wanted)]

    def position_of(self, asset: Asset, references: FileReferences) -> Position:
        """Return the position of a page after a file."""
        return _key(REFERENCES_KEY, asset, references.path)

    def shape(self, asset: Asset, path: str) -> str | None:
        """Return the stored shape of a file, None if it has none."""
        item = self.tables.get(FILE_ATTRIBUTES, _key(SHAPE_KEY, asset, path))
        return None if item is None else str(item[_VALUE])

    def list_inspected(self, database_id: str | None, page: PageRequest) -> Page[InspectedFile]:
        """Return files that were read, also refused ones, by database, asset and path."""
        prefix = None if database_id is None else keys.FILE.prefix(database_id)
        query = Query(
            table=FILE_ATTRIBUTES,
            partition=SOURCE_VERSION_KEY,
            sort_prefix=prefix,
            consistent=True,
        )
        rows = self.tables.query(query, page)
        names = [str(item[keys.FILE.name]) for item in rows.items]
        # The version of the readers that read each file; a missing one is the first.
        table_keys = FILE_ATTRIBUTES.key_names
        wanted = [dict(zip(table_keys, (READERS_VERSION_KEY, name), strict=True)) for name in names]
        fact = FACT_BY_KEY[READERS_VERSION_KEY]
        versions = {
            str(item[keys.FILE.name]): fact.typed(str(item[_VALUE]))
            for _, item in self.tables.get_many([(FILE_ATTRIBUTES, key) for key in wanted])
        }
        files: list[InspectedFile] = []
        for name in names:
            version = versions.get(name)
            is_old = (version if isinstance(version, int | float) else 1) < READERS_VERSION
            files.append(InspectedFile(FileRef(*keys.FILE.parse(name)), is_old))
        return Page(tuple(files), rows.after)

    def source_of(self, asset: Asset, path: str) -> FactSource:
        file = FileRef(*asset.ref.ids, path)
        return self.sources_of([(asset, path)]).get(file, NO_SOURCE)

    def sources_of(self, files: Iterable[tuple[Asset, str]]) -> dict[FileRef, FactSource]:
        """Return the sources of the facts of some files; files without facts are left out."""
        names = (SOURCE_VERSION_KEY, REFUSED_KEY)
        wanted = [(FILE_ATTRIBUTES, _key(name, *file)) for file in files for name in names]
        values_of: dict[FileRef, dict[str, str]] = {}
        for _, item in self.tables.get_many(wanted):
            file = FileRef(*keys.FILE.parse(str(item[keys.FILE.name])))
            name = str(item[FILE_ATTRIBUTES.partition_key.name])
            values_of.setdefault(file, {})[name] = str(item[_VALUE])
        return {
            file: FactSource(values.get(SOURCE_VERSION_KEY), values.get(REFUSED_KEY))
            for file, values in values_of.items()
        }


def _key(name: str, asset: Asset, path: str) -> dict[str, str]:
    names = FILE_ATTRIBUTES.key_names
    file = keys.FILE.build(asset.database_id, asset.asset_id, path)
    return dict(zip(names, (name, file), strict=True))


def _references(item: Item) -> FileReferences:
    _, _, path = keys.FILE.parse(str(item[keys.FILE.name]))
    return FileReferences(path, StoredReferences.model_validate_json(str(item[_VALUE])))
