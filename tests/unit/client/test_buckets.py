"""Buckets seen from the client: listed, registered, imported."""

import httpx
import pytest
from pydantic import JsonValue
from vitrine import ConflictError, Vitrine

from tests.unit.client.fake_server import BUCKET, FakeServer
from tests.unit.client.shell import Shell

JOB = "importBucket.scans-id.1"
RECORD: dict[str, JsonValue] = {
    "bucketId": "scans-id",
    "bucketName": "scans",
    "baseAssetsPrefix": "north/",
    "defaultDatabaseId": "museum",
}


def listed(*records: dict[str, JsonValue]) -> httpx.Response:
    items: list[JsonValue] = list(records)
    return httpx.Response(200, json={"Items": items})


def job(state: str, **more: JsonValue) -> httpx.Response:
    return httpx.Response(200, json={"jobId": JOB, "state": state, "itemsDone": 7, **more})


def importing(server: FakeServer, bucket_id: str = "scans-id") -> None:
    started = {"bucketId": bucket_id, "jobId": JOB, "message": "it has begun"}
    server.fail("POST", f"/admin/buckets/{bucket_id}/import$", httpx.Response(200, json=started))


def test_a_bucket_is_registered_with_what_is_given(client: Vitrine, server: FakeServer) -> None:
    conflict = httpx.Response(409, json={"message": "overlaps", "code": "BucketOverlaps"})
    server.fail("POST", "/admin/buckets$", httpx.Response(200, json=RECORD), conflict)
    found = client.buckets.register("scans", prefix="north", database="museum")
    assert (found.bucket_id, found.default_database_id) == ("scans-id", "museum")
    with pytest.raises(ConflictError, match="overlaps"):
        client.buckets.register("scans")


def test_the_commands_list_and_register_buckets(shell: Shell, server: FakeServer) -> None:
    server.fail("GET", "/buckets$", *(listed(RECORD) for _ in range(2)))
    assert shell.run("buckets", "list") == "scans-id\tscans\tnorth/\tmuseum\n"
    assert shell.json("buckets", "list") == {"items": [RECORD]}
    server.fail("POST", "/admin/buckets$", httpx.Response(200, json=RECORD))
    arguments = ("buckets", "register", "scans", "--prefix", "north", "--database", "museum")
    assert shell.json(*arguments) == RECORD
    assert shell.code == 0


def test_a_bucket_is_imported_by_its_name(shell: Shell, server: FakeServer) -> None:
    server.fail("GET", "/buckets$", listed(RECORD))
    importing(server)
    server.fail("GET", "/jobs/", job("running"), job("done", problems=["loose.txt is left"]))
    assert shell.run("import-bucket", "scans") == f"scans\t{JOB}\tdone\t7\n"
    assert (shell.code, shell.err) == (0, f"job {JOB}\nproblem: loose.txt is left\n")
    assert server.calls("POST", "/admin/buckets$") == 0


def test_a_bucket_that_is_not_registered_is_registered_first(
    shell: Shell, server: FakeServer
) -> None:
    server.fail("POST", "/admin/buckets$", httpx.Response(200, json=RECORD))
    importing(server)
    server.fail("GET", "/jobs/", job("queued"))
    shell.run("import-bucket", "scans", "--prefix", "north/", "--no-wait")
    assert shell.code == 0
    assert server.calls("POST", "/admin/buckets$") == 1


def test_the_deployments_own_bucket_is_imported_by_its_id(shell: Shell, server: FakeServer) -> None:
    importing(server, BUCKET)
    server.fail("GET", "/jobs/", job("done"))
    assert shell.json("import-bucket", BUCKET)["jobId"] == JOB


@pytest.mark.parametrize(
    ("records", "more", "words"),
    [
        (
            [RECORD, {**RECORD, "baseAssetsPrefix": "south/"}],
            (),
            "choose one with --prefix: north/, south/",
        ),
        ([RECORD], ("--database", "other"), "its assets are added to museum"),
    ],
)
def test_an_ambiguous_bucket_is_refused(
    shell: Shell,
    server: FakeServer,
    records: list[dict[str, JsonValue]],
    more: tuple[str, ...],
    words: str,
) -> None:
    server.fail("GET", "/buckets$", listed(*records))
    shell.run("import-bucket", "scans", *more)
    assert shell.code == 2
    assert words in shell.err


@pytest.mark.parametrize("state", ["failed", "cancelled"])
def test_an_import_that_does_not_get_done_fails(
    shell: Shell, server: FakeServer, state: str
) -> None:
    server.fail("GET", "/buckets$", listed(RECORD))
    importing(server)
    server.fail("GET", "/jobs/", job(state, problems=["the bucket is gone"]))
    shell.run("import-bucket", "scans")
    assert shell.code == 1
    assert f"is {state}: the bucket is gone" in shell.err


@pytest.mark.parametrize("turned", [False, True])
def test_the_usual_bucket_is_one_that_holds_assets_at_its_root(
    client: Vitrine, server: FakeServer, turned: bool
) -> None:
    own: dict[str, JsonValue] = {"bucketId": "own", "bucketName": "x", "baseAssetsPrefix": "/"}
    records = [RECORD, own]
    server.fail("GET", "/buckets$", listed(*reversed(records) if turned else records), listed())
    found = client.buckets.usual()
    assert found is not None
    assert found.bucket_id == "own"
    assert client.buckets.usual() is None
