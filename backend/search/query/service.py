"""Searches. Permissions are part of the query, never a filter on its results."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from threading import Event
from typing import TYPE_CHECKING

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
from backend.search.query.answers import Answer, to_reply
from backend.search.query.cursors import Cursors, SearchedIndexes
from backend.search.query.facets import all_words_count
from backend.search.query.files_under_assets import read_assets
from backend.search.query.hits import with_sources
from backend.search.query.inheritance import (
    assets_meeting,
    conditions_of_assets,
    files_left_out,
    with_conditions_on_assets,
)
from backend.search.query.models import (
    BOTH,
    EntityType,
    PreviewsBody,
    SearchBody,
    SimpleSearchBody,
    SuggestQuery,
)
from backend.search.query.pairs import AttributesNotIndexedError, PlacesNotIndexedError
from backend.search.query.plan import (
    FOLDED_ASSETS,
    NOTHING,
    OF_ASSET,
    TOMBSTONE,
    SearchPlan,
    to_opensearch,
    without_sort_keys,
)
from backend.search.query.preview_replies import named_preview, names_query
from backend.search.query.queries import plan_search, plan_simple_search
from backend.search.query.replies import PreviewsReply
from backend.search.query.suggestions import (
    correction_of,
    correction_request,
    suggest_request,
    suggestions_of,
)
from backend.search.query.weights import LIGHT, check_weight
from backend.spec.search_indexes import (
    ASSET_INDEX,
    FIELD_SINCE,
    FILE_INDEX,
    MAPPING_VERSION,
    PLACES_FROM,
    PREVIEW_VERSION,
    SORT_FROM,
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
FIRST_PAUSE, LONGEST_PAUSE, HEAVY_PAUSE = 0.05, 0.4, MAX_WAIT_SECONDS / 2

_PREVIEWS_FROM = FIELD_SINCE[PREVIEW_VERSION]

REINDEX_DUE = (
    "The search indexes were created by an earlier release. Until a reindex "
    "(`vitrine admin search reindex`), searches may not find attributes and facts of files, "
    "dates of photographs, places in GeoJSON, or parts of words, refuse `geoSearch`, return no "
    "previews, and sort capital letters first."
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
            PlacesNotIndexedError: it uses `geoSearch`, and a reindex is required.
            RateLimitedError: the user's heavy searches exceed the budget of this minute.
        """
        if written is not None:
            return self._search_after(caller, body, written)
        plan = self._admit(caller, plan_search(body, self.visibility.search_filter(caller)))
        return to_reply(plan, self._find(caller, plan))

    def _search_after(self, caller: Identity, body: SearchBody, written: Written) -> JsonObject:
        """Return the first reply that contains the write, or the last in time with its lag."""
        if body.after:
            raise InvalidInputError.of(
                AFTER_HEADER, "is allowed only with the first page of a cursor"
            )
        plan = self._admit(caller, plan_search(body, self.visibility.search_filter(caller)))
        watch = self.freshness().watch(written, plan.kinds)
        is_heavy = check_weight(plan) > LIGHT
        waited, pause = 0.0, HEAVY_PAUSE if is_heavy else FIRST_PAUSE
        while True:
            answer = self._find(caller, replace(plan, watched=watch.facet()))
            watch.confirm(answer.response["aggregations"])
            if not watch.pending:
                return to_reply(plan, answer)
            if waited + pause > MAX_WAIT_SECONDS:
                seconds = (self.state.clock() - written.at).total_seconds()
                lag = {"pending": watch.pending, "of": len(written.documents), "seconds": seconds}
                return {**to_reply(plan, answer), "lag": lag}
            if "after" in answer.notes:
                token = str(answer.notes["after"])
                self.cursors.close_unused(caller, plan, token, engine=self._indexes().engine)
            self.pause(pause)
            # Permissions are read again each time, so that a revoked permission applies at once.
            plan = self._admit(caller, plan_search(body, self.visibility.search_filter(caller)))
            waited += pause
            pause = HEAVY_PAUSE if is_heavy else min(2 * pause, LONGEST_PAUSE)

    def search_simple(self, caller: Identity, body: SimpleSearchBody) -> JsonObject:
        """Return the hits of a search by named fields (raises as `search`)."""
        plan = self._admit(caller, plan_simple_search(body, self.visibility.search_filter(caller)))
        return to_reply(plan, self._find(caller, plan))

    def with_previews(
        self, caller: Identity, reply: JsonObject, *, held: Iterable[str]
    ) -> tuple[JsonObject, Read | None]:
        """Return a reply with URLs of previews in its hits, and what the caller reads by them.

        The caller still has the URLs of those that are `held`.

        None are added in indexes of an earlier release: such a reply has `reindexDue`.
        """
        if self.state.mapping_version_read() < _PREVIEWS_FROM:
            return reply, None
        hits, read = self.previews().add(caller, reply["hits"]["hits"], frozenset(held))
        return {**reply, "hits": {**reply["hits"], "hits": hits}}, read

    def list_previews(
        self, caller: Identity, body: PreviewsBody
    ) -> tuple[PreviewsReply, Read | None]:
        """Return the previews of files and assets that the caller may see, and what it reads.

        Raises:
            InvalidInputError: a key is not the path of a file.
            SearchNotDeployedError: search is not deployed.
        """
        indexes = self._indexes()
        if indexes.mapping_version < _PREVIEWS_FROM:
            return PreviewsReply(items=[], reindex_due=REINDEX_DUE), None
        previews = self.previews()
        wanted = [AssetRef(item.database_id, item.asset_id) for item in body.items]
        assets = previews.visible(caller, wanted)
        visible = self.visibility.search_filter(caller) or NOTHING
        request, places = names_query(body.items, assets, visible)
        hits: list[JsonObject] = []
        if places:
            hits = indexes.engine.search(tuple(indexes.kinds), request)["hits"]["hits"]
        hits, recorded = previews.add(caller, hits)
        by_place = {(hit["_source"]["_rectype"], hit["_id"]): hit for hit in hits}
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
        indexes, visible = self._indexes(), self.visibility.search_filter(caller) or NOTHING
        request = suggest_request(query.q, size=query.size, visible=visible)
        answer = indexes.engine.search(tuple(indexes.kinds), request)
        return suggestions_of(answer["aggregations"], query.q, size=query.size)

    def get_mappings(self, caller: Identity) -> dict[str, JsonObject]:
        """Return the mappings of both indexes, in OpenSearch's form.

        A mapping includes the declared fields, and fields of documents that the caller may see.

        Raises:
            SearchNotDeployedError: search is not deployed.
        """
        indexes, visible = self._indexes(), self.visibility.search_filter(caller) or NOTHING
        mappings: dict[str, JsonObject] = {}
        for name, kind in indexes.kinds.items():
            mapping = indexes.engine.mapping(name)
            # The names of undeclared fields contain metadata keys, of documents that may be hidden.
            if visible != EVERYTHING:
                search = partial(indexes.engine.search, (name,))
                mapping = _visible_mapping(visible, mapping, _INDEXES[kind], search)
            mappings[f"{kind}_index"] = {"mappings": mapping}
        return mappings

    def _admit(self, caller: Identity, plan: SearchPlan) -> SearchPlan:
        """Return the plan; a heavy one is counted in its user's budget, and corrects no words."""
        weight = check_weight(plan)
        if weight <= LIGHT:
            return plan
        self.state.add_search_weight(caller.user_id, ceil(weight))
        return replace(plan, corrected="")

    def _find(self, caller: Identity, plan: SearchPlan) -> Answer:
        """Return the hits of a plan; with folded files, assets by a second request.

        Raises:
            AttributesNotIndexedError: the indexes are of an earlier mapping version.
        """
        indexes = self._indexes(plan.kinds)
        if indexes.mapping_version < plan.mapping_version:
            is_place = plan.mapping_version >= PLACES_FROM
            raise PlacesNotIndexedError if is_place else AttributesNotIndexedError
        if indexes.mapping_version < SORT_FROM:
            plan = without_sort_keys(plan)
        is_due = indexes.mapping_version < MAPPING_VERSION
        notes: JsonObject = {"reindexDue": REINDEX_DUE} if is_due else {}
        if plan.cursor is not None:
            page = self.cursors.read_page(caller, plan, indexes)
            return replace(page, notes={**notes, **page.notes})
        # All requests use the same copy of each shard, because another one may not contain the
        # hits.
        search = partial(indexes.engine.search, tuple(indexes.kinds), copy=new_uuid())
        if plan.folding and (conditions := conditions_of_assets(plan)):
            # Conditions on assets hold for their files too, by a request for these assets.
            names = tuple(name for name, kind in indexes.kinds.items() if kind == "asset")
            counts = indexes.engine.search(names, assets_meeting(plan, conditions))["aggregations"]
            inherited = with_conditions_on_assets(plan, conditions, counts)
            plan = inherited.plan
            if inherited.exceeded is not None:
                notes = {**notes, "filesLeftOut": files_left_out(inherited.exceeded)}
        request = to_opensearch(plan)
        response = search(request)
        heads = response["hits"]["hits"]
        if plan.folding:
            hits = read_assets(plan, heads, search)
            number = response["aggregations"][FOLDED_ASSETS][OF_ASSET]["value"]
            notes = {**notes, "assetsFound": number}
        else:
            hits = with_sources(heads, request, search, plan.highlight)
        count = all_words_count(response)
        is_found = response["hits"]["total"]["value"] if count is None else count
        correction = None if is_found or not plan.corrected else correction_request(plan)
        if correction is not None:
            better = correction_of(plan.corrected, search(correction)["hits"]["hits"])
            notes = notes if better is None else {**notes, "didYouMean": better}
        return Answer(response, hits, indexes.kinds, notes)

    def _indexes(self, kinds: Iterable[EntityType] = BOTH) -> SearchedIndexes:
        """Return the indexes with documents of these types.

        Raises:
            SearchNotDeployedError: search is not deployed.
        """
        if self.engine is None:
            raise SearchNotDeployedError
        read = self.state.read_names()
        names: dict[EntityType, str]
        names = {"asset": read.pointer.assets_read, "file": read.pointer.files_read}
        by_name: dict[str, EntityType] = {names[kind]: kind for kind in kinds}
        return SearchedIndexes(self.engine, by_name, read.mapping_version)


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
        request: JsonObject = {
            "query": {"bool": {"filter": [visible], "must_not": [TOMBSTONE]}},
            "size": 0,
            "track_total_hits": False,
            "aggs": {
                str(number): {"filter": {"exists": {"field": name}}}
                for number, name in enumerate(others)
            },
        }
        counts = search(request)["aggregations"]
        held = {name for number, name in enumerate(others) if counts[str(number)]["doc_count"]}
    kept = {name: part for name, part in there.items() if name in declared or name in held}
    return {**mapping, "properties": kept}
