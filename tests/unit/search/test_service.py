"""The service of search over an engine that only remembers what it was asked."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, cast

import pytest

from backend.core.identity import Identity
from backend.core.sync_tokens import Written, WrittenDocument
from backend.domains.access.policy.search_filter import EVERYTHING
from backend.search.indexing.state import FIRST_POINTER, Reading
from backend.search.query.freshness import Freshness
from backend.search.query.models import SearchBody
from backend.search.query.pairs import AttributesNotIndexedError
from backend.search.query.previews import PreviewQueries
from backend.search.query.service import SearchService
from backend.spec.search_indexes import ASSET_INDEX, MAPPING_VERSION
from tests.factories.search import NOON

ANN = Identity("ann")
NOTHING: dict[str, Any] = {"match_none": {}}


class RecordingEngine:
    """The engine, the state, the rights and the freshness: the third answer is fresh."""

    def __init__(
        self,
        rights: Sequence[dict[str, Any] | None],
        hits: Sequence[dict[str, Any]] = (),
        mapping_version: int = MAPPING_VERSION,
    ) -> None:
        self.rights = iter(rights)
        self.hits = hits
        self.mapping_version = mapping_version
        self.requested: list[dict[str, Any]] = []
        self.weights: list[int] = []

    def add_search_weight(self, user_id: str, weight: int) -> None:
        assert user_id == ANN.user_id
        self.weights.append(weight)

    def search(self, _names: object, request: dict[str, Any], **_: object) -> dict[str, Any]:
        self.requested.append(request)
        hits: dict[str, Any] = {"total": {"value": len(self.hits)}, "hits": [*self.hits]}
        return {"took": 1, "timed_out": False, "hits": hits, "aggregations": {"written": {}}}

    def read_names(self) -> Reading:
        return Reading(FIRST_POINTER, self.mapping_version)

    def mapping_version_read(self) -> int:
        return self.mapping_version

    def clock(self) -> Any:
        return NOON

    def search_filter(self, caller: Identity) -> dict[str, Any] | None:
        assert caller == ANN
        return next(self.rights)

    def watch(self, *_: object) -> "RecordingEngine":
        return self

    def facet(self) -> dict[str, Any]:
        return {}

    def confirm(self, _: object) -> None:
        return

    @property
    def pending(self) -> int:
        return 0 if len(self.requested) == 3 else 1


def service_of(parts: Any) -> SearchService:
    return SearchService(
        engine=parts,
        state=parts,
        visibility=parts,
        cursors=parts,
        freshness=lambda: cast("Freshness", parts),
        previews=lambda: cast("PreviewQueries", parts),
        pause=lambda _: None,
    )


def test_hits_are_explained_if_requested_also_where_words_may_not_be_counted() -> None:
    for query in (True, False):
        hit: dict[str, Any] = {
            "_index": FIRST_POINTER.current(ASSET_INDEX),
            "_score": 4.0,
            "_source": {},
        }
        parts = RecordingEngine([{"term": {"list_tags.keyword": "open"}}], [hit])
        reply = service_of(parts).search(ANN, SearchBody(query="pump", explain_results=query))
        assert ["explain" in request for request in parts.requested] == [False]
        assert [("explanation" in row) for row in reply["hits"]["hits"]] == [query]


@pytest.mark.parametrize(
    ("body", "since"),
    [
        ({"metadataFilters": [{"key": "fact_taken", "op": "gte", "value": "2024"}]}, 6),
        ({"metadataFilters": [{"key": "AB_fact_taken", "op": "eq", "value": "2024"}]}, 6),
        ({"facetChoices": [{"facet": "fact_taken", "values": ["2024-05-17"]}]}, 6),
        ({"sort": ["fact_taken"]}, 6),
        ({"metadataFilters": [{"key": "fact_taken", "op": "exists"}]}, 4),
        ({"metadataFilters": [{"key": "fact_triangles", "op": "gte", "value": 1}]}, 4),
        ({"metadataFilters": [{"key": "taken", "op": "gte", "value": "2024"}]}, 1),
    ],
)
def test_a_comparison_needs_indexes_that_have_its_values(body: dict[str, Any], since: int) -> None:
    sent = SearchBody.model_validate(body)
    if since > 1:
        parts = RecordingEngine([EVERYTHING], mapping_version=since - 1)
        with pytest.raises(AttributesNotIndexedError):
            service_of(parts).search(ANN, sent)
    service_of(RecordingEngine([EVERYTHING], mapping_version=since)).search(ANN, sent)


def test_a_search_that_waits_for_a_write_applies_permissions_in_each_request() -> None:
    some = {"term": {"list_tags.keyword": "open"}}
    parts: Any = RecordingEngine([EVERYTHING, some, None])
    service = service_of(parts)
    written = Written((WrittenDocument("museum", "pump"),), False, NOON - timedelta(seconds=1))
    reply = service.search(ANN, SearchBody(explain_results=True), written=written)
    assert reply["aggregations"] == {}
    seen = [request["query"]["bool"]["filter"][0] for request in parts.requested]
    assert seen == [EVERYTHING, some, NOTHING]
    assert ["explain" in request for request in parts.requested] == [True, False, False]


def test_heavy_searches_are_counted_once_each_and_light_ones_never() -> None:
    heavy = " ".join(f"helicalgears{letter}~1" for letter in "abcde") + " pump valve shaft"
    written = Written((WrittenDocument("museum", "pump"),), False, NOON - timedelta(seconds=1))
    for query, counted in (("pump", 0), (heavy, 1)):
        for options in ({}, {"written": written}):
            parts = RecordingEngine([EVERYTHING] * 3)
            service_of(parts).search(ANN, SearchBody(query=query), **options)
            assert len(parts.weights) == counted
