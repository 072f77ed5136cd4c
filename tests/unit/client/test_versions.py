"""Versions of assets from the client: the calls and the commands."""

from typing import Any

import httpx
import pytest
from vitrine import ConflictError, Vitrine

from tests.unit.client.fake_server import BUCKET, FakeServer
from tests.unit.client.shell import Shell

IDS = ("garage", "pump-1")
BASE = "/database/garage/assets/pump-1"


@pytest.fixture(autouse=True)
def pump(server: FakeServer, client: Vitrine) -> None:
    client.databases.create("garage", description="All of it", default_bucket_id=BUCKET)
    client.assets.create("garage", "Old Pump", description="A pump", asset_id="pump-1")


def answers(server: FakeServer, method: str, path: str, *bodies: Any, status: int = 200) -> None:
    server.fail(method, path, *(httpx.Response(status, json=body) for body in bodies))


def made(operation: str = "create", **more: Any) -> dict[str, Any]:
    return {"success": True, "assetId": "pump-1", "operation": operation, **more}


def listed(number: str, **more: Any) -> dict[str, Any]:
    return {"Version": number, "Comment": f"version {number}", "fileCount": 2, **more}


def test_a_version_is_made_with_or_without_naming_files(
    client: Vitrine, server: FakeServer
) -> None:
    answers(server, "POST", "/createVersion$", *[made(assetVersionId="1", skippedFiles=["/a"])] * 2)
    found = client.versions.create(IDS, "the opening", alias="v1")
    assert (found.asset_version_id, found.skipped_files) == ("1", ("/a",))
    client.versions.create(IDS, "some files", files={"/a.glb": "x"})
    assert server.calls("POST", f"^{BASE}/createVersion$") == 2
    answers(server, "POST", "/createVersion$", {"message": "taken", "code": "x"}, status=409)
    with pytest.raises(ConflictError, match="taken"):
        client.versions.create(IDS, "again", alias="v1")


def test_pages_of_a_version_and_of_a_comparison_are_put_together(
    client: Vitrine, server: FakeServer
) -> None:
    file = {"relativeKey": "/a.glb", "versionId": "x"}
    record = {
        "type": "metadata",
        "filePath": "/",
        "metadataKey": "year",
        "metadataValue": "1889",
        "metadataValueType": "string",
    }
    first = {"assetVersionId": "1", "files": [file], "versionedMetadata": [], "NextToken": "t"}
    last = {"assetVersionId": "1", "files": [], "versionedMetadata": [record]}
    answers(server, "GET", "/getVersion/1$", first, last)
    whole = client.versions.get(IDS, "1")
    assert ([f.relative_key for f in whole.files], len(whole.versioned_metadata)) == (["/a.glb"], 1)
    empty: dict[str, Any] = {"added": [], "removed": [], "changed": []}
    page = {"files": {**empty, "added": [file]}, "metadata": empty, "attributes": empty}
    answers(server, "GET", "/compareVersions$", {**page, "NextToken": "t"}, page)
    assert len(list(client.versions.compare(IDS, "0", "1"))) == 2


def test_the_commands_name_assets_and_print_what_was_made(shell: Shell, server: FakeServer) -> None:
    answers(server, "POST", "/createVersion$", made(assetVersionId="1", skippedFiles=["/b"]))
    line = shell.run("versions", "create", "garage", "Old Pump", "-m", "one", "--alias", "v1")
    assert line == "pump-1\t1\tcreate\t\tdone\n"
    assert "skipped: /b" in shell.err
    answers(
        server, "GET", "/getVersions$", {"versions": [listed("1", isCurrent=True), listed("0")]}
    )
    line = shell.run("versions", "list", "garage", "Old Pump")
    assert [row.split("\t")[0] for row in line.splitlines()] == ["1*", "0"]
    file = {"relativeKey": "/a.glb", "versionId": "x", "size": 4, "isPermanentlyDeleted": True}
    answers(server, "GET", "/getVersion/1$", {"assetVersionId": "1", "files": [file]})
    assert shell.run("versions", "show", "garage", "pump-1", "1") == "/a.glb\t4 B\tx\tgone\n"


def test_a_command_that_waits_shows_the_number_that_the_job_took(
    shell: Shell, server: FakeServer
) -> None:
    answers(server, "POST", "/revertAssetVersion/0$", made("revert", jobId="j", jobState="running"))
    done = {"jobId": "j", "state": "done", "result": {"assetVersionId": "7"}}
    answers(server, "GET", "/jobs/", {"jobId": "j", "state": "running"}, done)
    found = shell.json(
        *("versions", "revert", "garage", "pump-1", "0", "-m", "back", "--metadata", "--wait")
    )
    assert (found["assetVersionId"], found["jobState"]) == ("7", "done")


def test_differences_are_lines(shell: Shell, server: FakeServer) -> None:
    empty: dict[str, Any] = {"added": [], "removed": [], "changed": []}
    key = {"filePath": "/", "metadataKey": "year"}
    page = {
        "files": {**empty, "removed": [{"relativeKey": "/a.glb"}]},
        "metadata": {**empty, "changed": [key]},
        "attributes": empty,
    }
    answers(server, "GET", "/compareVersions$", page)
    line = shell.run("versions", "compare", "garage", "pump-1", "0", "1")
    assert line == "removed\tfile\t/a.glb\t\nchanged\tmetadata\t/\tyear\n"


def test_a_version_is_changed_archived_and_restored(shell: Shell, server: FakeServer) -> None:
    base = "/assetversions/1"
    answers(server, "PUT", f"{base}$", made("update", assetVersionId="1"))
    for verb in ("archive", "unarchive"):
        answers(server, "POST", f"{base}/{verb}$", made(verb, assetVersionId="1"))
    assert shell.run("versions", "update", "garage", "pump-1", "1", "--alias", "") != ""
    assert shell.run("versions", "archive", "garage", "pump-1", "1", "--yes") != ""
    assert "unarchive" in shell.run("versions", "unarchive", "garage", "pump-1", "1")
    shell.run("versions", "update", "garage", "pump-1", "1")
    assert shell.code == 2


def test_an_absent_version_is_not_found(shell: Shell, server: FakeServer) -> None:
    answers(server, "GET", "/getVersion/9$", {"message": "none", "code": "x"}, status=404)
    shell.run("versions", "show", "garage", "pump-1", "9")
    assert shell.code == 3
