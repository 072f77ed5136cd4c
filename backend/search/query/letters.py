"""Conditions on whole values in any case and Unicode form. Pure: no I/O.

Texts of requests are normalized by Unicode case folding and NFC. The indexes hold values as they
were written, and OpenSearch ignores the case of ASCII letters only. So a condition is a regular
expression in which each letter matches all letters with the same normalized form, and
their decompositions. Rules of permissions do not use this: they compare exactly.

`fold` writes letters as the normalizer and the analyzer of the indexes do. OpenSearch's filters
`lowercase` and `asciifolding` work on each code point. A test compares all of Unicode with the
engine, because neither Unicode's decompositions nor its case rules do the same: デ, й and Hangul
syllables remain as they are, ø and ß do not.
"""
# ruff: noqa: RUF001

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import cache
from itertools import chain

from backend.core.search_engine import JsonObject

# Within these, the filter replaces a letter that Unicode decomposes to ASCII with that.
_DECOMPOSED = (
    *(range(0xC0, 0x2B0), range(0x1D62, 0x1D9A), range(0x1E00, 0x1F00), range(0x2070, 0x2095)),
    *(range(0x2460, 0x2500), range(0xFB00, 0xFB05), range(0xFB06, 0xFB07)),
    *(range(0xFF01, 0xFF40), range(0xFF41, 0xFF5C), range(0xFF5D, 0xFF5F)),
)
# Each replacement, followed by the letters that it replaces.
_OTHERS = (
    "!!‼!?⁉\"«»“”„″‶❝❞❮❯%⁒'‘’‚‛′‵‹›❛❜(❨❪((⸨)❩❫))⸩*⁎-‐‑‒–—⁻₋/⁄0⓿1¹⓵❶➀➊10⓾❿➉➓11⓫12⓬13⓭14⓮15⓯16⓰"
    "17⓱18⓲19⓳2²⓶❷➁➋20⓴3³⓷❸➂➌4⓸❹➃➍5⓹❺➄➎6⓺❻➅➏7⓻❼➆➐8⓼❽➇➑9⓽❾➈➒;⁏<❬❰>❭❱?!⁈??⁇AᴀAEᴁBʙᴃCʗᴄDᴅᴆEᴇⱻFꜰꟻ"
    "GǥǧɢʛHʜIɪᵻꟾJᴊKᴋLʟᴌMᴍꟽꟿNɴᴎOᴏᴐOEɶOUᴕPᴘRʀʁᴙᴚSꜱꞅTᴛUᴜᵾVᴠWᴡYʏZᴢ[⁅❲]⁆❳^‸aɐəɚᶏᶕẚₔⱥaaꜳaeæǣǽᴂaoꜵ"
    "auꜷavꜹꜻayꜽbƀƃɓᵬᶀcƈȼɕↄꜿdðđƌȡɖɗᵭᶁᶑꝺdbȸdzʣʥeǝɇɘɛɜɝɞʚᴈᶒᶓᶔⱸfƒᵮᶂẛꝼgɠɡᵷᵹᶃꝿhħɥɦʮʯⱨⱶhvƕiıɨᴉᵼᶖ"
    "jȷɉɟʄʝⱼkƙʞᶄⱪꝁꝃꝅlŀłƚȴɫɬɭᶅⱡꝇꝉꞁllỻlsʪlzʫmɯɰɱᵯᶆnŉŋƞȵɲɳᵰᶇoøǿɔɵᴖᴗᶗⱺꝋꝍoeœᴔooꝏouȣpƥᵱᵽᶈꝑꝓꝕꟼqĸɋʠꝗꝙ"
    "qpȹrɍɼɽɾɿᵲᵳᶉꝛꞃsȿʂᵴᶊẜẝssßtŧƫƭȶʇʈᵵⱦtcʨthþᵺꝧtsʦtzꜩuʉᶙueᵫvʋʌᶌⱱⱴꝟvyꝡwƿʍⱳxᶍyƴɏʎỿzƶȝȥɀʐʑᵶᶎⱬꝣ{❴"
    "}❵~⁓"
)
_REPLACEMENTS = {
    letter: ascii_text
    for ascii_text, letters in re.findall("([ -~]+)([^ -~]+)", _OTHERS)
    for letter in letters
}


def fold(text: str) -> str:
    """Return a text as the indexes write it: in lower case, Latin letters without accents."""
    return text.lower() if text.isascii() else "".join(map(_fold, text))


@cache
def _fold(char: str) -> str:
    lower = char.lower()[0]  # of İ, the engine keeps only the first code point
    if lower in _REPLACEMENTS:
        return _REPLACEMENTS[lower]
    if not any(ord(lower) in letters for letters in _DECOMPOSED):
        return lower
    decomposed = unicodedata.normalize("NFKD", lower)
    plain = "".join(part for part in decomposed if not unicodedata.combining(part))
    return plain if plain.isascii() else lower


# OpenSearch's limit for a regular expression (`index.max_regex_length`).
MAX_EXPRESSION_CHARS = 1000
# Ranges of the letters that normalization changes. A test compares them with all code points.
_CODE_POINTS = (
    range(0x80, 0x3400),
    range(0xA640, 0xAC00),
    range(0xF900, 0x10000),
    range(0x10400, 0x12000),
    range(0x16E00, 0x17000),
    range(0x1D100, 0x1D200),
    range(0x1E900, 0x1EA00),
    range(0x2F800, 0x2FA20),
)
_PARTS = re.compile(r"\\.|[*?]|[^\\*?]+|\\", re.DOTALL)
_WILDCARDS: Mapping[str, str] = {"*": ".*", "?": "."}


def normalize(text: str) -> str:
    """Return the form by which texts are compared: case folded, in NFC."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def spellings(text: str) -> list[str]:
    """Return the text in NFC, and in NFD if that differs."""
    return list(dict.fromkeys(unicodedata.normalize(form, text) for form in ("NFC", "NFD")))


def equals(field: str, text: str) -> JsonObject:
    """Return the condition that a keyword field is the text."""
    if not text:  # with `case_insensitive`, OpenSearch finds no empty value
        return {"term": {field: {"value": ""}}}
    return _conditions(field, "term", text, _letters(text))


def matches(field: str, pattern: str) -> JsonObject:
    """Return the condition that a keyword field matches a pattern with `*` and `?`."""
    parts = (_WILDCARDS.get(part) or _letters(_literal(part)) for part in _PARTS.findall(pattern))
    return _conditions(field, "wildcard", pattern, "".join(parts))


def rewrite_literals(pattern: str, rewrite: Callable[[str], str]) -> str:
    """Return a pattern with its literal parts rewritten; wildcards remain as they are."""
    return "".join(
        part if part in _WILDCARDS else escape_wildcards(rewrite(_literal(part)))
        for part in _PARTS.findall(pattern)
    )


def escape_wildcards(text: str) -> str:
    """Return a text in which no character is a wildcard."""
    return re.sub(r"([\\*?])", r"\\\1", text)


def any_of(queries: list[JsonObject]) -> JsonObject:
    """Return the query for documents that one of the queries finds."""
    if len(queries) == 1:
        return queries[0]
    return {"bool": {"should": queries, "minimum_should_match": 1}}


def _conditions(field: str, kind: str, text: str, expression: str) -> JsonObject:
    forms, options = [text], {"case_insensitive": True}
    if expression.isascii():  # no letter has other forms than those of ASCII
        pass
    elif len(expression.encode("utf-16-le")) // 2 <= MAX_EXPRESSION_CHARS:
        kind, forms, options = "regexp", [expression], {**options, "flags": "NONE"}
    else:
        spelt = spellings(text)
        cases = (case for form in spelt for case in (form, form.lower(), form.upper()))
        forms = [*dict.fromkeys(cases)]
    return any_of([{kind: {field: {"value": form, **options}}} for form in forms])


def _literal(part: str) -> str:
    return part[1:] if len(part) > 1 and part.startswith("\\") else part


def _letters(text: str) -> str:
    """Return a regular expression for all texts with the same normalized form."""
    text, expressions, place = normalize(text), list[str](), 0
    while place < len(text):
        size = next(n for n in (3, 2, 1) if n == 1 or text[place : place + n] in sources_by_form())
        expressions.append(_letter(text[place : place + size]))
        place += size
    return "".join(expressions)


@cache
def _letter(text: str) -> str:
    """Return a regular expression for one letter, or for several that one letter folds to."""
    letters = (text, *sources_by_form().get(text, ()))
    forms = {form for letter in letters for form in (letter, *spellings(letter))}
    sources = {form for form in forms if form == text or not form.isascii()}
    if len(text) > 1:
        sources -= {text}
        apart = {_letter(text[:n]) + _letter(text[n:]) for n in range(1, len(text))}
    else:
        apart = set[str]()
    single = sorted(form for form in sources if len(form) == 1)
    longer = sorted({*map(_escape_expression, (form for form in sources if len(form) > 1)), *apart})
    if not longer:
        return _escape_expression(text) if len(single) == 1 else f"[{''.join(single)}]"
    return f"({'|'.join([*single, *longer])})"


def _escape_expression(text: str) -> str:
    """Return a text in which no ASCII character has a meaning in regular expressions."""
    return "".join(c if c.isalnum() or c == "_" or ord(c) > 127 else f"\\{c}" for c in text)


@cache
def sources_by_form() -> Mapping[str, tuple[str, ...]]:
    """Return the letters that normalize to a text other than themselves, by that text."""
    by_form: dict[str, list[str]] = defaultdict(list)
    for letter in map(chr, chain.from_iterable(_CODE_POINTS)):
        if (text := normalize(letter)) != letter:
            by_form[text].append(letter)
    return {text: tuple(letters) for text, letters in by_form.items()}
