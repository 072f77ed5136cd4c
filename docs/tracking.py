"""The reference page of the keys and access patterns of the tracking table."""

from collections.abc import Iterator

from vitrine_mlflow.keys import ENTITIES, Entity
from vitrine_mlflow.patterns import PATTERNS
from vitrine_mlflow.table import GLOBAL_INDEXES, LOCAL_INDEXES

from docs.tables import rows


def tracking_page() -> Iterator[str]:
    """The lines of the page."""
    yield "The table of the MLflow stores; see [the guide](../guides/tracking.md)."
    yield "`#` and `%` inside a field are percent-encoded."
    yield from ("", "## Items", "")
    yield from rows(("partition key", "sort key", "item", "attributes"), _entities(ours=False))
    yield from ("", "Items that the stores need beyond these:", "")
    yield from rows(("partition key", "sort key", "item", "attributes"), _entities(ours=True))
    yield from ("", "In workspaces other than the default, these items have other keys:", "")
    yield from rows(("partition key", "sort key", "item"), _keys_elsewhere())
    yield from ("", "## Indexes", "")
    yield from rows(("index", "partition key", "sort key", "purpose"), _indexes())
    yield from ("", "Keys in the global indexes:", "")
    yield from rows(("index", "item", "partition key", "sort key"), _index_keys())
    yield from ("", "Sort keys in the local indexes, which have the table's partition key:", "")
    yield from rows(("index", "item", "sort key"), _local_keys())
    yield from ("", "## Access patterns", "")
    yield f"{len(PATTERNS)} patterns. A test runs each of them."
    for area in dict.fromkeys(pattern.area for pattern in PATTERNS):
        yield from ("", f"### {area}", "")
        yield from rows(("operation", "key or index", "function", "note"), _patterns(area))


def _entities(*, ours: bool) -> Iterator[tuple[str, ...]]:
    for entity in ENTITIES:
        if entity.ours == ours:
            yield f"`{entity.pk.text}`", f"`{entity.sk.text}`", entity.title, entity.description


def _indexes() -> Iterator[tuple[str, ...]]:
    for index in (*GLOBAL_INDEXES, *LOCAL_INDEXES):
        yield index.name, f"`{index.pk}`", f"`{index.sk}`", index.purpose


def _index_keys() -> Iterator[tuple[str, ...]]:
    for index in GLOBAL_INDEXES:
        for entity in ENTITIES:
            yield from _keys_of(entity, index.name)


def _keys_of(entity: Entity, index: str) -> Iterator[tuple[str, ...]]:
    known = {entity.title: entity}
    if entity.elsewhere is not None and entity.elsewhere.indexes != entity.indexes:
        known[f"{entity.title} in another workspace"] = entity.elsewhere
    for title, placed in known.items():
        for name, (pk, sk) in placed.indexes.items():
            if name.upper() == index:
                yield index, title, f"`{pk.text}`", f"`{sk.text}`"


def _keys_elsewhere() -> Iterator[tuple[str, ...]]:
    for entity in ENTITIES:
        if entity.elsewhere is not None:
            other = entity.elsewhere
            yield f"`{other.pk.text}`", f"`{other.sk.text}`", entity.title


def _local_keys() -> Iterator[tuple[str, ...]]:
    for index in LOCAL_INDEXES:
        for entity in ENTITIES:
            for name, pattern in entity.local.items():
                if name.upper() == index.name:
                    yield index.name, entity.title, f"`{pattern.text}`"


def _patterns(area: str) -> Iterator[tuple[str, ...]]:
    for pattern in PATTERNS:
        if pattern.area == area:
            yield pattern.operation, f"`{pattern.key}`", f"`{pattern.function}`", pattern.note
