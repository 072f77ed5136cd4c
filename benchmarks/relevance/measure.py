"""Indexes the corpus in a real OpenSearch, runs the judged queries, and compares the rankings.

The product's projections build the documents, and its search service finds them. The plain
`multi_match` for comparison searches the same fields, in an index with OpenSearch's default
similarity (BM25); it gets the filters of the product's query, because it has no syntax for them.
"""

import json
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import mean
from typing import NamedTuple

from backend.aws.search_engine import OpenSearchEngine
from backend.core.authorization import Visibility
from backend.core.identity import Identity
from backend.core.page_tokens import PageTokens
from backend.core.search_engine import DocumentWrite
from backend.domains.access.policy.search_filter import EVERYTHING
from backend.search.indexing.bulk import with_size
from backend.search.indexing.state import Pointer, SearchState
from backend.search.query.cursors import CursorPlaces, Cursors
from backend.search.query.freshness import Freshness
from backend.search.query.letters import fold
from backend.search.query.models import SearchBody
from backend.search.query.previews import PreviewQueries
from backend.search.query.queries import plan_search
from backend.search.query.service import SearchService
from backend.search.query.words import TEXT_FIELDS
from backend.spec.search_indexes import SEARCH_INDEXES
from benchmarks.relevance.corpus import Thing, documents
from benchmarks.relevance.judging import MEANT, Query
from tests.factories.access import OnlyUser
from tests.factories.search import NOON
from tests.fakes.tables import MemoryTables

FIRST = 10
_CALLER = Identity("admin")
_BULK, _CREATED = 1000, 201
_MAX_HITS = 2000
_PARTS = re.compile(r"[^\W\d_]?[a-z\u00e0-\u00ff]+|[A-Z]+(?![a-z])|\d+")

Ranking = Callable[[Query], list[str]]
"""The ids of the first hits of a query."""


class DocumentRefusedError(Exception):
    """OpenSearch does not accept a document of the corpus."""


class Scores(NamedTuple):
    """Means over the queries of one kind."""

    queries: int
    recall: float
    ndcg: float


class Typos(NamedTuple):
    """Misspelt words of names: how many searches found such names, how many ranked them wrongly."""

    words: int
    finding: int
    above_exact: tuple[str, ...]


class Collection:
    """The corpus in two indexes of its own, with one similarity."""

    def __init__(self, engine: OpenSearchEngine, name: str, similarity: str) -> None:
        self.engine = engine
        self.pointer = Pointer(
            f"assets-{name}", (f"assets-{name}",), f"files-{name}", (f"files-{name}",)
        )
        for index in SEARCH_INDEXES:
            settings = {**index.settings, "similarity": {"default": {"type": similarity}}}
            engine.create_index(
                self.pointer.current(index), mapping=index.mapping, settings=settings
            )
        self.service = self.service_for(OnlyUser())

    def service_for(self, visibility: Visibility) -> SearchService:
        """Return the product's search service over these indexes."""
        tables = MemoryTables()
        state = SearchState(tables, lambda: NOON)
        state.begin(self.pointer)
        places = CursorPlaces(tables, lambda: NOON)
        cursors = Cursors(PageTokens(lambda: b"key"), lambda: NOON, places)
        return SearchService(self.engine, state, visibility, cursors, _no_wait, _no_watch)

    def fill(self, things: Iterable[Thing]) -> None:
        """Write all documents.

        Raises:
            DocumentRefusedError: OpenSearch refuses one.
            UnavailableError: OpenSearch does not respond, or is out of memory.
        """
        writes = list(self._writes(things))
        for start in range(0, len(writes), _BULK):
            refused = [
                outcome
                for outcome in self.engine.bulk(writes[start : start + _BULK])
                if outcome.status != 201
            ]
            if refused:
                raise DocumentRefusedError(f"OpenSearch refuses a document: {refused[0]}")
        self.engine.refresh(self.names)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.pointer.current(index) for index in SEARCH_INDEXES)

    def found(self, query: Query) -> list[str]:
        """Return the first hits as the product ranks them."""
        return self._search(size=FIRST, **query.body)

    def found_plainly(self, query: Query) -> list[str]:
        """Return the first hits of a plain `multi_match`."""
        body = SearchBody.model_validate({**query.body, "query": "", "aggregations": False})
        conditions = plan_search(body, EVERYTHING).query
        if query.text:
            fields = [field.partition("^")[0] for field in TEXT_FIELDS]
            conditions["must"] = [{"multi_match": {"query": query.text, "fields": fields}}]
        request = {"query": {"bool": conditions}, "size": FIRST, "_source": False}
        hits = self.engine.search(self.names, request)["hits"]["hits"]
        return [hit["_id"] for hit in hits]

    def typos(self, things: Sequence[Thing]) -> Typos:
        """Search for each word of products that a name has misspelt, and check all hits."""
        words = {word for thing in things if thing.misspelt for word in thing.product.split()}
        texts = {thing.id: _words_of(thing) for thing in things}
        by_id = {thing.id: thing for thing in things}
        rare = [word for word in sorted(words) if _is_rare(fold(word), texts)]
        count, wrong = 0, list[str]()
        for word in rare:
            hits = self._search(query=word, size=_MAX_HITS, entityTypes=["asset"])
            exact = [fold(word) in texts[hit] for hit in hits]
            count += any(by_id[hit].misspelt for hit in hits)
            if False in exact and True in exact[exact.index(False) :]:
                wrong.append(word)
        return Typos(len(rare), count, tuple(wrong))

    def _search(self, **body: object) -> list[str]:
        request = SearchBody.model_validate({**body, "aggregations": False})
        return [hit["_id"] for hit in self.service.search(_CALLER, request)["hits"]["hits"]]

    def _writes(self, things: Iterable[Thing]) -> Iterator[DocumentWrite]:
        for thing in things:
            for document in documents(thing):
                text = with_size(json.dumps(document.body))
                yield DocumentWrite(self.pointer.current(document.index), document.id, 1, text)


def scores(
    queries: Sequence[Query], grades: Sequence[Mapping[str, int]], ranking: Ranking
) -> dict[str, Scores]:
    """Return the scores of each kind of query, and of all under `total`."""
    recalls, gains = defaultdict[str, list[float]](list), defaultdict[str, list[float]](list)
    for query, graded in zip(queries, grades, strict=True):
        ids = ranking(query)
        for kind in (query.kind, "total", *(("navigational",) if query.is_navigational else ())):
            recalls[kind].append(recall(ids, graded))
            gains[kind].append(ndcg(ids, graded))
    return {
        kind: Scores(len(recalls[kind]), mean(recalls[kind]), mean(gains[kind])) for kind in recalls
    }


def recall(ids: Sequence[str], graded: Mapping[str, int]) -> float:
    """Return the recall of the first hits, relative to the highest that is possible."""
    meant = {name for name, grade in graded.items() if grade == MEANT}
    return len(meant & set(ids[:FIRST])) / min(FIRST, len(meant))


def ndcg(ids: Sequence[str], graded: Mapping[str, int]) -> float:
    """Return the gain of the first hits relative to that of the best order (2^grade - 1, log2)."""
    best = sorted(graded.values(), reverse=True)[:FIRST]
    return _gain(graded.get(name, 0) for name in ids[:FIRST]) / _gain(best)


def _gain(grades: Iterable[int]) -> float:
    return sum((2**grade - 1) / math.log2(place + 2) for place, grade in enumerate(grades))


def _words_of(thing: Thing) -> set[str]:
    """Return the words of the asset's document, as its analyzer splits them."""
    (document, *_) = documents(thing)
    body = document.body
    values = [pair.get("string", "") for pair in body.get("metadata", ())]
    texts = [thing.name, *thing.tags, str(body["str_description"]), *values]
    return {fold(word) for text in texts for word in _PARTS.findall(text)}


def _is_rare(word: str, texts: Mapping[str, set[str]]) -> bool:
    """Whether one search can return all documents with the word."""
    return sum(word in words for words in texts.values()) < _MAX_HITS * 3 // 4


def _no_watch() -> PreviewQueries:
    raise AssertionError("no search requests previews here")


def _no_wait() -> Freshness:
    raise AssertionError("no search waits here")
