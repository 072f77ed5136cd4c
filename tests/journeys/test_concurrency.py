"""Many clients change one asset at once: the result is that of some order of the calls.

It takes over 20 seconds: 32 clients work for a while, and all started work is waited for.
"""

import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any

import httpx

from tests.amounts import amount
from tests.journeys.replaying import OUTAGES, PATIENCE, drift, files_of
from tests.journeys.runtime import Api, Runtime, noise, wait_until

SECONDS = float(amount("CONCURRENCY_SECONDS"))
CLIENTS = 32
FILES = 6
PATHS = [f"/parts/{number}.bin" for number in range(20 * FILES)]
"""The old path of a moved file is not free: an asset version may contain its archived versions."""
REFUSALS = {400, 404, 409, 410, 412, 429, 503}
"""Statuses that a client may receive whose call conflicts with others; never a 500."""
ARCHIVED = "DELETE /archiveAsset 200"
MOVED = "POST /moveFile 200"


@dataclass
class ConcurrentClients:
    """The replies to the clients; the `edits` by their revision, the created `versions`.

    `unsure` are edits without a known result.
    """

    path: str
    said: Counter[str] = field(default_factory=Counter[str])
    edits: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    unsure: set[str] = field(default_factory=set[str])
    versions: list[str] = field(default_factory=list[str])
    wrong: list[str] = field(default_factory=list[str])

    def rage(self, api: Api, seed: int) -> None:
        """Change the asset in random ways, until the time is up and enough is done."""
        random = Random(seed)
        acts = (self._edit, self._edit, self._note, self._move, self._move, self._version)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end or (self._lacks() and time.monotonic() < end + PATIENCE):
            random.choice(acts)(api, random)
            if random.random() < 0.05 or (seed == 0 and not self.said[ARCHIVED]):
                self._send(api, "DELETE", "/archiveAsset", {"confirmArchive": True})
            elif random.random() < 0.3:  # so that it is active most of the time
                self._send(api, "PUT", "/unarchiveAsset", {"confirmUnarchive": True})

    def _lacks(self) -> bool:
        """Return whether a slow machine has not yet done enough of each kind."""
        done = (len(self.versions), self.said[MOVED], 2 * self.said[ARCHIVED])
        return min(done) < 2

    def _edit(self, api: Api, random: Random) -> None:
        text = f"edited {random.getrandbits(60):x}"
        answer = self._send(api, "PUT", "", {"description": text})
        if answer.status_code == 200:
            self.edits.append((int(answer.headers["ETag"].strip('"')), text))
        elif answer.status_code in OUTAGES:
            self.unsure.add(text)

    def _note(self, api: Api, random: Random) -> None:
        record = {"metadataKey": f"k{random.randrange(3)}", "metadataValueType": "string"}
        record["metadataValue"] = f"{random.random()}"
        self._send(api, "PUT", "/metadata", {"metadata": [record]})

    def _move(self, api: Api, random: Random) -> None:
        listed = self._send(api, "GET", "/listFiles")
        files: list[dict[str, Any]] = listed.json().get("items", [])
        sources: list[str] = [file["relativePath"] for file in files if not file["isFolder"]]
        body = {"sourcePath": random.choice(sources or PATHS)}
        self._send(api, "POST", "/moveFile", {**body, "destinationPath": random.choice(PATHS)})

    def _version(self, api: Api, random: Random) -> None:
        body = {"comment": f"by {random.random()}", "useLatestFiles": True}
        answer = self._send(api, "POST", "/createVersion", body)
        if made := answer.json().get("assetVersionId"):
            self.versions.append(made)

    def _send(self, api: Api, method: str, path: str, body: Any = None) -> httpx.Response:
        answer = api.send(method, self.path + path, body)
        self.said[f"{method} {path} {answer.status_code}"] += 1
        if answer.status_code not in REFUSALS | {200}:
            self.wrong.append(f"{method} {path}: {answer.status_code} {answer.text}")
        return answer


def test_concurrent_changes_of_an_asset_have_the_result_of_a_sequence(
    runtime: Runtime, api: Api, database: str
) -> None:
    asset = api.new_asset(database, "storm")
    contents = [noise(100, f"{database}-{number}") for number in range(FILES)]
    api.upload(database, asset, {path: [body] for path, body in zip(PATHS, contents, strict=False)})
    runtime.drain()
    storm = ConcurrentClients(f"/database/{database}/assets/{asset}")
    before = _etags(api, storm)

    _rage(runtime, storm)

    assert storm.wrong == []
    assert len(storm.versions) > 1, storm.said
    assert storm.said[MOVED] > 1, storm.said
    assert storm.said[ARCHIVED] > 0, storm.said
    wait_until(lambda: _is_restored(api, storm), seconds=PATIENCE)
    runtime.drain()  # jobs finish the work of requests
    _the_last_edit_remains(api, storm)
    assert sorted(_etags(api, storm)) == sorted(before), "a file was lost or doubled"
    _versions_have_numbers_of_their_own(api, storm)
    assert api.ok("GET", f"/database/{database}")["assetCount"] == 1
    runtime.drain()
    wait_until(lambda: drift(api, database) == {})


def _rage(runtime: Runtime, storm: ConcurrentClients) -> None:
    clients = [runtime.client() for _ in range(CLIENTS)]
    threads = [
        threading.Thread(target=storm.rage, args=(client, seed))
        for seed, client in enumerate(clients)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _is_restored(api: Api, storm: ConcurrentClients) -> bool:
    """Repeat the restoration: an asset that is still being archived cannot be restored yet."""
    api.send("PUT", storm.path + "/unarchiveAsset", {"confirmUnarchive": True})
    return api.send("GET", storm.path).status_code == 200


def _etags(api: Api, storm: ConcurrentClients) -> list[str]:
    """The ETags of the files, which follow from their bytes."""
    infos = (
        api.ok("GET", storm.path + "/fileInfo", params={"filePath": file["relativePath"]})
        for file in files_of(api, storm.path)
    )
    return [info["etag"] for info in infos]


def _the_last_edit_remains(api: Api, storm: ConcurrentClients) -> None:
    """Each edit has a revision of its own, and no earlier one overwrote a later one."""
    revisions = [revision for revision, _ in storm.edits]
    assert len(revisions) == len(set(revisions)), "two edits made the same revision"
    _, last = max(storm.edits)
    assert api.ok("GET", storm.path)["description"] in {last} | storm.unsure


def _versions_have_numbers_of_their_own(api: Api, storm: ConcurrentClients) -> None:
    """A version that failed, as the asset was archived meanwhile, leaves a gap."""
    listed = api.ok("GET", storm.path + "/getVersions")["versions"]
    numbers = [int(version["Version"]) for version in listed]
    assert numbers == sorted(set(numbers), reverse=True)
    assert len(storm.versions) == len(set(storm.versions)), "two calls made the same version"
    assert {int(number) for number in storm.versions} <= set(numbers)
    assert [version["isCurrent"] for version in listed] == [True] + [False] * (len(numbers) - 1)
    current = api.ok("GET", storm.path)["currentVersion"]
    assert int(current["Version"]) == max(numbers), "the asset's copy is not the current version"
