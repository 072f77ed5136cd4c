"""Searches. Permissions are part of the query, never a filter on its results."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, cast

from backend.core.authorization import Visibility
from backend.core.errors import InvalidInputError, NotFoundError
from backend.core.identity import Identity
from backend.core.ids import new_uuid
from backend.core.reads import Read
from backend.core.references import AssetRef
from backend.core.search_engine import JsonObject, SearchEngine
from backend.core.sync_tokens import AFTER_HEADER, Written
from backend.domains.access.policy.search_filter import EVERYTHING
from backend.search.indexing.state import SearchState
from backend.search.query.cursors import Cursors
from backend.search.query.explanations import explain_hits
from backend.search.query.facets import move_facets, pop_all_words_count, replace_asset_counts
from backend.search.query.files_under_assets import (
    assets_request,
    folded_hits,
    folded_request,
    taken_number,
)
from backend.search.query.hits import Search, with_document_sizes, with_sources
from backend.search.query.inheritance import (
    assets_meeting,
    conditions_of_assets,
    files_left_out,
    with_conditions_on_assets,
)
from backend.search.query.models import (
    EntityType,
    PreviewsBody,
    SearchBody,
    SimpleSearchBody,
    SuggestQuery,
    Window,
)
from backend.search.query.pairs import (
    ATTRIBUTES_FROM,
    AttributesNotIndexedError,
    names_attributes,
    names_dates,
)
from backend.search.query.preview_replies import named_preview, names_query
from backend.search.query.queries import fields_query, full_query, simple_query
from backend.search.query.replies import PreviewsReply
from backend.search.query.suggestions import (
    correction_of,
    correction_request,
    suggest_request,
    suggestions_of,
)
from backend.spec.search_indexes import (
    ASSET_INDEX,
    DATED_FACTS_FROM,
    FIELD_SINCE,
    FILE_INDEX,
    MAPPING_VERSION,
    PREVIEW_VERSION,
    SearchIndex,
)

if TYPE_CHECKING:
    from backend.search.query.freshness import Freshness
    from backend.search.query.previews import PreviewQueries

# A search waits for a write at most this long, in addition to the search itself; documents usually
# follow within a second (decision 28). Of the 24 seconds of a request, the rest is enough for the
# last search.
MAX_WAIT_SECONDS = 5.0
# The indexes refresh every second (`refresh_interval`): some checks come before that, none much
# later.
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 0.4

_PREVIEWS_FROM = FIELD_SINCE[PREVIEW_VERSION]

REINDEX_DUE = (
    "The search indexes were created by an earlier release. Until a reindex "
    "(`vitrine admin search reindex`), searches may not find attributes and facts of files, "
    "dates of photographs, places in GeoJSON, or parts of words, and return no previews."
)

_INDEXES: dict[EntityType, SearchIndex] = {"asset": ASSET_INDEX, "file": FILE_INDEX}


class SearchNotDeployedError(NotFoundError):
    """The deployment has no search."""

    code = "SearchNotDeployed"

    def __init__(self) -> None:
        super().__init__("Search is not part of this deployment")


@dataclass(eq=False, repr=False)
class SearchService:
    """Searches assets and files; `engine` is None if search is not deployed."""

    engine: SearchEngine | None
    state: SearchState
    visibility: Visibility
    cursors: Cursors
    freshness: Callable[[], "Freshness"]
    previews: Callable[[], "PreviewQueries"]
    pause: Callable[[float], object] = Event().wait

    def search(
        self, caller: Identity, body: SearchBody, *, written: Written | None = None
    ) -> JsonObject:
        """Return the hits, facets and totals of a full search, or a page of it by cursor.

        With `written` it waits until the indexes contain that write, for at most
        `MAX_WAIT_SECONDS`; if that is not confirmed, the reply has a `lag`.

        Raises:
            SearchNotDeployedError: search is not deployed.
            InvalidInputError: the query is invalid, or the cursor belongs to another query.
            CursorExpiredError: the cursor no longer exists.
            AttributesNotIndexedError: it uses facts or attributes, and a reindex is required.
        """
        if written is None:
            reply = self._answer(caller, *self._prepared(caller, body))
        else:
            reply = self._fresh_answer(caller, body, written)
        move_facets(body, reply)
        if body.explain_results:
            explain_hits(body, reply["hits"]["hits"])
        return reply

    def _prepared(self, caller: Identity, body: SearchBody) -> tuple[SearchBody, JsonObject]:
        """Return the search with the caller's current permissions, and its request."""
        if names_attributes(body.names):
            needed = DATED_FACTS_FROM if names_dates(body.compared) else ATTRIBUTES_FROM
            if self.state.mapping_version_read() < needed:
                raise AttributesNotIndexedError
        visible = self._visible(caller)
        if visible != EVERYTHING:  # word frequencies would reveal hidden documents
            body = body.model_copy(update={"explain_results": False})
        return body, full_query(body, visible)

    def _answer(self, caller: Identity, body: SearchBody, request: JsonObject) -> JsonObject:
        if body.fold_files:
            return self._run_folded(body, request)
        if body.after is None:
            return self._run(body, request)
        engine, (kinds, about) = self._engine(), self._searched(body)
        page = self.cursors.page(caller, body, request, engine=engine, kinds=kinds)
        reply = {**_reply(page.answer, page.kinds), **about}
        return reply if page.after is None else {**reply, "after": page.after}

    def _fresh_answer(self, caller: Identity, body: SearchBody, written: Written) -> JsonObject:
        """Return the first response that contains the write, or the last in time with its lag."""
        if body.after:
            raise InvalidInputError.of(
                AFTER_HEADER, "is allowed only with the first page of a cursor"
            )
        search_body, request = self._prepared(caller, body)
        watch = self.freshness().watch(written, body.wanted_types)
        waited, pause = 0.0, FIRST_PAUSE
        while True:
            facets = {**request.get("aggs", {}), **watch.facet()}
            reply = self._answer(caller, search_body, {**request, "aggs": facets})
            watch.confirm(reply["aggregations"])
            if not watch.pending:
                return reply
            if waited + pause > MAX_WAIT_SECONDS:
                seconds = (self.state.clock() - written.at).total_seconds()
                lag = {"pending": watch.pending, "of": len(written.documents), "seconds": seconds}
                return {**reply, "lag": lag}
            if "after" in reply:
                self.cursors.close_unused(
                    caller, search_body, reply["after"], engine=self._engine()
                )
            self.pause(pause)
            # Permissions are read again each time, so that a revoked permission applies at once.
            search_body, request = self._prepared(caller, body)
            waited, pause = waited + pause, min(2 * pause, LONGEST_PAUSE)

    def search_simple(self, caller: Identity, body: SimpleSearchBody) -> JsonObject:
        """Return the hits of a search by named fields (raises as `search`)."""
        return self._run(body, simple_query(body, self._visible(caller)))

    def add_previews(self, caller: Identity, reply: JsonObject) -> Read | None:
        """Add URLs of previews to the hits of a reply; return what the caller reads by them.

        None are added in indexes of an earlier release: such a reply has `reindexDue`.
        """
        if self.state.mapping_version_read() < _PREVIEWS_FROM:
            return None
        return self.previews().add(caller, reply["hits"]["hits"])

    def list_previews(
        self, caller: Identity, body: PreviewsBody
    ) -> tuple[PreviewsReply, Read | None]:
        """Return the previews of files and assets that the caller may see, and what it reads.

        Raises:
            InvalidInputError: a key is not the path of a file.
            SearchNotDeployedError: search is not deployed.
        """
        engine, read = self._engine(), self.state.reading()
        if read.mapping_version < _PREVIEWS_FROM:
            return PreviewsReply(items=[], reindex_due=REINDEX_DUE), None
        previews = self.previews()
        wanted = [AssetRef(one.database_id, one.asset_id) for one in body.items]
        assets = previews.visible(caller, wanted)
        request, places = names_query(body.items, assets, self._visible(caller))
        names = tuple(read.pointer.current(index) for index in _INDEXES.values())
        hits: list[JsonObject] = []
        if places:
            hits = engine.search(names, request)["hits"]["hits"]
        by_place = {(hit["_source"]["_rectype"], hit["_id"]): hit for hit in hits}
        recorded = previews.add(caller, list(by_place.values()))
        items = [
            named_preview(body.items[number], by_place[place])
            for number, place in places.items()
            if place in by_place
        ]
        return PreviewsReply(items=items), recorded

    def suggest(self, caller: Identity, query: SuggestQuery) -> list[JsonObject]:
        """Return names, tags, metadata keys and values that begin with the text.

        Raises:
            InvalidInputError: the text has no letters or digits.
            SearchNotDeployedError: search is not deployed.
        """
        engine, pointer = self._engine(), self.state.pointer()
        request = suggest_request(query.q, size=query.size, visible=self._visible(caller))
        names = tuple(pointer.current(index) for index in _INDEXES.values())
        counted = engine.search(names, request)["aggregations"]
        return suggestions_of(counted, query.q, size=query.size)

    def _correction(self, window: Window, request: JsonObject, search: Search) -> str | None:
        """Return a text whose words some document has, if no document has those of a search."""
        text = window.query.strip()
        correction = correction_request(text, request) if text and not window.from_ else None
        return (
            None if correction is None else correction_of(text, search(correction)["hits"]["hits"])
        )

    def get_mappings(self, caller: Identity) -> dict[str, JsonObject]:
        """Return the mappings of both indexes, in OpenSearch's form.

        A mapping includes the declared fields, and fields of documents that the caller may see.

        Raises:
            SearchNotDeployedError: search is not deployed.
        """
        engine, pointer, visible = self._engine(), self.state.pointer(), self._visible(caller)
        found: dict[str, JsonObject] = {}
        for kind, index in _INDEXES.items():
            name = pointer.current(index)
            mapping = engine.mapping(name)
            # The names of undeclared fields contain metadata keys, of documents that may be hidden.
            if visible != EVERYTHING:
                mapping = _visible_mapping(visible, mapping, index, partial(engine.search, (name,)))
            found[f"{kind}_index"] = {"mappings": mapping}
        return found

    def _visible(self, caller: Identity) -> JsonObject:
        found = self.visibility.search_filter(caller)
        return {"match_none": {}} if found is None else found

    def _run(self, window: Window, request: JsonObject) -> JsonObject:
        engine, (kinds, about) = self._engine(), self._searched(window)
        # All requests use the same copy of each shard, because another one may not contain the
        # hits.
        search = partial(engine.search, tuple(kinds), copy=new_uuid())
        answer = search(with_document_sizes(request))
        found = answer["hits"]
        found["hits"] = with_sources(found["hits"], request, search)
        return self._corrected(window, request, search, {**_reply(answer, kinds), **about})

    def _run_folded(self, body: SearchBody, request: JsonObject) -> JsonObject:
        """Return assets with their best files, by a second request for the hits of the page.

        Conditions on assets take one request more, and then hold for their files too.
        """
        engine, (kinds, about) = self._engine(), self._searched(body)
        search = partial(engine.search, tuple(kinds), copy=new_uuid())
        conditions = conditions_of_assets(request)
        if conditions:
            assets_only = tuple(name for name, kind in kinds.items() if kind == "asset")
            met = engine.search(assets_only, assets_meeting(request, conditions))["aggregations"]
            request, exceeded = with_conditions_on_assets(request, conditions, met)
            about = (
                about if exceeded is None else {**about, "filesLeftOut": files_left_out(exceeded)}
            )
        answer = search(folded_request(request))
        number, heads = taken_number(answer), answer["hits"]["hits"]
        replace_asset_counts(answer.get("aggregations"))
        if heads:
            query = assets_request(request, heads)
            found = search(with_document_sizes(query))
            assets = with_sources(found["hits"]["hits"], query, search)
            answer["hits"]["hits"] = folded_hits(heads, assets, found["aggregations"])
        reply = {**_reply(answer, kinds), **about, "assetsFound": number}
        return self._corrected(body, request, search, reply)

    def _corrected(
        self, window: Window, request: JsonObject, search: Search, reply: JsonObject
    ) -> JsonObject:
        """Return the reply, with a corrected text if one is requested and no hit has all words."""
        found = reply.get("withAllWords", reply["hits"]["total"]["value"])
        if window.did_you_mean and not found:
            better = self._correction(window, request, search)
            if better is not None:
                reply["didYouMean"] = better
        return reply

    def _searched(self, window: Window) -> tuple[dict[str, EntityType], JsonObject]:
        """Return the indexes with the requested types, and the lag to report."""
        read = self.state.reading()
        kinds: dict[str, EntityType]
        kinds = {read.pointer.current(_INDEXES[kind]): kind for kind in window.wanted_types}
        return kinds, {"reindexDue": REINDEX_DUE} if read.mapping_version < MAPPING_VERSION else {}

    def _engine(self) -> SearchEngine:
        if self.engine is None:
            raise SearchNotDeployedError
        return self.engine


def _visible_mapping(
    visible: JsonObject,
    mapping: JsonObject,
    index: SearchIndex,
    search: Callable[[JsonObject], JsonObject],
) -> JsonObject:
    """Return the mapping without undeclared fields that no visible document has."""
    declared, there = index.mapping["properties"], mapping["properties"]
    others = [name for name in there if name not in declared]
    held: set[str] = set()
    if others:
        counts = search(fields_query(others, visible))["aggregations"]
        held = {name for number, name in enumerate(others) if counts[str(number)]["doc_count"]}
    kept = {name: one for name, one in there.items() if name in declared or name in held}
    return {**mapping, "properties": kept}


def _flat_facet(counted: JsonObject) -> JsonObject:
    """Return a facet with its buckets beside those of the inner aggregation.

    Of the clients of VAMS some read `str_fileext.buckets`, some
    `str_fileext.filtered_fileext.buckets`.
    """
    inner = next((one for name, one in counted.items() if name.startswith("filtered_")), None)
    return counted if inner is None else {**inner, **counted}


def _reply(answer: JsonObject, kinds: Mapping[str, EntityType]) -> JsonObject:
    hits: JsonObject = answer["hits"]
    shown: Sequence[JsonObject] = cast("Sequence[JsonObject]", hits["hits"])
    for hit in (*shown, *(file for each in shown for file in each.get("files", ()))):
        hit["_index_type"] = kinds[hit["_index"]]
        if "_explanation" in hit:
            hit["explanation"] = hit.pop("_explanation")
    reply: JsonObject = {
        "took": answer["took"],
        "timed_out": answer["timed_out"],
        "hits": {
            "total": hits["total"],
            "max_score": hits.get("max_score"),
            "hits": shown,
        },
    }
    all_words = pop_all_words_count(answer)
    if all_words is not None:
        reply["withAllWords"] = all_words
    if "aggregations" in answer:
        reply["aggregations"] = {
            name: _flat_facet(one) for name, one in answer["aggregations"].items()
        }
        reply["aggregationTotal"] = hits["total"]["value"]
    return reply
