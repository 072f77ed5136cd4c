"""Creates the two search indexes as declared, and reports differences of existing ones.

A different mapping is never changed here: an online reindex into a new index corrects it.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from backend.core.errors import StateForbidsError
from backend.core.quoting import quoted
from backend.core.search_engine import JsonObject, SearchEngine
from backend.search.indexing.state import FIRST_POINTER, Pointer, SearchNotSetUpError, SearchState
from backend.spec.search_indexes import BREAKERS, SEARCH_INDEXES, SearchIndex


class MappingDiffersError(StateForbidsError):
    """The mapping of an existing index differs from the declared one; the rest was set up."""

    code = "MappingDiffers"

    def __init__(self, differences: tuple[str, ...]) -> None:
        listed = "; ".join(differences)
        remedy = "POST /admin/search/reindex corrects this"
        super().__init__(f"Search indexes differ from their declaration, {remedy}: {listed}")
        self.differences = differences


class Prepared(NamedTuple):
    """The indexes that are read and written, and a sentence for each refused setting."""

    pointer: Pointer
    refused: tuple[str, ...]


def ensure_indexes(engine: SearchEngine, state: SearchState) -> Prepared:
    """Create missing parts: memory limits, indexes, aliases, the pointer.

    Safe to run again at any time.

    Raises:
        MappingDiffersError: an existing index has another mapping.
    """
    refused = _describe_effect("memory is not limited", engine.limit_memory(BREAKERS))
    try:
        planned = state.pointer()
    except SearchNotSetUpError:
        planned = FIRST_POINTER
    for index in SEARCH_INDEXES:
        for name in planned.targets(index):
            refused += create_index(engine, name, index)
    # Named only now: the indexes must exist before writers receive their names.
    pointer = state.begin(planned, {name: _version(engine.mapping(name)) for name in planned.names})
    facts: list[str] = []
    for index in SEARCH_INDEXES:
        engine.point_alias(index.alias, pointer.current(index))
        for name in pointer.targets(index):
            facts += (f"{name}: {difference}" for difference in differences(engine, name, index))
    if facts:
        raise MappingDiffersError(tuple(facts))
    return Prepared(pointer, refused)


def create_index(engine: SearchEngine, name: str, index: SearchIndex) -> tuple[str, ...]:
    """Create an index unless it exists; return a sentence for tuning that the service refuses."""
    engine.create_index(name, mapping=index.mapping, settings=index.settings)
    return _describe_effect(f"{name} is not tuned", engine.tune_index(name, index.tuning))


def _describe_effect(effect: str, reason: str | None) -> tuple[str, ...]:
    return () if reason is None else (f"{effect}: {reason}",)


def _version(mapping: JsonObject) -> int:
    """Return the mapping version that an index names; it may be older than the pointer to it."""
    return int(mapping.get("_meta", {}).get("mappingVersion", 1))


def differences(engine: SearchEngine, name: str, index: SearchIndex) -> list[str]:
    """Return the differences of an index from its declaration, except fields of templates."""
    declared = index.mapping
    actual = cast("JsonObject", _plain(engine.mapping(name)))
    facts = [
        f"{part} is {quoted(actual.get(part))}, declared {quoted(declared[part])}"
        for part in ("dynamic", "dynamic_templates")
        if actual.get(part) != declared[part]
    ]
    properties = cast("Mapping[str, Any]", actual.get("properties", {}))
    facts += [
        f"{field} is {quoted(properties.get(field))}, declared {quoted(wanted)}"
        for field, wanted in declared["properties"].items()
        if properties.get(field) != wanted
    ]
    if _texts(engine.analysis(name)) != _texts(index.settings["analysis"]):
        facts.append("the analysis of texts differs")
    return facts


def _texts(settings: object) -> object:
    """Return settings as OpenSearch returns them, with texts for all values."""
    if isinstance(settings, dict):
        return {name: _texts(part) for name, part in cast("JsonObject", settings).items()}
    if isinstance(settings, list):
        return [_texts(part) for part in cast("list[object]", settings)]
    return str(settings).lower() if isinstance(settings, bool) else str(settings)


def _plain(mapping: object) -> object:
    """Return a mapping without the name that OpenSearch adds for the default analyzer."""
    if isinstance(mapping, dict):
        entries = cast("JsonObject", mapping).items()
        return {k: _plain(v) for k, v in entries if (k, v) != ("analyzer", "default")}
    if isinstance(mapping, list):
        return [_plain(element) for element in cast("list[object]", mapping)]
    return mapping
