"""Assets whose documents are as large as metadata makes them: 2 MB of texts, and more in pairs."""

from concurrent.futures import ThreadPoolExecutor

from tests.journeys.runtime import Api

RECORDS = 64
"""As many as the field of metadata holds, at the most that is indexed of one value."""
VALUE_BYTES = 32_000
_AT_ONCE = 4


def new_large_assets(api: Api, database: str, count: int) -> list[str]:
    """Create assets with metadata of two megabytes each; returns their ids."""
    with ThreadPoolExecutor(_AT_ONCE) as writers:
        numbers = range(count)
        return list(writers.map(lambda number: _new_one(api, database, f"bomb {number}"), numbers))


def _new_one(api: Api, database: str, name: str) -> str:
    asset = api.new_asset(database, name, tags=[])
    records = [
        {
            "metadataKey": f"key{number}",
            "metadataValue": f"{number} " + "x" * VALUE_BYTES,
            "metadataValueType": "string",
        }
        for number in range(RECORDS)
    ]
    api.ok("POST", f"/database/{database}/assets/{asset}/metadata", {"metadata": records})
    return asset
