"""Suggestions while a caller types, and corrections if nothing is found. Pure: no I/O.

Both come from documents that the caller may see: OpenSearch's own suggesters read the terms of all
documents, so they would reveal hidden texts (decision 36).
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest
from typing import Literal, NamedTuple

from backend.core.errors import InvalidInputError
from backend.core.search_engine import JsonObject
from backend.search.query.letters import any_of, escape_wildcards, fold, matches, spellings
from backend.search.query.pairs import METADATA
from backend.search.query.plan import NOT_SHOWN, TIE_BREAKERS, SearchPlan
from backend.search.query.words import (
    MAX_TWO_LETTERS_CHARS,
    fuzziness,
    inner_query,
    is_unspaced,
    split_words,
)
from backend.spec.search_indexes import INNER_FIELDS

Kind = Literal["name", "tag", "key", "value"]
MAX_TEXT_CHARS = 200
"""Maximum length of a suggested value."""
# A document with a similar tag has other tags, too, which are removed from these.
_TAGS_READ = 100
_KEY, _STRING = f"{METADATA}.key", f"{METADATA}.string"

# Each word is compared with all words within two letters, in four fields: 0.2 seconds of a
# processor for 40 letters.
MAX_CORRECTED_WORDS, MAX_CORRECTED_CHARS = 5, 40
# All words of a correction come from one document, the first of these that has them.
_DOCUMENTS_READ = 20
# Private-use characters: OpenSearch trims control characters from highlighted text.
_MARKED = re.compile("\ue000(.*?)\ue001", re.DOTALL)
# OpenSearch compares at most two letters (`fuzziness`).
_MAX_DISTANCE = 2


def suggest_request(text: str, *, size: int, visible: JsonObject) -> JsonObject:
    """Return the request for names, tags, keys and values that have all words of the text.

    The last word may be the beginning of one.

    Raises:
        InvalidInputError: the text has no letters or digits.
    """
    if not split_words(text):
        raise InvalidInputError.of("q", "must contain letters or digits")
    named = _begins("str_assetname", text)
    tagged = _begins("list_tags", text)
    start = "*" if is_unspaced(text) else ""
    keyed = matches(_KEY, f"{start}{escape_wildcards(text)}*")
    valued = _begins(f"{_STRING}.text", text)
    in_pairs = [{"nested": {"path": METADATA, "query": query}} for query in (keyed, valued)]
    either: list[JsonObject] = [named, tagged, *in_pairs]
    assets: JsonObject = {"bool": {"filter": [named, {"term": {"_rectype": "asset"}}]}}
    return {
        "query": {
            "bool": {
                "filter": [visible, {"bool": {"should": either, "minimum_should_match": 1}}],
                "must_not": NOT_SHOWN,
            }
        },
        "size": 0,
        "track_total_hits": False,
        "aggs": {
            "name": _count_values(assets, "str_assetname.keyword", size),
            "tag": _count_values(tagged, "list_tags.keyword", _TAGS_READ),
            "key": _nested_counts(_count_values(keyed, _KEY, size)),
            "value": _nested_counts(_count_values(valued, _STRING, size)),
        },
    }


def suggestions_of(aggregations: JsonObject, text: str, *, size: int) -> list[JsonObject]:
    """Return the suggestions, alternating between kinds.

    Those that begin with the text come first.
    """
    kinds: tuple[Kind, ...] = ("name", "tag", "key", "value")
    lists = [_list_values(kind, aggregations[kind], text) for kind in kinds]
    suggestions = [
        suggestion for turn in zip_longest(*lists) for suggestion in turn if suggestion is not None
    ]
    return suggestions[:size]


def correction_request(plan: SearchPlan) -> JsonObject | None:
    """Return the request for documents with words similar to those of a text that found nothing."""
    words = split_words(plan.corrected)
    is_short = sum(map(len, words)) <= MAX_CORRECTED_CHARS and len(words) <= MAX_CORRECTED_WORDS
    if not words or not is_short:
        return None
    required = [any_of(_similar_to(word, INNER_FIELDS)) for word in words]
    # Of one field and the largest distance, which match in all fields and at all distances.
    like = [_similar_to(word, INNER_FIELDS[:1])[-1] for word in words]
    # The filters of the search, so that the corrected search finds the same documents.
    query = plan.query
    filters = query["filter"] if plan.chosen is None else [*query["filter"], plan.chosen]
    return {
        "query": {"bool": {"filter": filters, "must_not": query["must_not"], "must": required}},
        "size": _DOCUMENTS_READ,
        "sort": ["_score", *TIE_BREAKERS],
        "track_total_hits": False,
        "_source": False,
        "highlight": {
            "fields": {name: {} for name in INNER_FIELDS},
            "require_field_match": False,
            "number_of_fragments": 0,
            "highlight_query": {"bool": {"should": like}},
            "pre_tags": ["\ue000"],
            "post_tags": ["\ue001"],
        },
    }


def correction_of(text: str, hits: Sequence[JsonObject]) -> str | None:
    """Return the text with the most similar words of a hit."""
    words = split_words(text)
    # All words of an offer are from one document, so that the corrected text finds it.
    offers = [offer for hit in hits if (offer := _words_of(hit, words)) is not None]
    if not offers:
        return None
    count = Counter(offers)
    best = min(offers, key=lambda offer: (offer.letters, -count[offer], offer.words))
    return " ".join(best.words) if best.letters else None


def _similar_to(word: str, fields: Sequence[str]) -> list[JsonObject]:
    """Return a query for each distance."""
    is_usual = _MAX_DISTANCE + 1 < len(word) <= MAX_TWO_LETTERS_CHARS
    most = _MAX_DISTANCE if is_usual else 1
    matched: JsonObject = {"query": word, "fields": [*fields], "prefix_length": 1}
    # A word of the nearest distance matches all queries, so its documents come first.
    return [
        {"constant_score": {"filter": {"multi_match": {**matched, **fuzziness(letters)}}}}
        for letters in range(1, most + 1)
    ]


class _Offer(NamedTuple):
    """The words of a document that are most similar to those of a text, and their distance."""

    letters: int
    words: tuple[str, ...]


def _words_of(hit: JsonObject, words: Sequence[str]) -> _Offer | None:
    marked = {
        word
        for values in hit.get("highlight", {}).values()
        for value in values
        for marked_text in _MARKED.findall(value)
        for word in split_words(marked_text)
    }
    nearest = [
        min(((distance(_plain(word), _plain(other)), other) for other in marked), default=None)
        for word in words
    ]
    kept = [word for word in nearest if word is not None and word[0] <= _MAX_DISTANCE]
    if len(kept) < len(words):
        return None
    return _Offer(sum(letters for letters, _ in kept), tuple(other for _, other in kept))


def distance(word: str, other: str) -> int:
    """Return how many letters differ, are missing or are added (Levenshtein)."""
    row = list(range(len(other) + 1))
    for number, char in enumerate(word, start=1):
        previous, row[0] = row[0], number
        for place, against in enumerate(other, start=1):
            changed = previous + (char != against)
            previous = row[place]
            row[place] = min(row[place] + 1, row[place - 1] + 1, changed)
    return row[-1]


def _list_values(kind: Kind, counted: JsonObject, text: str) -> list[JsonObject]:
    counted = counted.get("of_pairs", counted)
    words = [_plain(word) for word in split_words(text)]
    buckets: list[JsonObject] = counted["values"]["buckets"]
    kept = [bucket for bucket in buckets if len(bucket["key"]) <= MAX_TEXT_CHARS]
    if kind == "tag":  # a document has other tags besides the similar one
        kept = [bucket for bucket in kept if all(word in _plain(bucket["key"]) for word in words)]
    kept.sort(key=lambda bucket: not _plain(bucket["key"]).startswith(_plain(text.strip())))
    return [
        {"text": bucket["key"], "kind": kind, "documents": bucket["doc_count"]} for bucket in kept
    ]


def _plain(text: str) -> str:
    return fold(unicodedata.normalize("NFC", text))


def _begins(field: str, text: str) -> JsonObject:
    queries: list[JsonObject] = [
        {"match_bool_prefix": {field: {"query": form, "operator": "and"}}}
        for form in spellings(text)
    ]
    if is_unspaced(text):
        parts = [inner_query(field.removesuffix(".text"), word) for word in split_words(text)]
        queries.append({"bool": {"filter": parts}})
    return any_of(queries)


def _count_values(condition: JsonObject, field: str, size: int) -> JsonObject:
    return {"filter": condition, "aggs": {"values": {"terms": {"field": field, "size": size}}}}


def _nested_counts(counted: JsonObject) -> JsonObject:
    return {"nested": {"path": METADATA}, "aggs": {"of_pairs": counted}}
