"""Replies to searches, from OpenSearch's responses. Pure: no I/O."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from backend.core.search_engine import JsonObject
from backend.search.query.facets import counts_reply
from backend.search.query.models import EntityType
from backend.search.query.plan import SearchPlan
from backend.values import frozen


@frozen
class Answer:
    """OpenSearch's response to a plan; `hits` are those of the reply, with their sources.

    `kinds` has the entity type of each index, `notes` are further fields of the reply.
    """

    response: JsonObject
    hits: Sequence[JsonObject]
    kinds: Mapping[str, EntityType]
    notes: JsonObject = field(default_factory=dict[str, Any])


def to_reply(plan: SearchPlan, answer: Answer) -> JsonObject:
    """Return the reply to a search."""
    response, hits = answer.response, answer.response["hits"]
    return {
        "took": response["took"],
        "timed_out": response["timed_out"],
        "hits": {
            "total": hits["total"],
            "max_score": hits.get("max_score"),
            "hits": [_hit_reply(plan, hit, answer.kinds) for hit in answer.hits],
        },
        **counts_reply(plan.facets, response),
        **answer.notes,
    }


def with_fields(reply: JsonObject, names: Sequence[str]) -> JsonObject:
    """Return a reply whose hits, and their files, have only these fields of their documents.

    `MD_.material` is one key of the field `MD_`.
    """

    def shorten(hit: JsonObject) -> JsonObject:
        source: JsonObject = {}
        for name in names:
            field, _, key = name.partition(".")
            values = hit["_source"].get(field)
            if name in hit["_source"]:
                source[name] = hit["_source"][name]
            elif isinstance(values, dict) and key in values:
                source.setdefault(field, {})[key] = values[key]
        files = {"files": [shorten(file) for file in hit["files"]]} if "files" in hit else {}
        return {**hit, "_source": source, **files}

    hits = reply["hits"]
    return {**reply, "hits": {**hits, "hits": [shorten(hit) for hit in hits["hits"]]}}


def _hit_reply(plan: SearchPlan, hit: JsonObject, kinds: Mapping[str, EntityType]) -> JsonObject:
    """Return a hit with its type and, if requested, the fields that match the search.

    The explanation has the form that the web application of VAMS displays. OpenSearch's own is
    included for callers who may receive it.
    """
    reply: JsonObject = {**hit, "_index_type": kinds[hit["_index"]]}
    if "files" in hit:
        reply["files"] = [_hit_reply(plan, file, kinds) for file in hit["files"]]
    if plan.explained is None:
        return reply
    fields = sorted(hit.get("highlight", {}))
    reply["explanation"] = {
        "query_type": plan.explained,
        "index_type": reply["_index_type"],
        "matched_fields": fields,
        "match_reasons": {name: f"{name} matches the search" for name in fields},
        "score_breakdown": {
            # The application formats it as a number; a hit without a score has null.
            "total_score": hit.get("_score") or 0.0,
            "field_matches": len(fields),
            "highlight_matches": len(fields),
        },
        **reply.pop("_explanation", {}),
    }
    return reply
