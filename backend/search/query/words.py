"""Queries for the words of a text. Pure: no I/O, no caller.

Documents with all words of a text come first, each word in any field; documents that have some of
them as whole words follow. A word matches, best first:

1. the whole word, by the highest boost of the fields that contain it (`TEXT_FIELDS`);
2. a word that begins with it;
3. a word that contains it anywhere (`inner`, mapping version 2);
4. a word that differs in one letter, for words of letters only: numbers of parts differ on purpose.

The last three add less than any whole word, so they are ranked after it. Scores use
no counts of documents, so they reveal nothing about hidden ones (decision 36).
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from backend.core.errors import InvalidInputError
from backend.core.quoting import quoted
from backend.core.search_engine import JsonObject
from backend.search.query.ascii_folding import fold
from backend.search.query.letters import any_of, equals, escape_wildcards, spellings
from backend.search.query.pairs import METADATA, nested_query
from backend.spec.search_indexes import ATTRIBUTES, INNER, INNER_FIELDS

# Weights of a word in a field; only the best match counts (decision 36, guide `searching`).
_BOOSTS = {
    "str_assetname": 4,
    "str_key": 3,
    "list_tags": 2,
    "str_description": 1,
    "str_assetid": 1,
    "str_databaseid": 1,
    "str_assettype": 1,
    "str_fileext": 1,
}
TEXT_FIELDS = tuple(f"{field}^{boost}" for field, boost in _BOOSTS.items())
# Parts of words count less than their beginnings (0.05 to 0.2), and these less than words (1).
_INNER_BOOSTS = {field: _BOOSTS[field] / 100 for field in INNER_FIELDS}
# Score of a word's beginning, multiplied by the field's boost: at most 0.2, and below 1 over all
# fields, which is less than a whole word.
_BEGINNING = 0.05
_IN_VALUE = 0.01
# A misspelling counts less than every part (0.01), so it never precedes an exact hit.
_NEARLY = 0.0005
_FUZZY_FIELDS = tuple(f"{field}^{_BOOSTS[field]}" for field in INNER_FIELDS)
# Maximum edit distance of a word with `~`: OpenSearch has no larger one.
_MAX_SIMILAR = 2
# Words with `~` in a text, those of them with two letters, and the length of these: the automaton
# of such a word takes a hundred times as long as the word.
MAX_SIMILAR_WORDS, MAX_TWO_LETTERS, MAX_TWO_LETTERS_CHARS = 5, 2, 12

# Words of one text. Each becomes a condition per field.
MAX_WORDS = 100
# Parentheses within parentheses: OpenSearch parses them by recursion.
MAX_DEPTH = 20
# Words up to which beginnings, parts and misspellings match, too. A part of 32 characters is eleven
# conditions in each field, of the 4,096 in a query (decision 51).
MAX_PART_WORDS = 10
# Length of a word that may match as a part, except in scripts without spaces (`is_unspaced`).
# OpenSearch creates a condition for every three characters.
MIN_PART_CHARS, MAX_PART_CHARS = 3, 32
# Length of a word with signs that is looked for within names, such as a file's name.
MAX_NAME_CHARS = 64
MAX_WHOLE_CHARS = 128
"""Length of a text that is compared with complete file names."""
MIN_FUZZY_CHARS = 5

# Score of a name that equals the text: as much as one of its words.
_WHOLE_NAME = 4
# Score of an asset whose id equals the text. It must exceed that of the asset's files, whose keys
# contain the id.
_WHOLE_ID = 25
_WHOLE_FILE_NAME = 3
# A value that equals the text adds 2, but 12 if it is a part number (decision 36).
_WHOLE_VALUE = 2
# Score of a metadata value that equals the text and is a part number. The asset must come before a
# file whose name contains the number (three words score 3 each).
_WHOLE_NUMBER = 12
# A shorter mix of letters and digits names many things (decision 36).
_MIN_NUMBER_CHARS = 6
# Score per matching word in documents without all words. It exceeds the highest field boost.
_EACH_WORD = 10
# Factor of the score of such documents, which then score at most 0.000014 per word.
_SOME_WORDS = 1e-6
# Minimum score per word of documents with all words: a misspelled word scores 0.0005, others more.
_LEAST_OF_ALL = 1e-4

_WORD = re.compile(r"\w+")
_OPERATORS = re.compile(r'["*|()]|(?:^|\s)[+-]\S')
# All but FUZZY, which expands a word to the first ones of all documents, hidden ones among them.
_FLAGS = "AND|ESCAPE|NEAR|NOT|OR|PHRASE|PRECEDENCE|PREFIX|WHITESPACE"
_SIMILAR = re.compile(r"(?<=\w)~\d*(?!\w)")
_MARKED = re.compile(r"(?<!\w)(\w+)~(\d?)(?!\w)")
_WITHOUT_WORDS = re.compile(r'[^\s"*|()~\\]{1,32}')
# A sign between letters or digits, other than an underscore.
_TOGETHER = re.compile(r"\w[^\w\s]+\w")
# Where the analyzer of the indexes splits words that queries do not: at capitals and digits.
_SPLIT_FURTHER = re.compile(r"[a-z][A-Z]|[^\W\d_]\d|\d[^\W\d_]")
# Han, Kana and Hangul.
_UNSPACED = re.compile(
    "[\u1100-\u11ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff]"
)
_COLOURED = "\ufe0f"
_LEADING_STARS = re.compile(r"(^|\s)\*+(?=\S)")


class TextQuery(NamedTuple):
    """The clauses of a text: `must` finds documents, `should` adds to the score of exact ones.

    Documents with all of several words exceed `score_of_all`.
    """

    clauses: Mapping[str, list[JsonObject]]
    score_of_all: float | None = None
    marked: Sequence[JsonObject] = ()
    """Queries for highlights only, of words in scripts without spaces."""


def text_query(text: str, *, with_metadata: bool) -> TextQuery:
    """Return the query for the words of a text: documents with all of them, then with some.

    With operators (`"…"`, `*` at a word's end, `+ | - ( )`) it is a simple query string. In other
    texts, a word before `~` also matches words that differ in one or two letters.

    Raises:
        InvalidInputError: the text has more than `MAX_WORDS` words.
    """
    count = len(_WORD.findall(text))
    if count > MAX_WORDS:
        raise InvalidInputError.of("query", f"has {count} words; at most {MAX_WORDS} are allowed")
    depths = accumulate({"(": 1, ")": -1}.get(char, 0) for char in text)
    if max(depths, default=0) > MAX_DEPTH:
        raise InvalidInputError.of(
            "query", f"must not nest parentheses deeper than {MAX_DEPTH} levels"
        )
    # Parts of words are found without a star before them.
    plain = _LEADING_STARS.sub(r"\1", unicodedata.normalize("NFC", text))
    score_of_all, marked = None, list[JsonObject]()
    if not split_words(plain):
        query = _signs(plain, with_metadata=with_metadata)
    elif _OPERATORS.search(plain):
        spelt = spellings(_SIMILAR.sub("", plain))
        query = any_of([_simple_query(form, with_metadata=with_metadata) for form in spelt])
    else:
        query, score_of_all = _words(plain, with_metadata)
        # The highlighter does not know queries of `inner`.
        unspaced = filter(is_unspaced, split_words(plain)[:MAX_PART_WORDS])
        values = [f"*{escape_wildcards(fold(word))}*" for word in unspaced]
        marked = [{"wildcard": {name: {"value": v}}} for name in INNER_FIELDS for v in values]
    exact = exact_queries(text.strip(), with_metadata=with_metadata)
    return TextQuery({"must": [query], "should": exact}, score_of_all, marked)


def _words(text: str, with_metadata: bool) -> tuple[JsonObject, float | None]:
    """Return the query for the words of a text, and the score of documents with all of several."""
    marked = [(word, int(letters or _MAX_SIMILAR)) for word, letters in _MARKED.findall(text)]
    _check_few_similar(marked)
    plain = _MARKED.sub(" ", text)
    # Names are written with underscores for blanks: only other signs keep words together.
    words = [
        word
        for token in plain.split()
        for word in ([token] if _TOGETHER.search(token) else split_words(token))
        if split_words(word)
    ]
    with_parts = len(split_words(plain)) <= MAX_PART_WORDS
    every = [
        *(_word(word, with_metadata, with_parts) for word in words),
        *(_similar(word, letters, with_metadata) for word, letters in marked),
    ]
    if len(every) == 1:
        return every[0], None
    all_words: JsonObject = {"bool": {"must": every}}
    # Documents with some of the words are ranked by their number.
    paths = (METADATA, ATTRIBUTES) if with_metadata else ()
    counted = _constant({"match_all": {}}, _EACH_WORD)
    should: list[JsonObject] = []
    for word in (*words, *(word for word, _ in marked)):
        values = [nested_query(path, _in_text(path, word), score_mode="max") for path in paths]
        should.append({"bool": {"must": [any_of([_whole(word), *values]), counted]}})
    some = {"bool": {"should": should, "minimum_should_match": 1, "boost": _SOME_WORDS}}
    # The better of the two counts, so documents with all words are ranked as without the others.
    return {"dis_max": {"queries": [all_words, some]}}, len(every) * _LEAST_OF_ALL


def _check_few_similar(marked: Sequence[tuple[str, int]]) -> None:
    far = [word for word, letters in marked if letters >= _MAX_SIMILAR]
    for count, most, what in (
        (len(marked), MAX_SIMILAR_WORDS, "words with ~"),
        (len(far), MAX_TWO_LETTERS, "words with ~ or ~2"),
    ):
        if count > most:
            fact = f"has {count} {what}; at most {most} are allowed: use ~1, or fewer of them"
            raise InvalidInputError.of("query", fact)
    for word in far:
        if len(word) > MAX_TWO_LETTERS_CHARS:
            fact = (
                f"{quoted(word)} has {len(word)} letters; with ~2 at most {MAX_TWO_LETTERS_CHARS} "
                "are allowed: use ~1"
            )
            raise InvalidInputError.of("query", fact)


def exact_queries(text: str, *, with_metadata: bool) -> list[JsonObject]:
    """Return what adds to the score of documents that the text names as a whole."""
    asset = [{"term": {"_rectype": "asset"}}, equals("str_assetid.keyword", text)]
    queries = [
        _constant(equals("str_assetname.keyword", text), _WHOLE_NAME),
        _constant({"bool": {"filter": asset}}, _WHOLE_ID),
    ]
    if len(text) <= MAX_WHOLE_CHARS:
        name = inner_query("str_key", f"/{text.removeprefix('/')}", end="")
        queries.append(_constant(name, _WHOLE_FILE_NAME))
    if with_metadata:
        value = equals(f"{METADATA}.string", text)
        # A part number has letters and digits, and is long enough to identify one thing.
        is_mixed = any(map(str.isalpha, text)) and any(map(str.isnumeric, text))
        is_number = is_mixed and len(text) >= _MIN_NUMBER_CHARS
        boost = _WHOLE_NUMBER if is_number else _WHOLE_VALUE
        queries.append(_constant(nested_query(METADATA, value), boost))
    return queries


def whole_word_query(text: str) -> JsonObject:
    """Return the query for documents that contain all words of a text, in any field or value."""
    if not split_words(text):
        return _signs(text, with_metadata=True)
    queries: list[JsonObject] = []
    for spelt in spellings(text):
        queries.append(_in_best_field(spelt))
        for path in (METADATA, ATTRIBUTES):
            match = {f"{path}.string.text": {"query": spelt, "operator": "and"}}
            queries.append(nested_query(path, {"match": match}))
    return any_of(queries)


def inner_query(field: str, text: str, *, end: str = "*", boost: float = 1) -> JsonObject:
    """Return the query for a text anywhere in a field, or with `end=""` at its end."""
    composed, *decomposed = spellings(text)
    # The normalizer of `inner` removes accents from letters, but not marks after them.
    forms = [fold(composed), *map(str.lower, decomposed)]
    values = [f"*{escape_wildcards(form)}{end}" for form in forms]
    name = f"{field}.{INNER}"
    return any_of([{"wildcard": {name: {"value": value, "boost": boost}}} for value in values])


def split_words(text: str) -> list[str]:
    """Return the words of a text as the indexes split them: letters, marks and digits."""
    kinds = [unicodedata.category(char)[0] for char in text]
    spaced = (char if kind in "LMN" else " " for char, kind in zip(text, kinds, strict=True))
    # Marks alone are no words: many emojis end with one.
    return [word for word in "".join(spaced).split() if any(map(str.isalnum, word))]


def is_unspaced(text: str) -> bool:
    """Return whether a text has a script without spaces, where a character may be a word."""
    return _UNSPACED.search(text) is not None


def _may_be_part(word: str) -> bool:
    return (is_unspaced(word) or len(word) >= MIN_PART_CHARS) and len(word) <= MAX_PART_CHARS


def _word(word: str, with_metadata: bool, with_parts: bool) -> JsonObject:
    parts = split_words(word)
    if len(parts) > 1:
        return _together(word, parts, with_metadata, with_parts)
    (word,) = parts
    should = [_whole(form) for form in spellings(word)]
    if with_parts:
        should += _parts(word)
    if with_metadata:
        should += [_value(path, word, with_parts) for path in (METADATA, ATTRIBUTES)]
    return {"bool": {"should": should, "minimum_should_match": 1}}


def _together(word: str, parts: Sequence[str], with_metadata: bool, with_parts: bool) -> JsonObject:
    """Return the query for a word that the analyzer splits: `gear.txt` must not find all of `txt`.

    Its parts follow each other in one field, or a name contains them as they are, or as one word.
    """
    should = [_whole(form) for form in spellings(word)]
    named = word[word.index(parts[0]) : word.rindex(parts[-1]) + len(parts[-1])]
    forms = [form for form in (named, "".join(parts)) if len(form) <= MAX_NAME_CHARS]
    misspelt = with_parts and all(map(_may_be_misspelt, parts))
    if with_parts:
        inner = [
            inner_query(name, form, boost=boost)
            for name, boost in _INNER_BOOSTS.items()
            for form in forms
        ]
        should += [{"dis_max": {"queries": inner}}] if inner else []
    if misspelt:
        should.append(_nearly(word, _FUZZY_FIELDS))
    for path in (METADATA, ATTRIBUTES) if with_metadata else ():
        values = [_in_text(path, form) for form in spellings(word)]
        if with_parts:
            values += [inner_query(f"{path}.string", form, boost=_IN_VALUE) for form in forms]
        if misspelt:
            values.append(_nearly(word, (f"{path}.string.text",)))
        should.append(nested_query(path, {"bool": {"should": values}}, score_mode="max"))
    return any_of(should)


def _whole(text: str) -> JsonObject:
    if len(split_words(text)) == 1:
        return _in_best_field(text)
    phrase = {"query": text, "type": "phrase", "fields": [*TEXT_FIELDS]}
    return any_of([{"multi_match": {**phrase, **analyzer}} for analyzer in _analyzers(text)])


def _analyzers(text: str) -> list[dict[str, str]]:
    """Return how a phrase is analyzed: as it is, and as an index splits `PumpHousing_v2`."""
    return [{}, {"analyzer": "default"}] if _SPLIT_FURTHER.search(text) else [{}]


def _in_best_field(text: str) -> JsonObject:
    # The best field counts, not the sum of all: files contain the name of their asset and a key
    # that often repeats it, so they would all be ranked before the asset.
    matched = {"query": text, "type": "best_fields", "operator": "and", "fields": [*TEXT_FIELDS]}
    return {"multi_match": matched}


def _parts(word: str) -> list[JsonObject]:
    begins: list[JsonObject] = [
        {"match_bool_prefix": {field: {"query": form, "boost": _BEGINNING * boost}}}
        for field, boost in _BOOSTS.items()
        for form in spellings(word)
    ]
    queries: list[JsonObject] = [{"dis_max": {"queries": begins}}]
    if _may_be_part(word):
        inner = [inner_query(name, word, boost=boost) for name, boost in _INNER_BOOSTS.items()]
        queries.append({"dis_max": {"queries": inner}})
    if _may_be_misspelt(word):
        queries.append(_nearly(word, _FUZZY_FIELDS))
    return queries


def _value(path: str, word: str, with_parts: bool) -> JsonObject:
    """Return the query for a word in a value of metadata or of an attribute."""
    spelt = spellings(word)
    should = [_in_text(path, form) for form in spelt]
    if with_parts:
        field = f"{path}.string"
        begins = ({"query": form, "boost": _BEGINNING} for form in spelt)
        should += [{"match_bool_prefix": {f"{field}.text": begin}} for begin in begins]
        if _may_be_part(word):
            should.append(inner_query(field, word, boost=_IN_VALUE))
        if _may_be_misspelt(word):
            should.append(_nearly(word, (f"{field}.text",)))
    return nested_query(path, {"bool": {"should": should}}, score_mode="max")


def _in_text(path: str, text: str) -> JsonObject:
    field = f"{path}.string.text"
    if len(split_words(text)) == 1:
        return {"match": {field: {"query": text, "operator": "and"}}}
    phrases = ({"query": text, **analyzer} for analyzer in _analyzers(text))
    return any_of([{"match_phrase": {field: phrase}} for phrase in phrases])


def _similar(word: str, letters: int, with_metadata: bool) -> JsonObject:
    """Return the query for a word, or for words that differ in so many letters."""
    letters = min(letters, _MAX_SIMILAR) if len(word) <= MAX_PART_CHARS else 0
    should = [_whole(word), _nearly(word, TEXT_FIELDS, letters)]
    if with_metadata:
        for path in (METADATA, ATTRIBUTES):
            either = [_in_text(path, word), _nearly(word, (f"{path}.string.text",), letters)]
            should.append(nested_query(path, {"bool": {"should": either}}, score_mode="max"))
    return {"bool": {"should": should, "minimum_should_match": 1}}


def _nearly(word: str, fields: Sequence[str], letters: int = 1) -> JsonObject:
    matched = {"query": word, "fields": [*fields], "boost": _NEARLY, **fuzziness(letters)}
    return {"multi_match": {**matched, "operator": "and"}}


def fuzziness(letters: int) -> dict[str, Any]:
    """Return the parameters of a match with words that differ in so many letters."""
    # With its default rewrite, OpenSearch expands a word to the first similar ones
    # (`max_expansions`) of all documents, so similar words of hidden documents replace those of
    # visible ones. A rewrite to one constant score takes all of them (decision 36).
    return {"fuzziness": letters, "fuzzy_rewrite": "constant_score"}


def _may_be_misspelt(word: str) -> bool:
    return MIN_FUZZY_CHARS <= len(word) <= MAX_PART_CHARS and not any(
        char.isnumeric() for char in word
    )


def _constant(query: JsonObject, boost: float) -> JsonObject:
    return {"constant_score": {"filter": query, "boost": boost}}


def _signs(text: str, *, with_metadata: bool) -> JsonObject:
    """Return the query for signs that are no words, such as emojis, in names and values."""
    signs = _WITHOUT_WORDS.findall(text)
    if len(signs) > MAX_PART_WORDS:
        fact = f"has {len(signs)} signs and no word; at most {MAX_PART_WORDS} are allowed"
        raise InvalidInputError.of("query", fact)
    if not signs:
        return {"match_none": {}}
    filters: list[JsonObject] = []
    for sign in signs:
        # With or without the selector of its coloured form.
        forms = dict.fromkeys([sign, sign.replace(_COLOURED, "")])
        values = [f"*{escape_wildcards(form.lower())}*" for form in forms if form]
        queries = [_like(field, value) for field in _INNER_BOOSTS for value in values]
        for path in (METADATA, ATTRIBUTES) if with_metadata else ():
            queries += [nested_query(path, _like(f"{path}.string", value)) for value in values]
        filters.append(any_of(queries))
    return {"bool": {"filter": filters}}


def _like(field: str, value: str) -> JsonObject:
    return {"wildcard": {f"{field}.{INNER}": {"value": value}}}


def _simple_query(text: str, *, with_metadata: bool) -> JsonObject:
    words: JsonObject = {
        "simple_query_string": {
            "query": text,
            "fields": list(TEXT_FIELDS),
            "default_operator": "and",
            "lenient": True,
            "analyze_wildcard": True,
            "flags": _FLAGS,
        }
    }
    if not with_metadata:
        return words
    should = [words]
    for path in (METADATA, ATTRIBUTES):
        values = {**words["simple_query_string"], "fields": [f"{path}.string.text"]}
        should.append(nested_query(path, {"simple_query_string": values}, score_mode="max"))
    return {"bool": {"should": should, "minimum_should_match": 1}}
