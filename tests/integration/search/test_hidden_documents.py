"""The replies to a restricted user do not depend on documents that are hidden from this user.

Words of hidden documents that are equal to, similar to or unlike those of visible documents must
not change hits, totals, scores, facets, suggestions, corrections or highlights.
"""

import string
from collections.abc import Iterator
from typing import Any

from backend.core.search_engine import JsonObject
from backend.domains.access.policy.model import parse_rule
from backend.search.query.models import SearchBody, SimpleSearchBody, SuggestQuery
from backend.search.query.service import SearchService
from tests.factories.policies import stored
from tests.integration.search.conftest import CALLER, Library
from tests.integration.search.test_permissions import service_of

WORD = "helical"


def neighbours(word: str, letters: str = string.ascii_lowercase) -> Iterator[str]:
    """Return all words that differ from this one in a letter, in the order of the alphabet."""
    words = {word + letter for letter in letters}
    for place in range(len(word)):
        words |= {word[:place] + letter + word[place + 1 :] for letter in letters}
        words |= {word[:place] + letter + word[place:] for letter in letters}
        words.add(word[:place] + word[place + 1 :])
    return iter(sorted(words - {word}))


def document(kind: str, name: str, word: str, database: str) -> JsonObject:
    """Return a document with the word in each field that a search of words reads."""
    pair = {"key": f"made {word}", "string": word}
    shared: JsonObject = {
        "_rectype": kind,
        "str_databaseid": database,
        "str_assetid": name,
        "str_assetname": f"{word} one",
        "list_tags": [word],
        "metadata": [pair],
        "cut_into": "stretches of 24 characters",
    }
    if kind == "asset":
        return {**shared, "str_description": f"a {word}", "str_assettype": word}
    key = f"{name}/{word}.glb"
    dates: JsonObject = {"num_filesize": 7, "date_lastmodified": "2026-03-01T00:00:00+00:00"}
    return {**shared, "str_key": key, "str_fileext": ".glb", "attributes": [pair], **dates}


def both(name: str, word: str, database: str) -> dict[str, JsonObject]:
    return {
        f"{database}-{kind}-{name}": document(kind, name, word, database)
        for kind in ("asset", "file")
    }


# The last words of the alphabet: a cut of expansions takes the first ones.
SHOWN = ("zelical", "helicalz", "helicalzzz", "zzhelicalzz", "pumpe", "distant")
TEXTS = (
    WORD,
    "zelicals",
    "helic",
    "lical",
    "pump",
    f"{WORD} pumps",
    f"{WORD}~",
    f"{WORD}~1",
    f"{WORD}~2",
    f"{WORD}~1 pump~2",
    f"{WORD}~1 | pumpe",
    f"({WORD}~ pumpe~) | distant",
    f"-{WORD}~1 pumpe",
    "heli*",
    "heli* | pump*",
    '"helicalz one"',
    '"one helicalz"~2',
    "unlike",
)
BODIES: tuple[JsonObject, ...] = (
    *({"query": text, "didYouMean": True} for text in TEXTS),
    *({"query": text, "foldFiles": True} for text in (WORD, "pumps", "heli*")),
    {"query": "halical hump", "didYouMean": True},
    {"query": "helxxal", "didYouMean": True},
    {"query": WORD, "includeMetadataInSearch": False},
    {"query": WORD, "sort": [{"_score": "asc"}], "size": 3},
    {"query": WORD, "metadataFacets": [{"key": f"made {name}"} for name in SHOWN[:2]]},
    {"query": "", "histograms": ["num_filesize", "date_lastmodified"]},
    {"metadataQuery": "helic*", "metadataSearchMode": "value"},
    {"metadataQuery": "elica", "metadataSearchMode": "value"},
    {"metadataQuery": "made*:hel*"},
    {"metadataQuery": "AB_made*:*cal*"},
    *({"filters": [{"query_string": {"query": text}}]} for text in ("heli*", "str_key:*heli*")),
    {"sort": ["metadata.made helicalz"]},
)
NAMED: tuple[JsonObject, ...] = (
    {"query": WORD},
    {"assetName": "heli*"},
    {"metadataValue": "elica"},
    {"tags": ["heli*", "pumpe"]},
)
TYPED = ("heli", "helical", "pum", "made", "made heli", "un")


def test_replies_are_the_same_whatever_is_hidden(library: Library) -> None:
    shown: dict[str, JsonObject] = {}
    for number, word in enumerate(SHOWN):
        shown |= both(f"s{number}", word, "shown")
    library.put(shown)
    rule = parse_rule(stored("asset", ("databaseId", "equals", "shown")))
    service = service_of(library, [rule])
    before = replies(service)
    assert all(before[text]["hits"]["hits"] for text in map(repr, BODIES[:3]))
    words = [WORD, *neighbours(WORD), *(f"{WORD}{n}" for n in neighbours("aa")), "pump", "pumps"]
    words += [*neighbours("zelicals"), *neighbours("pumps"), *neighbours("halical"), "unlike", "zz"]
    words += [two for near in neighbours(WORD, "a") for two in neighbours(near, "a")]
    hidden: dict[str, JsonObject] = {}
    for number, word in enumerate(dict.fromkeys(words)):
        hidden |= both(f"h{number}", word, "hidden")
    library.put(hidden)
    after = replies(service)
    assert [text for text in before if before[text] != after[text]] == []


def replies(service: SearchService) -> dict[str, Any]:
    """Return all replies to the restricted user, by their requests."""
    replies: dict[str, Any] = {}
    for body in BODIES:
        replies[repr(body)] = service.search(CALLER, SearchBody.model_validate(body))
    for body in NAMED:
        replies[repr(body)] = service.search_simple(CALLER, SimpleSearchBody.model_validate(body))
    for text in TYPED:
        replies[text] = service.suggest(CALLER, SuggestQuery(q=text))
    for reply in replies.values():
        if isinstance(reply, dict):
            reply.pop("took")
    return replies
