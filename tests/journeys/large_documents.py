"""Assets with the largest documents that metadata results in: 2 MB of texts, and more in pairs."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http import HTTPStatus

from tests.journeys.runtime import Api

RECORDS = 64
"""The maximum number of records with the longest indexed values."""
VALUE_BYTES = 32_000
_AT_ONCE = 2
_REPEATS = 3


def new_large_assets(api: Api, database: str, count: int) -> list[str]:
    """Create assets with metadata of two megabytes each; return their ids."""
    with ThreadPoolExecutor(_AT_ONCE) as writers:
        return list(writers.map(partial(_new_one, api, database), range(count)))


def _new_one(api: Api, database: str, number: int) -> str:
    asset = api.new_asset(database, f"bomb {number}")
    records = [
        {
            "metadataKey": f"key{key}",
            "metadataValue": f"{key} " + "x" * VALUE_BYTES,
            "metadataValueType": "string",
        }
        for key in range(RECORDS)
    ]
    path = f"/database/{database}/assets/{asset}/metadata"
    # A busy machine may take longer than a request allows; clients repeat a 503.
    answer = api.send("POST", path, {"metadata": records})
    for _ in range(_REPEATS):
        if answer.status_code == HTTPStatus.SERVICE_UNAVAILABLE:
            answer = api.send("POST", path, {"metadata": records})
    assert answer.is_success, answer.text
    return asset
