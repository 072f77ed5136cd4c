"""The fields in which documents contain the values of a key: metadata, attributes, facts. Pure.

Metadata and attributes are nested pairs (`values.typed_pairs`, `values.attribute_pairs`). A key
`fact_triangles` names a fact, whose type is declared; a key `AB_maker` an attribute of a file; any
other key names metadata.
"""

from typing import NamedTuple

from backend.core.errors import InvalidInputError, StateForbidsError
from backend.core.quoting import quoted
from backend.core.search_engine import JsonObject
from backend.search.query.models import MetadataType, SearchBody
from backend.spec.facts import FACT_BY_KEY, FACT_PREFIX, HIDDEN_KEYS
from backend.spec.search_indexes import (
    ASSET_INDEX,
    ATTRIBUTES,
    DATED_FACTS_FROM,
    FIELD_SINCE,
    FILE_INDEX,
    PLACES_FROM,
)

METADATA = "metadata"
_ATTRIBUTE_PREFIX = "AB_"
PREFIXES = (FACT_PREFIX, _ATTRIBUTE_PREFIX)
"""Prefixes of the keys of facts and attributes."""
_FIELDS = frozenset((*ASSET_INDEX.all_fields, *FILE_INDEX.all_fields))
ATTRIBUTES_FROM = FIELD_SINCE[ATTRIBUTES]
_DATES = frozenset(fact.key for fact in FACT_BY_KEY.values() if fact.type == "date")


class AttributesNotIndexedError(StateForbidsError):
    """The indexes in use were created by a release without typed attributes, or dates of them."""

    code = "AttributesNotIndexed"

    def __init__(self) -> None:
        super().__init__(
            "Facts and attributes cannot be searched until a reindex, which is required "
            "since the last upgrade: `vitrine admin search reindex`"
        )


class PlacesNotIndexedError(StateForbidsError):
    """The indexes in use were created by a release without `geo_MD_location`."""

    code = "PlacesNotIndexed"

    def __init__(self) -> None:
        super().__init__(
            "geoSearch cannot be used until a reindex, which is required since the last upgrade: "
            "`vitrine admin search reindex`"
        )


class Named(NamedTuple):
    """The pairs that a key matches: nested path, key, and the type if one is declared."""

    path: str
    key: str
    type: MetadataType | None = None

    def field(self, name: str) -> str:
        return f"{self.path}.{name}"

    def query(self, condition: JsonObject | None = None) -> JsonObject:
        """Return the query for documents with such a pair."""
        conditions: list[JsonObject] = [{"term": {self.field("key"): self.key}}]
        if condition is not None:
            conditions.append(condition)
        return nested_query(self.path, {"bool": {"filter": conditions}})


def pair_named(key: str, *, field: str) -> Named:
    """Return what a key of a request matches; `field` is the key's place in it.

    Raises:
        InvalidInputError: the key has the prefix of facts, but is not a fact, or it is a field of
            the indexes.
    """
    if key.removesuffix(".keyword") in _FIELDS:
        raise InvalidInputError.of(
            field, f"{quoted(key)} is a field of the indexes, which only filters and sort use"
        )
    own = key.removeprefix(_ATTRIBUTE_PREFIX)
    if own.startswith(FACT_PREFIX):
        fact = FACT_BY_KEY.get(own)
        if fact is None or own in HIDDEN_KEYS:
            known = ", ".join(FACT_BY_KEY)
            raise InvalidInputError.of(field, f"{quoted(key)} is not a fact; the facts are {known}")
        return Named(ATTRIBUTES, own, fact.type)
    # A bare `width` is metadata, never a fact: it is a common key, and must not find images.
    return Named(METADATA, key) if own == key or not own else Named(ATTRIBUTES, own, "string")


def mapping_version_for(body: SearchBody) -> int:
    """Return the mapping version that indexes need for the keys that a search uses."""
    if body.geo_search is not None:
        return PLACES_FROM
    # Of keys that only exist or are counted, the type does not matter.
    compared = [
        *(condition.key for condition in body.metadata_filters if condition.op != "exists"),
        *(choice.facet for choice in body.facet_choices),
        *(criterion.field for criterion in body.sort),
    ]
    others = [*body.metadata_filters, *body.metadata_facets]
    if not any(key.startswith(PREFIXES) for key in (*compared, *(part.key for part in others))):
        return 1
    is_dated = any(key.removeprefix(_ATTRIBUTE_PREFIX) in _DATES for key in compared)
    return DATED_FACTS_FROM if is_dated else ATTRIBUTES_FROM


def nested_query(path: str, query: JsonObject, **more: object) -> JsonObject:
    """Return a nested query. Indexes of earlier mapping versions have no attributes."""
    unmapped = {"ignore_unmapped": True} if path == ATTRIBUTES else {}
    return {"nested": {"path": path, "query": query, **unmapped, **more}}
