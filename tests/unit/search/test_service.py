"""Searches: requests, permissions, sources within known sizes, explanations and replies."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, cast

import pytest

from backend.core.errors import TooLargeError
from backend.core.identity import Identity
from backend.core.search_engine import JsonObject
from backend.core.sync_tokens import Written, WrittenDocument
from backend.domains.access.policy.search_filter import EVERYTHING
from backend.http.app import MAX_REPLY_BYTES
from backend.search.indexing.state import FIRST_POINTER, Reading
from backend.search.query.answers import Answer, to_reply, with_fields
from backend.search.query.freshness import Freshness
from backend.search.query.hits import DOCUMENT_BYTES, MARKED_AT_ONCE, PAGE_BYTES, with_sources
from backend.search.query.models import EntityType, SearchBody
from backend.search.query.pairs import AttributesNotIndexedError, PlacesNotIndexedError
from backend.search.query.plan import to_opensearch
from backend.search.query.previews import PreviewQueries
from backend.search.query.queries import plan_search
from backend.search.query.replies import SearchHit
from backend.search.query.routes import build_router
from backend.search.query.service import SearchService
from backend.spec.search_indexes import ASSET_INDEX, MAPPING_VERSION
from tests.factories.http import Client
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
        ({"geoSearch": {"point": {"lat": 47, "lon": 8}}}, 9),
        ({"metadataFilters": [{"key": "taken", "op": "gte", "value": "2024"}]}, 1),
    ],
)
def test_a_comparison_needs_indexes_that_have_its_values(body: dict[str, Any], since: int) -> None:
    sent = SearchBody.model_validate(body)
    if since > 1:
        parts = RecordingEngine([EVERYTHING], mapping_version=since - 1)
        with pytest.raises(PlacesNotIndexedError if since > 6 else AttributesNotIndexedError):
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


def test_each_request_of_a_heavy_search_is_counted_and_corrects_no_words() -> None:
    written = Written((WrittenDocument("museum", "pump"),), False, NOON - timedelta(seconds=1))
    for query, is_heavy in (("pump", False), ("helicalgears~2 herringbones~2", True)):
        for options, requests in (({}, 1), ({"written": written}, 3)):
            parts = RecordingEngine([EVERYTHING] * 3)
            service_of(parts).search(ANN, SearchBody(query=query), **options)
            assert (len(parts.requested), len(parts.weights)) == (requests, requests * is_heavy)
        parts = RecordingEngine([EVERYTHING])
        service_of(parts).search(ANN, SearchBody(query=query, did_you_mean=True))
        assert len(parts.requested) == (1 if is_heavy else 2)


VISIBLE: dict[str, Any] = {"term": {"list_tags.keyword": "open"}}


@dataclass
class Documents:
    """Documents of one index, by id, with the sizes that it stores; it notes what it builds."""

    sizes: dict[str, int | None]
    requests: list[JsonObject] = field(default_factory=list[JsonObject])
    built: list[int] = field(default_factory=list[int])
    removed: set[str] = field(default_factory=set[str])

    def search(self, request: JsonObject) -> JsonObject:
        self.requests.append(request)
        self.built.append(0)
        names = [name for name in self._requested_ids(request) if name not in self.removed]
        hits = [self._hit(name, request) for name in names[: request["size"]]]
        return {"hits": {"hits": hits}}

    def page(self, **body: Any) -> list[JsonObject]:
        plan = plan_search(SearchBody.model_validate(body), VISIBLE)
        request = to_opensearch(plan)
        hits = self.search(request)["hits"]["hits"]
        return with_sources(hits, request, self.search, plan.highlight)

    def _requested_ids(self, request: JsonObject) -> list[str]:
        conditions = request["query"]["bool"]["filter"]
        assert VISIBLE in conditions
        named = [condition["ids"]["values"] for condition in conditions if "ids" in condition]
        return named[0] if named else list(self.sizes)

    def _hit(self, name: str, request: JsonObject) -> JsonObject:
        hit: JsonObject = {"_index": "assets-1", "_id": name}
        size = self.sizes[name]
        if "script_fields" not in request:
            return {**hit, "_source": self._source(name), **self._highlight(request)}
        params = request["script_fields"]["source"]["script"]["params"]
        source = None
        if size is None or size > params["most"]:
            date = "2026-03-01T12:00:00.000Z"
            source = {"str_assetid.keyword": [name], "date_lastmodified": [date]}
            source["list_tags.keyword"] = ["a", "b"]
        elif size <= params["share"]:
            source = self._source(name)
        sizes = {} if size is None else {"source_bytes": [size]}
        return {**hit, "fields": {**sizes, "source": [source]}, **self._highlight(request)}

    def _highlight(self, request: JsonObject) -> JsonObject:
        return {"highlight": {"str_assetname": ["<em>x</em>"]}} if "highlight" in request else {}

    def _source(self, name: str) -> JsonObject:
        self.built[-1] += self.sizes[name] or 0
        return {"str_assetid": name, "MD_": {"k": "v"}, "rev": 7}


def documents(count: int, size: int | None) -> Documents:
    return Documents({f"a{number}": size for number in range(count)})


def ids(hits: list[JsonObject]) -> list[str]:
    return [hit["_source"]["str_assetid"] for hit in hits]


@pytest.mark.parametrize(
    ("count", "size", "requests"),
    [(100, 2000, 1), (2000, 2500, 1), (10, DOCUMENT_BYTES, 1), (100, 0, 1)],
)
def test_a_page_of_small_documents_takes_one_request(count: int, size: int, requests: int) -> None:
    sizes = documents(count, size)
    assert ids(sizes.page(size=count)) == list(sizes.sizes)
    assert len(sizes.requests) == requests


def test_a_few_larger_documents_take_one_more_request() -> None:
    sizes = documents(100, 2000)
    sizes.sizes["a7"] = sizes.sizes["a50"] = DOCUMENT_BYTES
    hits = sizes.page(size=100)
    assert ids(hits) == list(sizes.sizes)
    assert sizes.built == [98 * 2000, 2 * DOCUMENT_BYTES]
    assert not any("metadataCut" in hit for hit in hits)


@pytest.mark.parametrize("size", [DOCUMENT_BYTES + 1, 10_000_000, None])
def test_of_documents_over_the_budget_no_source_is_built(size: int | None) -> None:
    sizes = documents(500, size)
    hits = sizes.page(size=500, query="pump")
    assert ids(hits) == list(sizes.sizes)
    assert sizes.built == [0]
    assert all(hit["metadataCut"] is True for hit in hits)
    assert hits[0]["_source"]["date_lastmodified"] == "2026-03-01T12:00:00+00:00"
    assert hits[0]["_source"]["list_tags"] == ["a", "b"]
    assert "fields" not in hits[0]


def test_what_no_reply_holds_is_refused_before_it_is_built() -> None:
    sizes = documents(100, DOCUMENT_BYTES)
    with pytest.raises(TooLargeError, match=r"size: results in a reply of 10000000 bytes"):
        sizes.page(size=100)
    assert sizes.built == [0]


@pytest.mark.parametrize("size", [1, 59, 100, 160, 1999, 2000])
def test_no_request_makes_more_than_a_page(size: int) -> None:
    for length in (PAGE_BYTES // size, DOCUMENT_BYTES, DOCUMENT_BYTES // 3):
        sizes = documents(size, length)
        if size * length <= PAGE_BYTES:
            sizes.page(size=size)
        else:
            with pytest.raises(TooLargeError):
                sizes.page(size=size)
        assert max(sizes.built) <= PAGE_BYTES
    assert PAGE_BYTES >= MAX_REPLY_BYTES


def test_a_document_that_was_deleted_since_it_was_found_is_left_out() -> None:
    sizes = documents(3, DOCUMENT_BYTES)
    request = to_opensearch(plan_search(SearchBody(size=100), VISIBLE))
    hits = sizes.search(request)["hits"]["hits"]
    sizes.removed = {"a1"}
    assert ids(with_sources(hits, request, sizes.search)) == ["a0", "a2"]


def test_fields_of_a_write_are_not_shown() -> None:
    (hit,) = documents(1, 10).page()
    assert hit["_source"] == {"str_assetid": "a0", "MD_": {"k": "v"}}
    assert "rev" in json.dumps(
        documents(1, 10).search(to_opensearch(plan_search(SearchBody(), VISIBLE)))
    )


@pytest.mark.parametrize(("size", "requests"), [(MARKED_AT_ONCE, 1), (MARKED_AT_ONCE + 1, 2)])
def test_words_of_long_pages_are_marked_in_documents_of_known_size(
    size: int, requests: int
) -> None:
    sizes = documents(size, 2000)
    sizes.sizes["a3"] = DOCUMENT_BYTES + 1
    hits = sizes.page(size=size, query="pump")
    assert len(sizes.requests) == requests
    unmarked = [hit["_id"] for hit in hits if "highlight" not in hit]
    assert unmarked == ([] if requests == 1 else ["a3"])
    assert max(sizes.built) == (size - 1) * 2000
    plain = documents(size, 2000)
    plain.page(size=size, query="pump", includeHighlights=False)
    assert len(plain.requests) == 1


def hit(**fields: Any) -> dict[str, Any]:
    return {"_id": "1", "_index": "assets-1", "_source": {}, "_score": 4.2, **fields}


def explanation_of(raw: dict[str, Any], **query: Any) -> dict[str, Any]:
    return shown(raw, **query)["explanation"]


def shown(raw: dict[str, Any], **query: Any) -> dict[str, Any]:
    body = SearchBody.model_validate({"explainResults": True, **query})
    response = {"took": 1, "timed_out": False, "hits": {"total": {"value": 1}}}
    kinds: dict[str, EntityType] = {"assets-1": "asset", "files-1": "file"}
    reply = to_reply(plan_search(body, EVERYTHING), Answer(response, [raw], kinds))
    (explained_hit,) = reply["hits"]["hits"]
    SearchHit.model_validate(explained_hit)
    return explained_hit


def test_an_explanation_names_the_fields_with_the_words_and_the_score() -> None:
    marked = {"str_assetname": ["<em>Gear</em> box"], "list_tags": ["<em>gear</em>"]}
    explanation = explanation_of(hit(highlight=marked), query="gear")
    assert explanation["matched_fields"] == ["list_tags", "str_assetname"]
    assert explanation["match_reasons"].keys() == marked.keys()
    assert explanation["index_type"] == "asset"
    assert explanation["score_breakdown"] == {
        "total_score": 4.2,
        "field_matches": 2,
        "highlight_matches": 2,
    }


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ({}, "none"),
        ({"query": "gear"}, "general"),
        ({"metadataQuery": "maker:Acme"}, "metadata"),
        ({"query": "gear", "metadataQuery": "maker:Acme"}, "combined"),
    ],
)
def test_an_explanation_repeats_the_request(query: dict[str, str], kind: str) -> None:
    assert explanation_of(hit(), **query)["query_type"] == kind


def test_a_hit_without_a_score_has_a_number_all_the_same() -> None:
    assert explanation_of(hit(_score=None))["score_breakdown"]["total_score"] == 0.0


def test_explanations_of_opensearch_are_kept_and_files_are_explained_too() -> None:
    own: dict[str, Any] = {"value": 4.2, "description": "sum of:", "details": []}
    reply = shown(hit(_explanation=own, files=[hit(_index="files-1")]))
    assert reply["explanation"].items() >= own.items()
    assert reply["files"][0]["explanation"]["index_type"] == "file"


class OneHitService:
    """A service whose only hit holds `text`."""

    def __init__(self, text: str) -> None:
        self.text = text

    def search(self, *_: object, **__: object) -> dict[str, Any]:
        about = {"_id": "1", "_index": "assets", "_index_type": "asset"}
        hits = [{**about, "_source": {"str_description": self.text}}]
        return {"took": 1, "timed_out": False, "hits": {"total": {"value": 1}, "hits": hits}}

    search_simple = search


@pytest.mark.parametrize("path", ["/search", "/search/simple"])
@pytest.mark.parametrize("char", ["x", "ä", '"', "\\"], ids=["letter", "umlaut", "quote", "escape"])
def test_a_reply_that_no_function_can_send_is_refused_and_names_the_size(
    path: str, char: str
) -> None:
    share = {"x": 1, "ä": 2, '"': 4, "\\": 4}[char]
    fits, over = MAX_REPLY_BYTES // share - 1000, MAX_REPLY_BYTES // share + 1
    for length, status in ((fits, 200), (over, 413)):
        service = cast("SearchService", OneHitService(char * length))
        answer = Client(build_router(service)).send("POST", path, body={})
        assert answer.status == status
    assert answer.body["errors"][0]["field"] == "size"
    assert "at most 5900000 are allowed" in answer.body["message"]


def test_replies_from_4_kib_are_compressed_and_have_the_fields_that_a_client_names() -> None:
    for chars, coding in ((100, None), (4096, "gzip")):
        service = cast("SearchService", OneHitService("x" * chars))
        client = Client(build_router(service))
        for path in ("/search", "/search/simple"):
            answer = client.send("POST", path, body={}, headers={"accept-encoding": "gzip"})
            assert answer.headers.get("Content-Encoding") == coding
    for fields in ([], ["str_assetname"], ["str_description", "MD_"]):
        answer = client.send("POST", "/search", body={"sourceFields": fields})
        (hit,) = answer.body["hits"]["hits"]
        assert list(hit["_source"]) == [name for name in fields if name == "str_description"]
    source = {"MD_": {"material": "oak", "size": "2"}, "str_key": "a.b"}
    kept = with_fields(
        {"hits": {"hits": [{"_source": source}]}}, ["MD_.material", "MD_.x", "str_key.a"]
    )
    assert kept["hits"]["hits"] == [{"_source": {"MD_": {"material": "oak"}}}]
    refused = client.send("POST", "/search", body={"sourceFields": ["x"] * 101})
    assert (refused.status, refused.body["errors"][0]["field"]) == (400, "sourceFields")
