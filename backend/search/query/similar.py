"""Finds documents of files with a similar shape: a script scores the visible ones."""

import base64
from dataclasses import dataclass
from typing import Any

from backend.core.authorization import Visibility
from backend.core.identity import Identity
from backend.core.references import FileKeyRef
from backend.core.search_engine import JsonObject, SearchEngine
from backend.domains.facts.models import SimilarShape
from backend.search.indexing.state import SearchState
from backend.search.query.pairs import ATTRIBUTES_FROM, AttributesNotIndexedError
from backend.search.query.plan import NOT_SHOWN, TIE_BREAKERS
from backend.search.query.service import SearchNotDeployedError
from backend.search.values import packed_shape
from backend.spec.facts import SHAPE_NUMBERS
from backend.spec.search_indexes import FILE_INDEX, SHAPE, SHAPE_STEPS

_BY_DISTANCE = """
BytesRef found = doc[params.field].value;
byte[] bytes = found.bytes;
int first = found.offset;
int count = params.count;
def shape = params.shape;
int sum = 0;
for (int i = 0; i < count; i++) {
  int apart = (bytes[first + i] & 255) - (int) shape[i];
  sum += apart * apart;
}
return 1 / (1 + sum / params.unit);
"""
# The distance of shapes that are half alike: that of the most similar two of different samples. Of
# models in two formats, three quarters are nearer than a quarter of it (decision 50).
HALF_ALIKE = 0.2
_FIELDS = ["str_databaseid", "str_assetid", "str_key"]


@dataclass(eq=False, repr=False)
class ShapeQueries:
    """Implements the port `ShapeSearch` of the slice facts."""

    engine: SearchEngine | None
    state: SearchState
    visibility: Visibility

    def similar(
        self, caller: Identity, shape: str, *, size: int, but: FileKeyRef
    ) -> list[SimilarShape]:
        """Return the most similar documents that the caller may see, without the file `but` itself.

        Raises:
            AttributesNotIndexedError: the index is of an earlier mapping version.
            SearchNotDeployedError: search is not deployed.
        """
        if self.engine is None:
            raise SearchNotDeployedError
        if self.state.mapping_version_read() < ATTRIBUTES_FROM:
            raise AttributesNotIndexedError
        packed, visible = packed_shape(shape), self.visibility.search_filter(caller)
        if packed is None or visible is None:
            return []
        index = self.state.pointer().current(FILE_INDEX)
        answer = self.engine.search((index,), similar_query(packed, visible, size=size, but=but))
        return [_similar(hit) for hit in answer["hits"]["hits"]]


def similar_query(packed: str, visible: JsonObject, *, size: int, but: FileKeyRef) -> JsonObject:
    """Return the request for documents by the distance of their shape (`similarity_of`)."""
    params = {
        "field": SHAPE,
        "shape": list(base64.b64decode(packed)),
        "count": SHAPE_NUMBERS,
        "unit": float(SHAPE_STEPS**2),
    }
    itself = [
        {"term": {f"{field}.keyword": value}}
        for field, value in zip(_FIELDS, (*but.asset.ids, but.key), strict=True)
    ]
    candidates: JsonObject = {
        "filter": [visible, {"exists": {"field": SHAPE}}],
        "must_not": [*NOT_SHOWN, {"bool": {"filter": itself}}],
    }
    script = {"lang": "painless", "source": _BY_DISTANCE, "params": params}
    return {
        "query": {"script_score": {"query": {"bool": candidates}, "script": script}},
        "size": size,
        "track_total_hits": False,
        "_source": _FIELDS,
        "sort": ["_score", *TIE_BREAKERS],
    }


def _similar(hit: JsonObject) -> SimilarShape:
    source: dict[str, Any] = hit["_source"]
    database_id, asset_id, key = (str(source[field]) for field in _FIELDS)
    return SimilarShape(database_id, asset_id, key, similarity_of(float(hit["_score"])))


def similarity_of(score: float) -> float:
    """Return how alike two shapes are: 1 if they are the same, near 0 if they differ much."""
    # The score itself only orders shapes: that of unlike ones is still about 0.6 (decision 50).
    squared_distance = 1 / score - 1
    return round(0.5 ** (squared_distance / HALF_ALIKE**2), 6)
