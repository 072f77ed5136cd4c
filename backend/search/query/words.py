"""Queries for the words of a text. Pure: no I/O, no caller.

Documents with all words of a text come first, each word in any field; documents that have some of
them as whole words follow (in scripts without spaces, also as parts). A word matches, best first:

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
from backend.search.query.letters import any_of, equals, escape_wildcards, fold, spellings
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
# Maximum edit distance of a word with `~`: OpenSearch has no larger one.
_MAX_SIMILAR = 2
# Words with `~` in a text, those of them with two letters, and the length of these: the automaton
# of such a word takes a hundred times as long as the word.
MAX_SIMILAR_WORDS, MAX_TWO_LETTERS, MAX_TWO_LETTERS_CHARS = 5, 2, 12

# Words of one text. Each becomes a condition per field.
MAX_WORDS = 100
# Parentheses within parentheses: OpenSearch parses them by recursion.
MAX_DEPTH = 20
# Words up to which beginnings and parts match, too, and misspellings, which take most time. A part
# of 32 characters is eleven conditions in each field, of the 4,096 in a query (decision 51).
MAX_PART_WORDS, MAX_MISSPELT_WORDS = 10, 5
# Length of a word that may match as a part, except in scripts without spaces (`is_unspaced`).
# OpenSearch creates a condition for every three characters.
MIN_PART_CHARS, MAX_PART_CHARS = 3, 32
# Length of all words of these scripts that match as parts in documents with some of the words.
MAX_UNSPACED_CHARS = 30
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
_MARKED = re.compile(r"(.*\w)~(\d*)\W*")
# Between words, unlike most signs, which names of files contain. A comma in a number is kept.
_SEPARATORS = re.compile(r"(?<!\d),|,(?!\d)|[\s;،؛、，；。…—]+")  # noqa: RUF001
# `chair's` means chair, but `smith's.glb` is a name. Phrases in quotes remain as they are.
_POSSESSIVE = re.compile(r"""("[^"]*")|(?<=\w)['’][sS](?![^\s,;|)]*\w)""")  # noqa: RUF001
# A quoted text and nothing else.
_QUOTED = re.compile(r'\s*"([^"]+)"\s*')
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
    """Queries for highlights: a word in one field, which is highlighted in all of them."""


class _Matching(NamedTuple):
    """Nested pairs in which words match, and whether parts and misspelt words do."""

    paths: tuple[str, ...]
    parts: bool
    misspelt: bool


class _Fields(NamedTuple):
    """Fields that whole words, beginnings (by boost) and misspelt words may match."""

    whole: Sequence[str]
    beginnings: Mapping[str, float]
    nearly: Sequence[str]


_IN_TEXTS = _Fields(
    TEXT_FIELDS,
    {field: _BEGINNING * boost for field, boost in _BOOSTS.items()},
    tuple(f"{field}^{_BOOSTS[field]}" for field in INNER_FIELDS),
)


def _only_in(field: str) -> _Fields:
    return _Fields((field,), {field: _BEGINNING}, (field,))


_MARKED_FIELD = _only_in(INNER_FIELDS[0])
_IN_VALUES = {path: _only_in(f"{path}.string.text") for path in (METADATA, ATTRIBUTES)}


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
    paths = (METADATA, ATTRIBUTES) if with_metadata else ()
    if not split_words(plain):
        query = _signs(plain, paths)
    elif _OPERATORS.search(plain):
        spelt = spellings(_SIMILAR.sub("", _POSSESSIVE.sub(r"\1", plain)))
        queries = [_simple_query(form, TEXT_FIELDS, paths) for form in spelt]
        phrase = _QUOTED.fullmatch(plain)
        if phrase and is_unspaced(phrase[1]):
            queries.append(_word(phrase[1], _Matching(paths, parts=True, misspelt=False)))
        query = any_of(queries)
        marked = [_simple_query(form, _MARKED_FIELD.whole, ()) for form in spelt]
    else:
        query, score_of_all, marked = _words(plain, paths)
    exact = exact_queries(text.strip(), with_metadata=with_metadata)
    return TextQuery({"must": [query], "should": exact}, score_of_all, marked)


def _words(text: str, paths: tuple[str, ...]) -> tuple[JsonObject, float | None, list[JsonObject]]:
    """Return the query for the words of a text, the score of documents with all of several, and the
    queries for highlights.
    """
    tokens = [
        (token, _MARKED.fullmatch(token))
        for token in _SEPARATORS.split(_POSSESSIVE.sub(r"\1", text))
        if split_words(token)
    ]
    # More than one digit is more than the engine has.
    similar = [
        (mark[1], min(int(mark[2]), _MAX_SIMILAR) if len(mark[2]) == 1 else _MAX_SIMILAR)
        for _, mark in tokens
        if mark
    ]
    if similar:
        _check_few_similar(similar, [f"{mark[1]}~{mark[2]}" for _, mark in tokens if mark])
    plain = " ".join(token for token, mark in tokens if not mark)
    # Names are written with underscores for blanks: only other signs keep words together.
    words = [
        word
        for token in plain.split()
        for word in ([token] if _TOGETHER.search(token) else split_words(token))
    ]
    count = len(split_words(plain))
    matching = _Matching(paths, count <= MAX_PART_WORDS, count <= MAX_MISSPELT_WORDS)
    every = [
        *(_word(word, matching) for word in words),
        *(_similar(word, letters, paths) for word, letters in similar),
    ]
    marked = [
        *(mark for word in words for mark in _in_fields(word, matching, _MARKED_FIELD)),
        *(_nearly(word, _MARKED_FIELD.whole, letters) for word, letters in similar),
    ]
    # The highlighter does not know queries of `inner`.
    unspaced = filter(is_unspaced, split_words(plain)[:MAX_PART_WORDS])
    patterns = (f"*{escape_wildcards(fold(word))}*" for word in unspaced if _may_be_part(word))
    marked += [{"wildcard": {_MARKED_FIELD.whole[0]: {"value": value}}} for value in patterns]
    if len(every) == 1:
        return every[0], None, marked
    all_words: JsonObject = {"bool": {"must": every}}
    should = _some_words([*words, *(word for word, _ in similar)], matching)
    some = {"bool": {"should": should, "minimum_should_match": 1, "boost": _SOME_WORDS}}
    # The better of the two counts, so documents with all words are ranked as without the others.
    return {"dis_max": {"queries": [all_words, some]}}, len(every) * _LEAST_OF_ALL, marked


def _some_words(words: Sequence[str], matching: _Matching) -> list[JsonObject]:
    """Return the queries for whole words, and in scripts without spaces for parts.

    Documents with some of the words are ranked by their number.
    """
    counted: JsonObject = {"constant_score": {"filter": {"match_all": {}}, "boost": _EACH_WORD}}
    unspaced = [word for word in words if is_unspaced(word)]
    # More would make common searches too heavy: each is searched as one of all words, too.
    as_parts = matching.misspelt and sum(map(len, unspaced)) <= MAX_UNSPACED_CHARS
    queries: list[JsonObject] = []
    for word in words:
        forms = _part_forms(word, matching)[:1] if as_parts and is_unspaced(word) else []
        alternatives = [_whole(word), *_in_names(forms)]
        for path in matching.paths:
            value = _whole(word, [f"{path}.string.text"])
            alternatives.append(_nested(path, [value, *_in_value(path, forms)]))
        queries.append({"bool": {"must": [any_of(alternatives), counted]}})
    return queries


def _check_few_similar(marked: Sequence[tuple[str, int]], sent: Sequence[str]) -> None:
    # `a.b~1` counts as two words: OpenSearch compares each of them with all words of the indexes.
    words = [
        (word, letters, form)
        for (text, letters), form in zip(marked, sent, strict=True)
        for word in split_words(text)
    ]
    far = [entry for entry in words if entry[1] >= _MAX_SIMILAR]
    for counted, most, kind, advice in (
        (words, MAX_SIMILAR_WORDS, "", "use fewer of them"),
        (far, MAX_TWO_LETTERS, " in which two letters may differ", "use ~1, or fewer of them"),
    ):
        count = len(counted)
        if count > most:
            forms = [form for form in sent if any(form == entry[2] for entry in counted)]
            noun = "word" if len(forms) == 1 else "words"
            split = f" ({count} when split at signs)" if count > len(forms) else ""
            fact = (
                f"has {len(forms)} {noun} with ~{kind}{split}, such as {quoted(forms[-1])}; "
                f"at most {most} are allowed: {advice}"
            )
            raise InvalidInputError.of("query", fact)
    for word, _, form in far:
        if len(word) > MAX_TWO_LETTERS_CHARS:
            where = "" if form.startswith(f"{word}~") else f"{quoted(word)} in "
            fact = (
                f"{where}{quoted(form)} has {len(word)} letters; at most {MAX_TWO_LETTERS_CHARS} "
                "are allowed: use ~1"
            )
            raise InvalidInputError.of("query", fact)


def exact_queries(text: str, *, with_metadata: bool) -> list[JsonObject]:
    """Return what adds to the score of documents that the text names as a whole."""
    asset = [{"term": {"_rectype": "asset"}}, equals("str_assetid.keyword", text)]
    named: list[tuple[JsonObject, float]] = [
        (equals("str_assetname.keyword", text), _WHOLE_NAME),
        ({"bool": {"filter": asset}}, _WHOLE_ID),
    ]
    if len(text) <= MAX_WHOLE_CHARS:
        name = inner_query("str_key", f"/{text.removeprefix('/')}", end="")
        named.append((name, _WHOLE_FILE_NAME))
    if with_metadata:
        value = nested_query(METADATA, equals(f"{METADATA}.string", text))
        # A part number has letters and digits, and is long enough to identify one thing.
        is_mixed = any(map(str.isalpha, text)) and any(map(str.isnumeric, text))
        is_number = is_mixed and len(text) >= _MIN_NUMBER_CHARS
        named.append((value, _WHOLE_NUMBER if is_number else _WHOLE_VALUE))
    return [{"constant_score": {"filter": query, "boost": boost}} for query, boost in named]


def whole_word_query(text: str) -> JsonObject:
    """Return the query for documents that contain all words of a text, in any field or value."""
    paths = (METADATA, ATTRIBUTES)
    if not split_words(text):
        return _signs(text, paths)
    queries: list[JsonObject] = []
    for spelt in spellings(text):
        match = {"query": spelt, "type": "best_fields", "operator": "and"}
        queries.append({"multi_match": {**match, "fields": [*TEXT_FIELDS]}})
        for path in paths:
            value: JsonObject = {"multi_match": {**match, "fields": [f"{path}.string.text"]}}
            queries.append(nested_query(path, value))
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


def _word(word: str, matching: _Matching) -> JsonObject:
    """Return the query for a word in fields, in parts of names, and in values.

    A word that the analyzer splits stays together, so that `gear.txt` does not find all of `txt`:
    its parts follow each other in one field, or a name contains them as they are, or as one word.
    """
    parts = split_words(word)
    forms = _part_forms(word, matching)
    word = word if len(parts) > 1 else parts[0]
    should = [*_in_fields(word, matching, _IN_TEXTS), *_in_names(forms)]
    for path in matching.paths:
        values = _in_fields(word, matching, _IN_VALUES[path])
        should.append(_nested(path, [*values, *_in_value(path, forms)]))
    return any_of(should)


def _part_forms(word: str, matching: _Matching) -> list[str]:
    """Return the forms in which a word is looked for within names and values."""
    parts = split_words(word)
    if not matching.parts or (len(parts) == 1 and not _may_be_part(parts[0])):
        return []
    named = word[word.index(parts[0]) : word.rindex(parts[-1]) + len(parts[-1])]
    forms = dict.fromkeys([named, "".join(parts)])
    return [form for form in forms if len(form) <= MAX_NAME_CHARS]


def _may_be_part(word: str) -> bool:
    return len(word) <= MAX_PART_CHARS and (is_unspaced(word) or len(word) >= MIN_PART_CHARS)


def _in_names(forms: Sequence[str]) -> list[JsonObject]:
    inner = [
        inner_query(name, form, boost=boost)
        for name, boost in _INNER_BOOSTS.items()
        for form in forms
    ]
    return [{"dis_max": {"queries": inner}}] if inner else []


def _in_value(path: str, forms: Sequence[str]) -> list[JsonObject]:
    return [inner_query(f"{path}.string", form, boost=_IN_VALUE) for form in forms]


def _in_fields(word: str, matching: _Matching, fields: _Fields) -> list[JsonObject]:
    """Return the queries for a whole word in fields, its beginnings, and misspelt ones."""
    forms, parts = spellings(word), split_words(word)
    queries = [_whole(form, fields.whole) for form in forms]
    if matching.parts and len(parts) == 1:
        beginnings: list[JsonObject] = [
            {"match_bool_prefix": {field: {"query": form, "boost": boost}}}
            for field, boost in fields.beginnings.items()
            for form in forms
        ]
        queries.append({"dis_max": {"queries": beginnings}})
    may_be_misspelt = all(
        MIN_FUZZY_CHARS <= len(part) <= MAX_PART_CHARS and not any(map(str.isnumeric, part))
        for part in parts
    )
    if matching.misspelt and may_be_misspelt:
        queries.append(_nearly(word, fields.nearly))
    return queries


def _nested(path: str, queries: list[JsonObject]) -> JsonObject:
    """Return the query for pairs, which score as the best of them."""
    return nested_query(path, {"bool": {"should": queries}}, score_mode="max")


def _whole(text: str, fields: Sequence[str] = TEXT_FIELDS) -> JsonObject:
    """Return the query for a whole word, or for words that follow each other."""
    if len(split_words(text)) == 1:
        # The best field counts, not the sum of all: files contain the name of their asset and a key
        # that often repeats it, so they would all be ranked before the asset.
        matched = {"query": text, "type": "best_fields", "operator": "and", "fields": [*fields]}
        return {"multi_match": matched}
    phrase: JsonObject = {"query": text, "type": "phrase", "fields": [*fields]}
    phrases = [phrase]
    if _SPLIT_FURTHER.search(text):  # as an index splits `PumpHousing_v2`
        phrases.append({**phrase, "analyzer": "default"})
    return any_of([{"multi_match": phrase} for phrase in phrases])


def _similar(word: str, letters: int, paths: Sequence[str]) -> JsonObject:
    """Return the query for a word, or for words that differ in so many letters."""
    longest = max(map(len, split_words(word)))
    letters = min(letters, _MAX_SIMILAR) if longest <= MAX_PART_CHARS else 0
    should = [_whole(word), _nearly(word, TEXT_FIELDS, letters)]
    for path in paths:
        field = f"{path}.string.text"
        should.append(_nested(path, [_whole(word, [field]), _nearly(word, (field,), letters)]))
    return any_of(should)


def _nearly(word: str, fields: Sequence[str], letters: int = 1) -> JsonObject:
    matched = {"query": word, "fields": [*fields], "boost": _NEARLY, **fuzziness(letters)}
    return {"multi_match": {**matched, "operator": "and"}}


def fuzziness(letters: int) -> dict[str, Any]:
    """Return the parameters of a match with words that differ in so many letters."""
    # With its default rewrite, OpenSearch expands a word to the first similar ones
    # (`max_expansions`) of all documents, so similar words of hidden documents replace those of
    # visible ones. A rewrite to one constant score takes all of them (decision 36).
    return {"fuzziness": letters, "fuzzy_rewrite": "constant_score"}


def _signs(text: str, paths: Sequence[str]) -> JsonObject:
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
        forms = filter(None, dict.fromkeys([sign, sign.replace(_COLOURED, "")]))
        values = [{"value": f"*{escape_wildcards(form.lower())}*"} for form in forms]
        queries: list[JsonObject] = [
            {"wildcard": {f"{field}.{INNER}": value}} for field in INNER_FIELDS for value in values
        ]
        for path in paths:
            of_path = [{"wildcard": {f"{path}.string.{INNER}": value}} for value in values]
            queries += [nested_query(path, query) for query in of_path]
        filters.append(any_of(queries))
    return {"bool": {"filter": filters}}


def _simple_query(text: str, fields: Sequence[str], paths: Sequence[str]) -> JsonObject:
    words: JsonObject = {
        "simple_query_string": {
            "query": text,
            "fields": [*fields],
            "default_operator": "and",
            "lenient": True,
            "analyze_wildcard": True,
            "flags": _FLAGS,
        }
    }
    values = [_simple_query(text, [f"{path}.string.text"], ()) for path in paths]
    nested = zip(paths, values, strict=True)
    return any_of([words, *(nested_query(path, value, score_mode="max") for path, value in nested)])
