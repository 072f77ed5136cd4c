"""kill -9 of OpenSearch, then of all processes, during a reindex under load: nothing is lost."""

import os
import signal
import time

import pytest

from tests.journeys.load import PATIENCE, PatientApi, load, stored
from tests.journeys.runtime import Api, Runtime, kill_with_children, noise, wait_until
from tests.journeys.test_search_indexes import CONSISTENCY, REINDEX, checked, ended

FILES = 400
AT_ONCE = 50
RIGHT_AGAIN_SECONDS = 60
ON_DISK_SECONDS = 0.5  # the engine of tables replies before a transaction is on its disk


def fill(api: Api, database: str) -> None:
    for number in range(FILES // AT_ONCE):
        asset = api.new_asset(database, f"Asset {number}", assetId=f"{database}-{number}")
        files = {f"/{n}.bin": [noise(20, f"{number}/{n}")] for n in range(AT_ONCE)}
        api.upload(database, asset, files)


def drift(api: Api) -> int:
    report = checked(api)
    return report["missing"] + report["stale"] + report["extra"]


def becomes_right(api: Api) -> None:
    """Maximum time until there is no drift, including the check itself."""
    wait_until(lambda: drift(api) == 0, seconds=RIGHT_AGAIN_SECONDS)


@pytest.mark.parametrize("phase", ["fill", "verify", "keep"])
def test_a_reindex_survives_the_death_of_opensearch_and_of_everything(
    own_runtime: Runtime, phase: str
) -> None:
    own_runtime.up()
    api = PatientApi(own_runtime.client().http)
    database = api.new_database("museum")
    fill(api, database)
    own_runtime.drain()
    assert drift(api) == 0
    with load(own_runtime, database) as written:
        job_id = api.ok("POST", REINDEX)["jobId"]
        _reaches(api, phase)
        os.kill(own_runtime.admin("GET", "/health")["engines"]["opensearch"]["pid"], signal.SIGKILL)
        time.sleep(2)
    assert written.wrong == []
    time.sleep(ON_DISK_SECONDS)
    kill_with_children(own_runtime.endpoint["pid"])
    own_runtime.up()
    api = PatientApi(own_runtime.client().http)
    becomes_right(api)
    assert ended(api, job_id)["state"] == "done"
    becomes_right(api)
    names = {name for one in api.ok("GET", CONSISTENCY)["indexes"] for name in one["writes"]}
    assert names == {"assets-2", "files-2"}
    missing = [a for a in written.acknowledged if a not in stored(api, database)]
    assert missing == []


def _reaches(api: Api, phase: str) -> None:
    """Wait until the reindex is in the phase, or has just passed it."""

    def is_there() -> bool:
        work = api.ok("GET", CONSISTENCY)["work"]
        return any(one.get("phase") == phase for one in work) or not work

    wait_until(is_there, seconds=PATIENCE)
