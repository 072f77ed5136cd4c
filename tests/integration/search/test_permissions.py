"""A search under random rules finds exactly the documents that a direct evaluation allows.

It takes some 10 seconds: OpenSearch must agree under 100 random policies, and drawing them takes
longer than searching.
"""

import json
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from backend.core.identity import Identity
from backend.core.objects import ObjectVersion
from backend.core.search_engine import DocumentWrite, JsonObject
from backend.domains.access.policy.model import Fields, Rule, parse_rule
from backend.domains.access.policy.search_filter import MAX_CLAUSES as RULE_CLAUSES
from backend.domains.access.policy.search_filter import search_filter
from backend.domains.buckets.models import AssetBucket
from backend.search.indexing.projections import AssetSource, FileSource, project
from backend.search.query.models import SearchBody
from backend.search.query.plan import to_opensearch
from backend.search.query.queries import plan_search
from backend.search.query.service import SearchService
from backend.search.query.words import MAX_WORDS
from backend.spec.analysis import STRETCH_CHARS, STRETCH_END, STRETCH_STAND_IN
from backend.spec.search_indexes import (
    ASSET_INDEX,
    CUT_INTO,
    FILE_INDEX,
)
from tests.amounts import amount
from tests.factories.policies import WORDS, everything, read_plainly, rules, stored
from tests.factories.search import asset_row
from tests.integration.search.conftest import CALLER, Library

POLICIES = amount("SEARCH_POLICIES")
"""Random policies, each on all of the documents."""

ASSETS = 40
BUCKET = AssetBucket(bucket_id="b1", bucket_name="bucket", base_assets_prefix="/")


@dataclass
class RulesAuthorization:
    """The permission port of a user with these rules."""

    rules: Sequence[Rule] = ()

    def search_filter(self, caller: Identity) -> JsonObject | None:
        return search_filter(self.rules)


def shelves() -> tuple[dict[str, JsonObject], dict[str, Fields]]:
    """Assets with similar names, with one file each, and their fields in rules."""
    chance = random.Random(6)
    documents: dict[str, JsonObject] = {}
    seen: dict[str, Fields] = {}

    def text() -> str:
        return "".join(chance.choices(WORDS, k=chance.choice((1, 1, 2, 3))))

    for number in range(ASSETS):
        row = asset_row(
            f"a{number}",
            database_id=text(),
            assetName=text(),
            assetType=chance.choice(("", "none", ".glb", "folder", text())),
            tags=[text() for _ in range(chance.choice((0, 1, 1, 2, 3)))],
        )
        version = ObjectVersion(
            key=f"a{number}/file.txt",
            version_id="v1",
            is_latest=True,
            last_modified=datetime(2026, 3, 1, tzinfo=UTC),
            size=7,
            etag="abc",
        )
        fields: Fields = {
            **{name: str(row[name]) for name in ("databaseId", "assetName", "assetType")},
            "tags": tuple(row["tags"]),
        }
        for name, source in (
            (f"asset-{number}", AssetSource(row, BUCKET)),
            (f"file-{number}", FileSource(row, BUCKET, version, version)),
        ):
            documents[name] = project(source).body
            seen[name] = fields
    return documents, seen


def service_of(library: Library, policy: Sequence[Rule]) -> SearchService:
    """The search service for a user with these rules."""
    service = library.service
    return SearchService(
        service.engine,
        service.state,
        RulesAuthorization(policy),
        service.cursors,
        service.freshness,
        service.previews,
    )


def under(library: Library, policy: Sequence[Rule]) -> Callable[..., JsonObject]:
    """The search of a user with these rules."""
    mine = service_of(library, policy)

    def search(**body: Any) -> JsonObject:
        return mine.search(CALLER, SearchBody.model_validate(body))

    return search


def hits(reply: Mapping[str, Any]) -> list[str]:
    return [hit["_id"] for hit in reply["hits"]["hits"]]


def facet_counts(reply: Mapping[str, Any], facet: str, buckets: str) -> dict[str, int]:
    rows = reply["aggregations"][facet][buckets]["buckets"]
    return {row["key"]: row["doc_count"] for row in rows}


def test_a_search_finds_exactly_the_visible_documents(library: Library) -> None:
    documents, seen = shelves()
    library.put(documents)

    @hypothesis_settings(
        max_examples=POLICIES,
        deadline=None,
        database=None,
        derandomize=POLICIES == 300,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(st.lists(rules(["asset"]), min_size=1, max_size=15))
    def holds(policy: list[Rule]) -> None:
        wanted = {
            name for name, fields in seen.items() if read_plainly(policy, "GET", "asset", fields)
        }
        search = under(library, policy)
        reply = search(size=200, aggregations=True, includeHighlights=False)
        assert set(hits(reply)) == wanted
        assert reply["hits"]["total"]["value"] == len(wanted)
        databases = Counter(seen[name]["databaseId"] for name in wanted)
        assert facet_counts(reply, "str_databaseid", "filtered_databaseid") == databases
        tags = Counter(tag for name in wanted for tag in set(seen[name]["tags"]))
        assert facet_counts(reply, "list_tags", "filtered_tags") == tags

    holds()


def test_an_index_that_was_made_before_stretches_shows_nothing_to_who_sees_not_all(
    library: Library,
) -> None:
    engine, body = library.engine, _document(asset_row("a1", assetName="open"))
    result = dict(ASSET_INDEX.mapping["properties"])
    del result[CUT_INTO]
    denial = stored("asset", ("assetName", "contains", "secret"), effect="deny")
    visible = search_filter([parse_rule(everything("asset")), parse_rule(denial)])
    assert visible is not None
    for name, properties, expected in (
        ("cut-before", result, []),
        ("cut-now", ASSET_INDEX.mapping["properties"], ["a1"]),
    ):
        mapping = {**ASSET_INDEX.mapping, "properties": properties}
        engine.create_index(name, mapping=mapping, settings=ASSET_INDEX.settings)
        engine.bulk([DocumentWrite(name, "a1", 1, json.dumps(body))])
        engine.refresh((name,))
        request = to_opensearch(plan_search(SearchBody(), visible))
        assert hits(engine.search((name,), request)) == expected


def test_totals_pages_facets_and_cursors_count_nothing_that_is_hidden(library: Library) -> None:
    documents, seen = shelves()
    library.put(documents)
    policy = [
        parse_rule(everything("asset")),
        parse_rule(stored("asset", ("assetName", "contains", "a"), effect="deny")),
    ]
    wanted = {name for name, fields in seen.items() if "a" not in fields["assetName"]}
    assert 20 < len(wanted) < len(seen)
    search = under(library, policy)
    pages = [hits(search(size=7, **{"from": start})) for start in range(0, len(wanted), 7)]
    assert [len(page) for page in pages[:-1]] == [7] * (len(pages) - 1)
    assert {name for page in pages for name in page} == wanted
    assert _by_cursor(search) == wanted
    tags = Counter(tag for name in wanted for tag in set(seen[name]["tags"]))
    assert facet_counts(search(size=0, aggregations=True), "list_tags", "filtered_tags") == tags


def _by_cursor(search: Callable[..., JsonObject]) -> set[str]:
    names: set[str] = set()
    after: str | None = ""
    while after is not None:
        reply = search(size=7, after=after)
        assert not names & set(hits(reply))
        names |= set(hits(reply))
        after = reply.get("after")
    return names


def test_a_search_answers_the_same_whatever_is_hidden(library: Library) -> None:
    documents, _ = shelves()
    shown = [parse_rule(stored("asset", ("databaseId", "equals", "shown")))]
    rows = [
        asset_row(f"a{n}", database_id="shown", assetName=name, description=text, tags=["red"])
        for n, (name, text) in enumerate(
            [("rare", "common"), ("common", "rare"), ("common rare", "x"), ("x", "rare common y")]
        )
    ]
    library.put({f"shown-{n}": _document(row) for n, row in enumerate(rows)})
    search = under(library, shown)
    requests: list[dict[str, Any]] = [
        {"query": "rare"},
        {"query": "common", "aggregations": True},
        {"query": "rare | common", "includeHighlights": True},
        {"query": "comm*"},
        {"query": "rare", "sort": [{"_score": "asc"}]},
        {"metadataQuery": "key:value", "query": "common"},
    ]
    before = [_timeless(search(**body)) for body in requests]
    assert before[0]["hits"]["hits"][0]["_id"] == "shown-0"  # the name is just the text
    hidden = [
        asset_row(f"h{n}", database_id="hidden", assetName="rare", description="rare " * n)
        for n in range(50)
    ]
    library.put(documents | {f"hidden-{n}": _document(row) for n, row in enumerate(hidden)})
    assert [_timeless(search(**body)) for body in requests] == before


def test_a_search_with_the_most_rules_can_have_the_most_words(
    library: Library,
) -> None:
    text = " ".join(f"word{number}" for number in range(MAX_WORDS))
    row = asset_row("a1", description=text, tags=["of <7> and others"])
    library.put({"asset-1": _document(row)})
    contained = [("tags", "contains", f"<{number}>") for number in range(RULE_CLAUSES)]
    search = under(library, [parse_rule(stored("asset", condition)) for condition in contained])
    assert hits(search(query=text)) == ["asset-1"]
    assert search(query=text)["withAllWords"] == 1
    assert search(query=f"{text[:-1]}x")["withAllWords"] == 0


def test_highlights_mark_words_of_the_request_and_not_of_rules(library: Library) -> None:
    row = asset_row("a1", database_id="shown", assetName="rare file", tags=["asset"])
    library.put({"asset-1": _document(row)})
    search = under(library, [parse_rule(stored("asset", ("databaseId", "equals", "shown")))])

    def highlights_of(**body: Any) -> JsonObject:
        [hit] = search(includeHighlights=True, **body)["hits"]["hits"]
        return hit.get("highlight", {})

    assert highlights_of() == {}
    assert highlights_of(query="rare") == {"str_assetname": ["<em>rare</em> file"]}
    in_database = {"query_string": {"query": "str_databaseid:shown"}}
    assert highlights_of(filters=[in_database]) == {"str_databaseid": ["<em>shown</em>"]}


def _document(row: Mapping[str, Any]) -> JsonObject:
    return project(AssetSource(row, BUCKET)).body


def _timeless(reply: JsonObject) -> JsonObject:
    return {name: part for name, part in reply.items() if name != "took"}


def test_mappings_name_no_metadata_of_hidden_documents(library: Library) -> None:
    place = {"lat": 1.0, "lon": 2.0}
    for name in ("shown", "hidden"):
        row = asset_row(name, database_id=name)
        library.put({name: {**_document(row), f"gp_of {name}": place, f"gs_of {name}": "there"}})
    some = [parse_rule(stored("asset", ("databaseId", "equals", "shown")))]
    for policy, result in (
        (some, {"gp_of shown", "gs_of shown"}),
        ([], set[str]()),
        (
            [parse_rule(everything("asset"))],
            {"gp_of shown", "gs_of shown", "gp_of hidden", "gs_of hidden"},
        ),
    ):
        mappings = service_of(library, policy).get_mappings(CALLER)
        properties = mappings["asset_index"]["mappings"]["properties"]
        assert {name for name in properties if name.startswith(("gp_", "gs_"))} == result
        assert ASSET_INDEX.mapping["properties"].keys() <= properties.keys()
        assert (
            mappings["file_index"]["mappings"]["properties"].keys()
            == FILE_INDEX.mapping["properties"].keys()
        )


def test_words_of_hidden_documents_are_not_counted_in_explanations(library: Library) -> None:
    library.put(shelves()[0])
    some = [parse_rule(stored("asset", ("assetType", "equals", ".glb")))]
    for policy, has_details in (([parse_rule(everything("asset"))], True), (some, False)):
        reply = under(library, policy)(query="file", explainResults=True)
        assert reply["hits"]["hits"]
        for hit in reply["hits"]["hits"]:
            assert hit["explanation"]["score_breakdown"]["total_score"] > 0
            assert ("details" in hit["explanation"]) == has_details


def test_a_document_that_rules_cannot_evaluate_is_never_found(library: Library) -> None:
    row = asset_row("a1", tags=["secret" + "x" * 8000])
    library.put({"asset-1": project(AssetSource(row, BUCKET)).body})
    denied = parse_rule(stored("asset", ("tags", "starts_with", "secret"), effect="deny"))
    for policy in ([parse_rule(everything("asset"))], [parse_rule(everything("asset")), denied]):
        assert hits(under(library, policy)()) == []


@pytest.mark.parametrize("operator", ["contains", "does_not_contain", "ends_with"])
def test_opensearch_finds_parts_of_names_wherever_they_are(library: Library, operator: str) -> None:
    long = "".join(chr(ord("a") + n) for n in range(STRETCH_CHARS + 1))
    values = [
        *("pump", "PUMP", "p", "😀", "\n", "  ", long[: STRETCH_CHARS - 1], long[:STRETCH_CHARS]),
        *(
            long,
            STRETCH_END,
            "e" + STRETCH_END,
            STRETCH_STAND_IN,
            "e" + STRETCH_STAND_IN,
            "e\u0301",
        ),
    ]
    texts = [
        *values,
        *(f"<{v}" for v in values),
        *(f"{v}>" for v in values),
        "e" + STRETCH_END * 30,
    ]
    rows = [asset_row(f"a{n}", assetName="x", tags=[text, "y"]) for n, text in enumerate(texts)]
    library.put({str(row["assetId"]): _document(row) for row in rows})
    for value in values:
        policy = [parse_rule(stored("asset", ("tags", operator, value)))]
        wanted = {
            row["assetId"]
            for row in rows
            if read_plainly(policy, "GET", "asset", {"tags": tuple(row["tags"])})
        }
        assert set(hits(under(library, policy)(size=200))) == wanted, value


def test_hundreds_of_rules_with_thousands_of_values_are_one_search(library: Library) -> None:
    documents, seen = shelves()
    library.put(documents)
    many = [
        stored(
            "asset", ("assetName", "is_one_of", [f"n{n}-{k}" for k in range(1000)]), effect="deny"
        )
        for n in range(10)
    ]
    many += [
        stored("asset", ("tags", "contains", f"hidden {n}"), effect="deny") for n in range(300)
    ]
    policy = [parse_rule(policy) for policy in (everything("asset"), *many)]
    assert set(hits(under(library, policy)(size=200))) == set(seen)
