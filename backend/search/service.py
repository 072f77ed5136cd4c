"""What can be searched. Who may see what is part of the query, never a filter on its answer."""

from collections.abc import Sequence
from typing import cast

from backend.core.authorization import Authorization, Secured
from backend.core.errors import NotFoundError
from backend.core.identity import Identity
from backend.core.search_engine import JsonObject, SearchEngine
from backend.core.wired import wired
from backend.search.models import EntityType, SearchBody, SimpleSearchBody, Window
from backend.search.queries import full_query, simple_query
from backend.search.state import SearchState
from backend.spec.search_indexes import ASSET_INDEX, FILE_INDEX, SearchIndex

_INDEXES: dict[EntityType, SearchIndex] = {"asset": ASSET_INDEX, "file": FILE_INDEX}


class SearchNotDeployedError(NotFoundError):
    code = "SearchNotDeployed"

    def __init__(self) -> None:
        super().__init__("Search is not part of this deployment")


@wired
class SearchService:
    """Search over assets and files; `engine` is None where search is not deployed."""

    engine: SearchEngine | None
    state: SearchState
    authorization: Authorization

    def search(self, caller: Identity, body: SearchBody) -> JsonObject:
        """The hits, facets and totals of a full search.

        Raises:
            SearchNotDeployedError: there is no search engine.
            InvalidInputError: the query is not one.
        """
        return self._run(body, full_query(body, self._visible(caller)))

    def search_simple(self, caller: Identity, body: SimpleSearchBody) -> JsonObject:
        """The hits of a search by named fields (raises as `search`)."""
        return self._run(body, simple_query(body, self._visible(caller)))

    def get_mappings(self) -> dict[str, JsonObject]:
        """The mappings of the indexes that are read.

        Raises:
            SearchNotDeployedError: there is no search engine.
        """
        engine, pointer = self._engine(), self.state.pointer()
        return {
            f"{kind}_index": engine.mapping(pointer.current(index))
            for kind, index in _INDEXES.items()
        }

    def _visible(self, caller: Identity) -> JsonObject:
        if self.authorization.may(caller, "GET", Secured("asset")):
            return {"match_all": {}}
        return {"match_none": {}}

    def _run(self, window: Window, request: JsonObject) -> JsonObject:
        engine, pointer = self._engine(), self.state.pointer()
        kinds: dict[str, EntityType] = {
            pointer.current(_INDEXES[kind]): kind for kind in window.wanted_types
        }
        answer = engine.search(tuple(kinds), request)
        return _reply(answer, kinds)

    def _engine(self) -> SearchEngine:
        if self.engine is None:
            raise SearchNotDeployedError
        return self.engine


def _reply(answer: JsonObject, kinds: dict[str, EntityType]) -> JsonObject:
    hits: JsonObject = answer["hits"]
    shown: Sequence[JsonObject] = cast("Sequence[JsonObject]", hits["hits"])
    for hit in shown:
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
    if "aggregations" in answer:
        reply["aggregations"] = answer["aggregations"]
        reply["aggregationTotal"] = hits["total"]["value"]
    return reply
