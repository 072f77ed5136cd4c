"""What reading an asset of many files takes: page after page, and whether the last ones are slower.

No request may take longer the more files there are: what does not fit into its time is on the next
page. `ratio` is the last pages' time by the first ones', `mebibytes` what the function takes when
all pages are read.
"""

import time
from collections.abc import Callable
from statistics import median
from typing import Any

from tests.journeys.runtime import Api

_SOME = 3  # pages whose median stands for the beginning, or for the end
_PAGE = 500

Fetch = Callable[[str | None], tuple[int, str | None]]
"""Reads one page at a token; answers with its number of files and the next token."""


def read(
    api: Api, path: str, version: str, memory: Callable[[str], int]
) -> dict[str, dict[str, float]]:
    """Seconds and files of each way to read all files of an asset.

    `memory` tells the mebibytes that a function takes.
    """
    ways: dict[str, tuple[str, Fetch]] = {
        "listFiles": ("FilesApi", lambda token: _listed(api, path, token)),
        "getVersion": ("AssetVersionsApi", lambda token: _held(api, path, version, token)),
        "export": ("ExportsApi", lambda token: _exported(api, path, token)),
    }
    return {
        name: {**_walked(fetch), "mebibytes": memory(function)}
        for name, (function, fetch) in ways.items()
    }


def name_all(api: Api, path: str, version: str) -> list[dict[str, str]]:
    """All files of a version, as a request that makes a version names them."""
    named: list[dict[str, str]] = []
    token: str | None = None
    while True:
        said = _version(api, path, version, token)
        named += [{k: one[k] for k in ("relativeKey", "versionId")} for one in said["files"]]
        token = said.get("NextToken")
        if token is None:
            return named


def _walked(fetch: Fetch) -> dict[str, float]:
    seconds: list[float] = []
    files, token = 0, None
    while True:
        began = time.perf_counter()
        found, token = fetch(token)
        seconds.append(time.perf_counter() - began)
        files += found
        if token is None:
            break
    first, last = median(seconds[:_SOME]), median(seconds[-_SOME - 1 : -1] or seconds)
    return {
        "files": files,
        "requests": len(seconds),
        "longest": max(seconds),
        "first": first,
        "last": last,
        "ratio": last / first,
    }


def _listed(api: Api, path: str, token: str | None) -> tuple[int, str | None]:
    said = api.ok("GET", f"{path}/listFiles", params=_params(token, pageSize=_PAGE))
    return sum(not one["isFolder"] for one in said["items"]), said.get("NextToken")


def _held(api: Api, path: str, version: str, token: str | None) -> tuple[int, str | None]:
    said = _version(api, path, version, token)
    return len(said["files"]), said.get("NextToken")


def _version(api: Api, path: str, version: str, token: str | None) -> Any:
    return api.ok("GET", f"{path}/getVersion/{version}", params=_params(token))


def _exported(api: Api, path: str, token: str | None) -> tuple[int, str | None]:
    body = {} if token is None else {"startingToken": token}
    said = api.ok("POST", f"{path}/export", body)
    return sum(len(one.get("files") or ()) for one in said["assets"]), said.get("NextToken")


def _params(token: str | None, **more: int) -> dict[str, Any]:
    return more if token is None else {**more, "startingToken": token}
