"""Explains hits in the form that the web application of VAMS displays. Pure: no I/O."""

from collections.abc import Iterable

from backend.core.search_engine import JsonObject
from backend.search.query.models import SearchBody


def explain_hits(body: SearchBody, hits: Iterable[JsonObject]) -> None:
    """Add to each hit, and to its files, the fields that match the search.

    OpenSearch's own explanation is kept, for callers who may receive it.
    """
    kind = _query_type(body)
    for hit in hits:
        hit["explanation"] = _explanation(hit, kind)
        explain_hits(body, hit.get("files", ()))


def _explanation(hit: JsonObject, kind: str) -> JsonObject:
    fields = sorted(hit.get("highlight", {}))
    return {
        "query_type": kind,
        "index_type": hit["_index_type"],
        "matched_fields": fields,
        "match_reasons": {name: f"{name} matches the search" for name in fields},
        "score_breakdown": {
            # The application formats it as a number; a hit without a score has null.
            "total_score": hit.get("_score") or 0.0,
            "field_matches": len(fields),
            "highlight_matches": len(fields),
        },
        **hit.get("explanation", {}),
    }


def _query_type(body: SearchBody) -> str:
    texts = {"general": body.query.strip(), "metadata": body.metadata_query.strip()}
    kinds = [kind for kind, text in texts.items() if text]
    return "combined" if len(kinds) > 1 else next(iter(kinds), "none")
