"""Archiving, restoring and deleting from the client: the calls and the commands."""

import httpx
import pytest
from vitrine import ConflictError, UnreachableError, Vitrine

from tests.unit.client.fake_server import BUCKET, FakeServer
from tests.unit.client.shell import Shell


@pytest.fixture
def pump(server: FakeServer, client: Vitrine) -> str:
    """The id of the asset `Old Pump` in the database `garage`."""
    client.databases.create("garage", description="All of it", default_bucket_id=BUCKET)
    return client.assets.create(
        "garage", "Old Pump", description="A pump", asset_id="pump-1"
    ).asset_id


def test_an_asset_is_archived_restored_and_deleted(
    client: Vitrine, server: FakeServer, pump: str
) -> None:
    archived = client.assets.archive("garage", pump, reason="sold")
    assert (archived.operation, archived.job_id, archived.job_state) == (
        "archive",
        "archiveAsset.1",
        "running",
    )
    assert server.bodies[-1] == (
        f"DELETE /database/garage/assets/{pump}/archiveAsset",
        {"confirmArchive": True, "reason": "sold"},
    )
    with pytest.raises(ConflictError, match="archived already"):
        client.assets.archive("garage", pump)
    assert client.assets.unarchive("garage", pump).operation == "unarchive"
    assert client.assets.delete("garage", pump).operation == "delete"
    assert server.bodies[-1][1] == {"confirmPermanentDelete": True}


def test_a_change_whose_reply_is_lost_is_not_sent_again(
    client: Vitrine, server: FakeServer, pump: str
) -> None:
    server.fail("DELETE", "/archiveAsset$", httpx.ReadError("lost"), after=True)
    with pytest.raises(UnreachableError):
        client.assets.archive("garage", pump)
    assert server.calls("DELETE", "/archiveAsset$") == 1


def test_the_commands_name_assets_also_when_they_are_archived(
    shell: Shell, server: FakeServer, pump: str
) -> None:
    line = shell.run("archive", "garage", "Old Pump", "--yes", "--reason", "sold")
    assert line == f"{pump}\tarchive\tarchiveAsset.1\trunning\n"
    assert shell.json("unarchive", "garage", "Old Pump")["operation"] == "unarchive"
    shell.run("archive", "garage", pump, "--yes")
    shell.run("delete", "garage", pump, "--yes")
    assert (shell.code, server.assets["garage", pump]["status"]) == (0, "deleted")


@pytest.mark.parametrize("command", ["archive", "delete"])
def test_nothing_is_archived_or_deleted_without_a_terminal_for_confirmation(
    shell: Shell, server: FakeServer, pump: str, command: str
) -> None:
    shell.run(command, "garage", pump)
    assert shell.code == 2
    assert "--yes" in shell.err
    assert server.assets["garage", pump]["status"] == "active"


def test_a_command_that_waits_returns_when_the_job_is_done(
    shell: Shell, server: FakeServer, pump: str
) -> None:
    states = [{"jobId": "deleteAsset.1", "state": state} for state in ("running", "done")]
    server.fail("GET", "/jobs/", *(httpx.Response(200, json=state) for state in states))
    found = shell.json("delete", "garage", pump, "--yes", "--wait")
    assert (found["jobState"], server.calls("GET", "/jobs/")) == ("done", 2)


def test_a_command_that_waits_fails_if_the_job_fails(
    shell: Shell, server: FakeServer, pump: str
) -> None:
    failed = {"jobId": "deleteAsset.1", "state": "failed", "problems": ["the bucket is gone"]}
    server.fail("GET", "/jobs/", httpx.Response(200, json=failed))
    shell.run("delete", "garage", pump, "--yes", "--wait")
    assert shell.code == 1
    assert "the bucket is gone" in shell.err


def test_an_asset_that_is_not_there_is_not_found(shell: Shell, pump: str) -> None:
    for command in ("archive", "unarchive", "delete"):
        yes = [] if command == "unarchive" else ["--yes"]
        shell.run(command, "garage", "no such pump", *yes)
        assert shell.code == 3


def test_a_deleted_database_is_purged(shell: Shell, server: FakeServer) -> None:
    shell.run("databases", "create", "cars")
    shell.run("databases", "purge", "cars", "--yes")
    assert (shell.code, "is active" in shell.err) == (1, True)
    shell.run("databases", "delete", "cars", "--yes")
    shell.run("databases", "purge", "cars")
    assert shell.code == 2  # without a confirmation
    line = shell.run("databases", "purge", "cars", "--yes", "--reason", "by law")
    assert line == "cars\tpurgeDatabase.1\tqueued\n"
    assert server.bodies[-1][1] == {"confirmPermanentDelete": True, "reason": "by law"}
    assert shell.run("databases", "list", "--deleted") == ""


def test_a_purge_can_be_waited_for(shell: Shell, server: FakeServer) -> None:
    shell.run("databases", "create", "cars")
    shell.run("databases", "delete", "cars", "--yes")
    done = {"jobId": "purgeDatabase.1", "state": "done"}
    server.fail("GET", "/jobs/", httpx.Response(200, json=done))
    assert shell.run("databases", "purge", "cars", "--yes", "--wait").endswith("done\n")


def test_a_purge_whose_reply_is_lost_is_not_sent_again(
    client: Vitrine, server: FakeServer, pump: str
) -> None:
    server.fail("DELETE", "/database/garage$", httpx.ReadError("lost"), after=True)
    with pytest.raises(UnreachableError):
        client.databases.purge("garage")
    assert server.calls("DELETE", "/database/garage$") == 1
