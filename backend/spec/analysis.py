"""Analysis of texts by OpenSearch: words, parts of words, and stretches for permission rules."""

from typing import Any

Mapping = dict[str, Any]

INNER_NORMALIZER, SORT_NORMALIZER = "inner", "sort"
WITH_IDS, WITH_IDS_SEARCH, INNER_WITH_IDS = "with_ids", "with_ids_search", "inner_with_ids"
"""The analyzers and the normalizer of fields that contain generated ids."""
# Digits to which numbers in sort keys are padded, so that "part 2" precedes "part 10".
PADDED_DIGITS = 20
# Characters of a sort key. Lucene rejects terms above 32,766 bytes, and padded numbers take twenty
# times their size.
SORT_CHARS = 500
# Length of a stretch: the substring that is indexed from each position of a text in permission
# rules. Longer values of rules use a wildcard, which takes up to a millisecond (decision 31).
STRETCH_CHARS = 24
STRETCH_END, STRETCH_STAND_IN = "\u0002", "\u0003"
"""The padding after the end of a text, and the replacement for that character inside a text."""


# Lengths of the groups of digits of a generated id.
_ID_GROUPS = (8, 4, 4, 4, 12)
# Precedes an id as a word, so that no other word is its beginning. A letter that nobody writes.
_ID_MARK = "\u02d0"


def _replacement_filter(pattern: str, replacement: str) -> Mapping:
    return {"type": "pattern_replace", "pattern": pattern, "replacement": replacement}


def _id_filter(mark: str) -> Mapping:
    """Return the filter that removes the hyphens of an id in a path, and marks each digit."""
    digits = "-".join("([0-9a-f])" * count for count in _ID_GROUPS)
    marked = "".join(f"{mark}${number}" for number in range(2, sum(_ID_GROUPS) + 2))
    return _replacement_filter(f"(?i)(?<![^\\s/])(x?){digits}(?![^\\s/])", f"{_ID_MARK}$1{marked}")


ANALYSIS: Mapping = {
    "normalizer": {
        INNER_NORMALIZER: {"type": "custom", "filter": ["lowercase", "asciifolding"]},
        SORT_NORMALIZER: {
            "type": "custom",
            "char_filter": ["no_marks", "with_zeros", "as_long", "short_key"],
            "filter": ["lowercase", "asciifolding"],
        },
        INNER_WITH_IDS: {
            "type": "custom",
            "char_filter": ["apart"],
            "filter": ["lowercase", "asciifolding"],
        },
    },
    "analyzer": {
        "default": {
            "type": "custom",
            "tokenizer": "words",
            "filter": ["short", "parts", "lowercase", "asciifolding", "no_doubles"],
        },
        "default_search": {
            "type": "custom",
            "tokenizer": "words",
            "filter": ["short", "lowercase", "asciifolding"],
        },
        WITH_IDS: {
            "type": "custom",
            "char_filter": ["together"],
            "tokenizer": "words",
            "filter": [
                *("short", "ids", "parts_of_others"),
                *("lowercase", "asciifolding", "no_doubles"),
            ],
        },
        WITH_IDS_SEARCH: {
            "type": "custom",
            "char_filter": ["together"],
            "tokenizer": "words",
            "filter": ["short", "lowercase", "asciifolding"],
        },
        "stretches": {
            "type": "custom",
            "char_filter": ["no_ends", "filled_up"],
            "tokenizer": "stretches",
        },
    },
    "char_filter": {
        "no_ends": _replacement_filter(STRETCH_END, STRETCH_STAND_IN),
        "filled_up": _replacement_filter("\\z", STRETCH_END * (STRETCH_CHARS - 1)),
        # Accents of texts in NFD; `asciifolding` folds those in NFC.
        "no_marks": _replacement_filter("[\\u0300-\\u036f]", ""),
        "with_zeros": _replacement_filter("([0-9]+)", "0" * PADDED_DIGITS + "$1"),
        "as_long": _replacement_filter(f"(?<![0-9])0*([0-9]{{{PADDED_DIGITS},}})(?![0-9])", "$1"),
        "together": _id_filter(""),
        "apart": _id_filter(_ID_MARK),
        "short_key": _replacement_filter(f"(?s)^(.{{{SORT_CHARS}}}).*$", "$1"),
    },
    "tokenizer": {
        "words": {"type": "pattern", "pattern": "[^\\p{L}\\p{M}\\p{N}]+"},
        "stretches": {"type": "ngram", "min_gram": STRETCH_CHARS, "max_gram": STRETCH_CHARS},
    },
    "filter": {
        "parts": {"type": "word_delimiter", "preserve_original": True},
        "ids": {"type": "keyword_marker", "keywords_pattern": f"{_ID_MARK}\\w+"},
        "parts_of_others": {
            "type": "word_delimiter_graph",
            "preserve_original": True,
            "ignore_keywords": True,
        },
        # Of a word and its only part. A word that a text repeats stays, for phrases.
        "no_doubles": {"type": "unique", "only_on_same_position": True},
        # a term over 32,766 bytes would fail the document
        "short": {"type": "truncate", "length": 255},
    },
}
"""The analysis of text, where the data model only says `text`.

Names of files and assets are what people search for: `PumpHousing_v2.glb` is found by `pump`,
`housing`, `pumphousing`, `v2` and `glb`. The standard tokenizer would keep `v2.glb` as one word.

A generated id is one word, of which no parts are found: a search for `2` would else find most of
them. In `inner`, a mark between its digits prevents that a part of a word is found there.

Fields of permission rules are also cut into stretches, one from each character on. A text contains
another if one of its stretches begins with it. It ends with another if one of its stretches is that
text, padded to the length of a stretch.
"""
