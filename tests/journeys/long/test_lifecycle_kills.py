"""All processes are killed while an asset is archived, restored and deleted, repeatedly."""

import os
import time

import pytest

from tests.journeys.many_files import ON_DISK_SECONDS, ManyFiles
from tests.journeys.runtime import Runtime, kill_with_children, wait_until
from tests.journeys.test_lifecycle import change, job, states

FILES = 300
ROUNDS = int(os.environ.get("KILL_ROUNDS", "1"))


@pytest.mark.parametrize("round_", range(ROUNDS))
def test_every_change_of_state_survives_the_death_of_everything(
    own_runtime: Runtime, round_: int
) -> None:
    own_runtime.up()
    api = own_runtime.client()
    database = api.new_database("museum")
    asset = api.new_asset(database, "Lion", assetId=f"lion-{round_}")
    names = tuple(f"/d{number % 7}/{number}.bin" for number in range(FILES))
    lion = ManyFiles(own_runtime, database, asset, names)
    lion.put()
    lion.check(archived=False)
    before = lion.versions()
    assert len(before) == FILES

    for operation, gone in (("archive", True), ("unarchive", False)):
        lion.kill_during(operation, archived=gone)
        lion.check(archived=gone)
    assert lion.versions() == before
    api = own_runtime.client()

    job_id = change(api, "delete", lion.path)["jobId"]
    wait_until(lambda: job(api, job_id)["itemsDone"] > 0, seconds=30)
    time.sleep(ON_DISK_SECONDS)
    kill_with_children(own_runtime.endpoint["pid"])
    own_runtime.up()
    api = own_runtime.client()
    wait_until(lambda: job(api, job_id)["state"] == "done", seconds=120)
    own_runtime.drain()
    assert states(api, database) == {}
    api.new_asset(database, "Tiger", assetId=asset)
    own_runtime.drain()
    assert states(api, database) == {asset: False}
    assert api.ok("GET", f"{lion.path}/listFiles?includeArchived=true")["items"] == []
