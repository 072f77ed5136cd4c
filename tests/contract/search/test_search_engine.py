"""The contract of the port of search, on all supported engines.

The fake keeps documents under external versions and does not search; it accepts any document (the
real one refuses those that do not match its mapping). Results of queries are tested on OpenSearch
alone.
"""

import json
from dataclasses import replace

import pytest
from opensearchpy import OpenSearch

from backend.aws.search_engine import OpenSearchEngine
from backend.core.errors import InvalidInputError, UnavailableError
from backend.core.search_engine import DocumentRemoval, DocumentResult, DocumentWrite, Stretch
from backend.search.indexing.indexes import differences
from backend.spec.search_indexes import ASSET_INDEX, BREAKERS
from tests.contract.search.conftest import Cluster
from tests.fakes.search_engine import MemorySearchEngine


def write(cluster: Cluster, name: str, version: int, **fields: object) -> DocumentResult:
    (result,) = cluster.engine.bulk([wanted(cluster, name, version, **fields)])
    return result


def wanted(cluster: Cluster, name: str, version: int, **fields: object) -> DocumentWrite:
    body = {"_rectype": "asset", **fields}
    return DocumentWrite(cluster.index, name, version, json.dumps(body))


def test_a_document_is_kept_as_it_was_written(cluster: Cluster) -> None:
    result = write(cluster, "db:ä😀", 7, str_assetname="x", MD_={"a": "b"}, rev=7)
    assert (result.status, result.index, result.id) == (201, cluster.index, "db:ä😀")
    document = cluster.document("db:ä😀")
    assert document == {"_rectype": "asset", "str_assetname": "x", "MD_": {"a": "b"}, "rev": 7}
    assert cluster.document("db:none") is None


def test_a_higher_version_takes_the_place_of_the_whole_document(cluster: Cluster) -> None:
    write(cluster, "a", 7, str_assetname="old", str_description="gone")
    assert write(cluster, "a", 8, str_assetname="new").status == 200
    assert cluster.document("a") == {"_rectype": "asset", "str_assetname": "new"}


@pytest.mark.parametrize("version", [1, 6, 7])
def test_the_same_or_a_lower_version_is_a_conflict_that_shows_the_stored_one(
    cluster: Cluster, version: int
) -> None:
    write(cluster, "current version [99]", 7, str_assetname="first")
    result = write(cluster, "current version [99]", version, str_assetname="second")
    assert (result.status, result.current_version) == (409, 7)
    assert cluster.document("current version [99]") == {
        "_rectype": "asset",
        "str_assetname": "first",
    }


def test_versions_are_as_large_as_tickets(cluster: Cluster) -> None:
    ticket = 1_800_000_000_000_000
    assert write(cluster, "a", ticket).status == 201
    assert write(cluster, "a", ticket - 1).status == 409
    assert write(cluster, "a", ticket + 1).status == 200


def test_a_tombstone_keeps_its_version(cluster: Cluster) -> None:
    write(cluster, "a", 5, str_assetname="x")
    write(cluster, "a", 9, deleted=True)
    assert write(cluster, "a", 8, str_assetname="late").status == 409
    assert cluster.document("a") == {"_rectype": "asset", "deleted": True}


def test_results_are_in_the_order_of_the_writes_and_each_has_its_own(cluster: Cluster) -> None:
    write(cluster, "b", 5)
    results = cluster.engine.bulk(
        [wanted(cluster, "a", 4), wanted(cluster, "b", 4), wanted(cluster, "c", 4)]
    )
    assert [(result.id, result.status) for result in results] == [
        ("a", 201),
        ("b", 409),
        ("c", 201),
    ]


def test_an_index_that_is_not_there_is_reported_and_not_made(cluster: Cluster) -> None:
    write_elsewhere = DocumentWrite("contract-none", "a", 1, "{}")
    (result,) = cluster.engine.bulk([write_elsewhere])
    assert result.status == 404
    (again,) = cluster.engine.bulk([write_elsewhere])
    assert again.status == 404


def test_an_id_of_512_bytes_is_taken_and_a_longer_one_is_refused(cluster: Cluster) -> None:
    assert write(cluster, "é" * 256, 1).status == 201
    with pytest.raises(InvalidInputError):
        write(cluster, "é" * 256 + "x", 1)


def test_an_index_is_created_once_and_is_mapped_as_requested(cluster: Cluster) -> None:
    assert differences(cluster.engine, cluster.index, ASSET_INDEX) == []
    assert not cluster.engine.create_index(
        cluster.index, mapping=ASSET_INDEX.mapping, settings=ASSET_INDEX.settings
    )
    properties = cluster.engine.mapping(cluster.index)["properties"]
    assert properties["MD_"]["type"] == "flat_object"


@pytest.mark.usefixtures("aliases")
def test_an_alias_is_moved_in_one_step(cluster: Cluster) -> None:
    alias = cluster.index.removesuffix("-1")
    other = f"{alias}-2"
    cluster.engine.create_index(other, mapping=ASSET_INDEX.mapping, settings=ASSET_INDEX.settings)
    for index in (cluster.index, cluster.index, other):
        cluster.engine.point_alias(alias, index)
    if cluster.name == "OpenSearch":  # the fake's aliases can only be read
        assert list(_client(cluster).indices.get_alias(name=alias)) == [other]


def test_what_was_written_is_found_after_a_refresh(cluster: Cluster) -> None:
    write(cluster, "a", 1, str_assetname="pump")
    cluster.engine.refresh([cluster.index])
    query = {"query": {"match": {"str_assetname": "pump"}}}
    if cluster.name == "memory":
        with pytest.raises(NotImplementedError):
            cluster.engine.search([cluster.index], query)
        return
    hits = cluster.engine.search([cluster.index], query)["hits"]["hits"]
    assert [hit["_id"] for hit in hits] == ["a"]


def test_a_query_that_is_none_is_refused(cluster: Cluster) -> None:
    if cluster.name == "OpenSearch":
        with pytest.raises(InvalidInputError):
            cluster.engine.search([cluster.index], {"query": {"nonsense": {}}})


def test_a_document_that_the_mapping_does_not_take_fails_alone(cluster: Cluster) -> None:
    results = cluster.engine.bulk(
        [
            wanted(cluster, "good", 1),
            wanted(cluster, "number", 1, num_filesize="no number"),
            wanted(cluster, "unknown", 1, nobody_knows=1),
            wanted(cluster, "also good", 1),
        ]
    )
    expected = [201, 400, 400, 201] if cluster.name == "OpenSearch" else [201] * 4
    assert [result.status for result in results] == expected


def test_a_cluster_that_does_not_answer_is_an_outage() -> None:
    nowhere = OpenSearchEngine(OpenSearch("http://127.0.0.1:9", timeout=1, max_retries=0))
    for call in (
        lambda: nowhere.bulk([DocumentWrite("i", "a", 1, "{}")]),
        lambda: nowhere.search(["i"], {}),
        lambda: nowhere.refresh(["i"]),
        lambda: nowhere.mapping("i"),
    ):
        with pytest.raises(UnavailableError):
            call()


def _client(cluster: Cluster) -> OpenSearch:
    assert isinstance(cluster.engine, OpenSearchEngine)
    return cluster.engine.client


def test_a_document_is_removed_up_to_its_version(cluster: Cluster) -> None:
    for name, version in (("same", 7), ("lower", 6), ("higher", 8)):
        assert write(cluster, name, version).status == 201
    names = ("same", "lower", "higher", "none")
    results = cluster.engine.remove([DocumentRemoval(cluster.index, name, 7) for name in names])
    assert [(result.id, result.status) for result in results] == list(
        zip(names, (200, 200, 409, 404), strict=True)
    )
    assert [cluster.document(name) is None for name in names] == [True, True, False, True]
    assert write(cluster, "lower", 8).status == 201


def test_a_stretch_continues_where_it_ended_in_the_order_of_bytes(cluster: Cluster) -> None:
    names = ["b", "a", "a.b", "a-b", "ä", "B", "\U0001f98a", "\uff5a"]
    for number, name in enumerate(names):
        write(cluster, f"d:{name}", number + 1, str_databaseid="d", str_assetid=name, hash="h")
    write(cluster, "d:gone", 99, str_databaseid="d", str_assetid="gone", deleted=True)
    write(cluster, "e:a", 99, str_databaseid="e", str_assetid="a", hash="h")
    cluster.engine.refresh([cluster.index])
    wanted = Stretch(order=("str_assetid",), equal={"str_databaseid": "d"}, limit=3)
    result: list[str] = []
    while page := cluster.engine.stretch(cluster.index, wanted):
        result += (item.body["str_assetid"] for item in page)
        wanted = replace(wanted, above=page[-1].place)
    assert result == sorted(names)
    first = cluster.engine.stretch(cluster.index, replace(wanted, above=None, up_to="a"))
    assert [item.id for item in first] == ["d:B", "d:a"]
    assert first[0].body["hash"] == "h"


@pytest.mark.usefixtures("aliases")
def test_an_index_is_dropped_once(cluster: Cluster) -> None:
    assert cluster.engine.drop_index(cluster.index)
    assert not cluster.engine.drop_index(cluster.index)


def test_an_index_is_tuned_as_declared(cluster: Cluster) -> None:
    assert cluster.engine.tune_index(cluster.index, ASSET_INDEX.tuning) is None
    if cluster.name == "memory":
        return
    reply = _client(cluster).indices.get_settings(index=cluster.index)
    index = reply[cluster.index]["settings"]["index"]
    assert index["merge"]["policy"]["segments_per_tier"].startswith("4")
    assert index["search"]["slowlog"]["threshold"]["query"]["warn"] == "2s"


def test_settings_that_a_service_refuses_are_a_reason_and_no_error(cluster: Cluster) -> None:
    if isinstance(cluster.engine, MemorySearchEngine):
        cluster.engine.refusal = "unknown setting [index.unknown]"
    unknown = {"index": {"unknown": "1"}}
    limits = {"indices.breaker.unknown.limit": "1%"}
    for reason in (
        cluster.engine.tune_index(cluster.index, unknown),
        cluster.engine.limit_memory(limits),
    ):
        assert reason
        # The engine's own text is in the log only.
        assert cluster.name == "memory" or "unknown" not in reason


def test_memory_is_limited_by_breakers_of_the_cluster(cluster: Cluster) -> None:
    assert cluster.engine.limit_memory(BREAKERS) is None
    if cluster.name == "memory":
        return
    breakers = _client(cluster).nodes.stats(metric="breaker")["nodes"]
    (node,) = breakers.values()
    heap = node["breakers"]["parent"]["limit_size_in_bytes"] / 0.95
    for name, limit in BREAKERS.items():
        result = node["breakers"][name.split(".")[2]]["limit_size_in_bytes"]
        assert result == pytest.approx(heap * int(limit[:-1]) / 100, rel=0.01)
