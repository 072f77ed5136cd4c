"""Any search that clients send is served, or refused with the place of the error.

`SEARCHES` sets how many are generated: a hundred in `make prove PART=integration`, ten thousand
in `PART=searches`.
"""

import os
import random
import time
from typing import Any

from pydantic import ValidationError

from backend.core.errors import InvalidInputError, UnavailableError
from tests.amounts import amount
from tests.integration.search.conftest import Library
from tests.integration.search.test_meaning import DOCUMENTS

SEARCHES = amount("SEARCHES")
SEED = int(os.environ.get("SEARCH_SEED", "19"))
MAX_SECONDS = 5.0
WORDS = (
    *("gear", "Gear box", "pump*", "*ear*", "?", "*", "**", "MD_str_product", "AB_maker", "fact_x"),
    *("num_filesize", "date_lastmodified", "bool_archived", "str_assetname", "str_key.keyword"),
    *(
        "list_tags",
        "_rectype",
        "_exists_",
        "hash",
        "rev",
        "metadata.key",
        "gp_place",
        "MD_",
        "AB_.",
    ),
    *("AND", "OR", "NOT", "TO", "&&", "||", "!", "now-7d", "2026-03-01", "1e400", "NaN", "-1"),
    *(
        "9223372036854775808",
        "true",
        "\u00e9\u0301",
        "\u6f22\u5b57",
        "\U0001f600",
        "\u202e",
        "a" * 300,
    ),
    *("\x00", "\ud800", "'", "\\", "/.*/", "~2", "^3", "<>", ">=", "_id", "script"),
)
MARKS = (" ", " ", ":", ":", '"', "(", ")", "[", "]", "{", "}", "+", "-", "\\", "\t", "")


def text(chance: random.Random, most: int) -> str:
    parts = [chance.choice(WORDS) + chance.choice(MARKS) for _ in range(chance.randint(1, most))]
    if chance.random() < 0.1:
        parts += [chr(chance.randrange(0x110000)) for _ in range(8)]
    nesting = chance.choice((0, 0, 0, 0, 30, 2000))
    return "(" * nesting + "".join(parts) + ")" * chance.choice((0, nesting))


def body(chance: random.Random) -> dict[str, Any]:
    made: dict[str, Any] = {"size": 5}
    if chance.random() < 0.6:
        made["query"] = text(chance, 12)
    if chance.random() < 0.5:
        made["filters"] = [_filter(chance) for _ in range(chance.randint(1, 3))]
    if chance.random() < 0.4:
        made["metadataQuery"] = text(chance, 8)
        made["metadataSearchMode"] = chance.choice(("key", "value", "both"))
    if chance.random() < 0.1:
        made["sort"] = [chance.choice(WORDS)]
    return made


def _filter(chance: random.Random) -> dict[str, Any]:
    if chance.random() < 0.8:
        return {"query_string": {"query": text(chance, 14)}}
    kind = chance.choice(("term", "terms", "range", "exists", "script"))
    value = chance.choice((text(chance, 2), 5, True, None, [text(chance, 1)], {"gte": "1"}))
    return {kind: {chance.choice(WORDS): value}}


def _search(library: Library, query: dict[str, Any]) -> None:
    """Search, and repeat while OpenSearch is out of memory: clients receive a 503 then."""
    for _ in range(20):
        try:
            library.search(**query)
        except UnavailableError:
            time.sleep(0.2)
        else:
            return
    library.search(**query)


def test_generated_searches_are_answered_or_refused(library: Library) -> None:
    library.put(DOCUMENTS)
    chance = random.Random(SEED)
    answered, slowest = 0, 0.0
    unnamed: list[tuple[dict[str, Any], str]] = []
    for _ in range(SEARCHES):
        request = body(chance)
        begun = time.monotonic()
        try:
            _search(library, request)
            answered += 1
        except ValidationError:
            pass
        except InvalidInputError as refused:
            if not refused.fields:
                unnamed.append((request, str(refused)))
        slowest = max(slowest, time.monotonic() - begun)
    assert unnamed == []
    assert slowest < MAX_SECONDS
    assert answered > SEARCHES // 20
