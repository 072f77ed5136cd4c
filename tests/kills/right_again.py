"""The requirements after a crash: no loss, and no drift after a minute."""

from typing import Any

import httpx

from tests.journeys.replaying import Load, drift
from tests.journeys.runtime import Runtime, wait_until

RIGHT_AGAIN_SECONDS = 60
TRUTHFUL_ENDS = {("SUCCEEDED", None), ("FAILED", "Interrupted")}
"""Status and error of executions that were running: repeated, or ended."""


def becomes_right(runtime: Runtime, database: str) -> None:
    """Wait until the index matches the tables, without any intervention.

    Raises:
        AssertionError: it does not within `RIGHT_AGAIN_SECONDS`.
    """
    api = runtime.client()
    result: list[Any] = [None]

    def is_right() -> bool:
        try:
            result[0] = drift(api, database)
        except (AssertionError, httpx.HTTPError) as error:  # an engine is still unavailable
            result[0] = error
        return result[0] == {}

    try:
        wait_until(is_right, seconds=RIGHT_AGAIN_SECONDS)
    except AssertionError:
        raise AssertionError(f"drift after {RIGHT_AGAIN_SECONDS} s: {result[0]!r:.2000}") from None


def lost(written: Load, there: dict[str, Any]) -> list[str]:
    """Return the acknowledged writes that are not stored."""
    missing: list[str] = []
    for asset, known in written.acknowledged.items():
        result = there.get(asset)
        if result is None:
            missing.append(f"{asset} as a whole")
            continue
        if known["name"] is not None and result[0] != known["name"]:
            missing.append(f"the name of {asset}: {result[0]}, not {known['name']}")
        if "metadata" in known and result[2] != known["metadata"]:
            missing.append(f"the metadata of {asset}")
        missing += [
            f"{asset}{path}" for path in known.get("files", ()) if asset + path not in there
        ]
    return missing
