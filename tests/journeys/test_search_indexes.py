"""The indexes are checked, repaired and rebuilt while others write and search.

It takes over 20 seconds: a check, a repair and a reindex process everything that other files wrote
to the shared runtime.
"""

from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.journeys.runtime import Api, Runtime, noise, wait_until

CONSISTENCY, REPAIR, REINDEX = (
    f"/admin/search/{name}" for name in ("consistency", "repair", "reindex")
)
SECONDS = 600


def ended(api: Api, job_id: str) -> dict[str, Any]:
    """A job when it has ended, in any state."""
    found: list[dict[str, Any]] = [{}]

    def has_ended() -> bool:
        found[0] = api.ok("GET", f"/jobs/{job_id}")
        return found[0]["state"] in {"done", "failed", "cancelled"}

    wait_until(has_ended, seconds=SECONDS)
    return found[0]


def checked(api: Api) -> dict[str, Any]:
    """The report of a check that begins now."""
    while not (begun := api.ok("POST", CONSISTENCY))["started"]:
        ended(api, begun["jobId"])
    assert ended(api, begun["jobId"])["state"] == "done"
    return api.ok("GET", CONSISTENCY)["report"]


def drift(api: Api, database: str) -> set[tuple[str, str]]:
    """The differences in a database, by class; this test ignores those of other databases."""
    examples = checked(api)["examples"]
    return {(one["drift"], one["documentId"]) for one in examples if one["databaseId"] == database}


def spoil(runtime: Runtime, method: str, index: str, document_id: str, body: Any = None) -> None:
    """Change an index without the product."""
    url = f"{runtime.endpoint['opensearch']}/{index}/_doc/{document_id}"
    answer = httpx.request(method, url, params={"refresh": "true"}, json=body, timeout=30)
    answer.raise_for_status()


@pytest.fixture
def pump(runtime: Runtime, api: Api, database: str) -> str:
    """An asset with two files, which is indexed."""
    asset = api.new_asset(database, "Pump", assetId=f"pump-{uuid4().hex[:8]}")
    api.upload(database, asset, {f"/{n}.stl": [noise(20, f"{n}")] for n in range(2)})
    runtime.drain()
    return asset


def reads(api: Api) -> dict[str, str]:
    return {one["alias"]: one["reads"] for one in api.ok("GET", CONSISTENCY)["indexes"]}


def test_missing_stale_and_extra_documents_are_reported_and_repaired(
    runtime: Runtime, api: Api, database: str, pump: str
) -> None:
    index = reads(api)
    ids = {"str_databaseid": database, "str_assetid": "nobody"}
    spoil(runtime, "DELETE", index["assets"], f"{database}:{pump}")
    extra = {**ids, "_rectype": "asset", "hash": "x", "rev": 1}
    spoil(runtime, "PUT", index["assets"], f"{database}:nobody", extra)
    assert drift(api, database) == {
        ("missing", f"{database}:{pump}"),
        ("extra", f"{database}:nobody"),
    }
    assert api.ok("GET", CONSISTENCY)["corrections"]
    job = ended(api, api.ok("POST", REPAIR, {"databaseId": database})["jobId"])
    assert (job["state"], job["result"]["repaired"]) == ("done", 2)
    runtime.drain()
    assert drift(api, database) == set()


def test_a_reindex_runs_during_writes_and_searches_and_can_be_undone(
    runtime: Runtime, api: Api, database: str, pump: str
) -> None:
    before = reads(api)
    taken_back = api.ok("POST", REINDEX)["jobId"]
    begun = api.ok("POST", REINDEX)
    assert (begun["started"], begun["jobId"]) == (False, taken_back)
    api.ok("POST", f"/jobs/{taken_back}/cancel")
    assert ended(api, taken_back)["state"] == "cancelled"
    assert reads(api) == before

    job_id = api.ok("POST", REINDEX)["jobId"]
    made = 0
    while api.ok("GET", f"/jobs/{job_id}")["state"] in {"queued", "running"}:
        assert len(api.search(query="pump", databaseId=database, entityTypes=["asset"])) == 1
        api.ok("PUT", f"/database/{database}/assets/{pump}", {"description": f"round {made}"})
        made += 1
    assert api.ok("GET", f"/jobs/{job_id}")["state"] == "done"
    after = reads(api)
    assert set(after.values()).isdisjoint(before.values())
    runtime.drain()
    assert drift(api, database) == set()
    (found,) = api.search(query="pump", databaseId=database, entityTypes=["asset"])
    assert found["str_description"] == f"round {made - 1}"
    names = set(httpx.get(f"{runtime.endpoint['opensearch']}/_aliases", timeout=30).json())
    assert not names & set(before.values())
    assert set(after.values()) <= names
