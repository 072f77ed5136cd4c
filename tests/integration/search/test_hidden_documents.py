"""Documents that a search must not show: hidden ones, and those of inherited conditions."""

import string
from collections.abc import Iterator
from typing import Any

import pytest

from backend.core.search_engine import JsonObject
from backend.domains.access.policy.model import parse_rule
from backend.search.query import inheritance
from backend.search.query.models import SearchBody, SimpleSearchBody, SuggestQuery
from backend.search.query.service import SearchService
from tests.factories.policies import stored
from tests.integration.search.conftest import CALLER, Library, asset
from tests.integration.search.test_permissions import service_of, under

WORD = "helical"
PLACE: JsonObject = {"type": "Point", "coordinates": [8.5, 47.4]}
AREA = {"point": {"lat": 47, "lon": 8, "radiusMeters": 1e5}}


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
        "geo_MD_location": PLACE,
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
    *({"query": text, "foldFiles": True} for text in ("pumps", "heli*")),
    {"query": WORD, "foldFiles": True, "fileCounts": True},
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
    *({"geoSearch": {**AREA, "relation": name}} for name in ("intersects", "disjoint")),
    {"geoSearch": AREA, "foldFiles": True, "fileCounts": True},
)
NAMED: tuple[JsonObject, ...] = (
    {"query": WORD},
    {"assetName": "heli*"},
    {"metadataValue": "elica"},
    {"tags": ["heli*", "pumpe"]},
    {"geoSearch": AREA},
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


OAK = {"key": "material", "op": "eq", "value": "oak"}
LARGE = {"key": "fact_triangles", "op": "gt", "value": 1000}


def pair(key: str, text: str) -> JsonObject:
    return {"key": key, "string": text}


def file(owner: str, name: str, triangles: int, **fields: Any) -> JsonObject:
    return {
        "_rectype": "file",
        "str_databaseid": "museum",
        "str_assetid": owner,
        "str_assetname": owner,
        "str_key": f"{owner}/{name}",
        "str_fileext": ".glb",
        "num_filesize": 500,
        "attributes": [{"key": "fact_triangles", "number": triangles}],
        **fields,
    }


DOCUMENTS: dict[str, JsonObject] = {
    "chair": asset("chair", [pair("material", "oak")], str_description="carved by hand"),
    "chair:low": file("chair", "low.glb", 500),
    "chair:high": file("chair", "high.glb", 5000, metadata=[pair("finish", "wax")]),
    "desk": asset("desk", [pair("material", "oak")]),
    "desk:low": file("desk", "low.glb", 500),
    "gear": asset("gear", [pair("material", "steel")]),
    "gear:high": file("gear", "high.glb", 5000),
    # The value is one of the file.
    "lamp": asset("lamp"),
    "lamp:shade": file("lamp", "shade.glb", 5000, metadata=[pair("material", "oak")]),
    "lamp:foot": file("lamp", "foot.glb", 5000),
}


@pytest.fixture
def museum(library: Library) -> Library:
    library.put(DOCUMENTS)
    return library


def search_folded(library: Library, **body: Any) -> dict[str, list[str]]:
    """The found assets, and the files of each."""
    reply = library.search(foldFiles=True, aggregations=False, **body)
    hits = reply["hits"]["hits"]
    assert len(hits) == reply["assetsFound"]
    return {hit["_id"]: [file["_id"] for file in hit["files"]] for hit in hits}


def test_metadata_of_an_asset_and_facts_of_its_files_are_combined(museum: Library) -> None:
    both = {"chair": ["chair:high"], "lamp": ["lamp:shade"]}
    assert search_folded(museum, metadataFilters=[OAK, LARGE]) == both
    assert search_folded(museum, metadataQuery="material:oak", metadataFilters=[LARGE]) == both
    query = {"query_string": {"query": "MD_material:oak AND fact_triangles:>1000"}}
    assert search_folded(museum, filters=[query]) == both
    choice = {"facet": "metadata.material", "values": ["oak"]}
    assert search_folded(museum, facetChoices=[choice], metadataFilters=[LARGE]) == both
    # One value is of the asset, the other of the file.
    wax = {"key": "finish", "op": "eq", "value": "wax"}
    assert search_folded(museum, metadataFilters=[OAK, wax]) == {"chair": ["chair:high"]}
    # Fields of assets only are inherited like metadata.
    carved = {"query_string": {"query": "str_description:carved"}}
    assert search_folded(museum, filters=[carved], metadataFilters=[LARGE]) == {
        "chair": ["chair:high"]
    }


def test_a_negated_condition_holds_if_neither_has_the_value(museum: Library) -> None:
    none = {"key": "material", "op": "exists", "value": False}
    assert search_folded(museum, metadataFilters=[none, LARGE]) == {"lamp": ["lamp:foot"]}
    query = {"query_string": {"query": "NOT MD_material:oak AND fact_triangles:>1000"}}
    assert search_folded(museum, filters=[query]) == {"gear": ["gear:high"], "lamp": ["lamp:foot"]}


def test_facets_of_files_are_counted_with_a_condition_on_assets_alone(museum: Library) -> None:
    reply = museum.search(
        foldFiles=True,
        metadataFilters=[OAK],
        metadataFacets=[{"key": "fact_triangles", "ranges": [{"to": 1000}, {"from": 1000}]}],
        histograms=["num_filesize"],
    )
    assert reply["assetsFound"] == 3
    (extension,) = reply["aggregations"]["str_fileext"]["buckets"]
    assert (extension["key"], extension["doc_count"], extension["assets"]) == (".glb", 4, 3)
    assert [bucket["assets"] for bucket in reply["metadataFacets"][0]["ranges"]] == [2, 2]
    assert sum(bucket["documents"] for bucket in reply["histograms"][0]["buckets"]) == 4
    assert museum.ids(metadataFilters=[OAK]) == {"chair", "desk", "lamp:shade"}  # not folded
    assert museum.requests_of(foldFiles=True, metadataFilters=[OAK]) == 3
    assert museum.requests_of(foldFiles=True, metadataFilters=[LARGE]) == 2


def test_hidden_and_archived_assets_lend_no_value(museum: Library) -> None:
    search = under(museum, [parse_rule(stored("asset", ("databaseId", "equals", "museum")))])
    before = search(foldFiles=True, metadataFilters=[OAK, LARGE])["hits"]
    museum.put(
        {
            # A file that rules still show, because documents are indexed one after the other.
            "secret": asset("secret", [pair("material", "oak")], str_databaseid="vault"),
            "secret:high": file("secret", "high.glb", 5000),
            "retired": asset("retired", [pair("material", "oak")], bool_archived=True),
            "retired:high": file("retired", "high.glb", 5000),
        }
    )
    after = search(foldFiles=True, metadataFilters=[OAK, LARGE])["hits"]
    assert (after["total"], len(after["hits"])) == (before["total"], 2)


def test_a_condition_that_too_many_assets_meet_is_reported(
    museum: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "filesLeftOut" not in museum.search(foldFiles=True, metadataFilters=[OAK])
    monkeypatch.setattr(inheritance, "MOST_ASSETS", 1)
    reply = museum.search(foldFiles=True, metadataFilters=[OAK, LARGE])
    assert reply["assetsFound"] == 1  # the file with a value of its own
    assert "More than 1 asset" in reply["filesLeftOut"]
