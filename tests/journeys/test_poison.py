"""Poison over HTTP: refused with its name, or found in the index; it delays no other document."""

import json
import time
from typing import Any
from urllib.parse import quote

import pytest

from tests.journeys.runtime import Api, Runtime, wait_for, wait_until

OTHERS_WAIT_SECONDS = 2.0
"""Maximum additional time that others may wait for the index because of poison."""
SLOW = 1.5
"""Or a multiple of the usual time, on a slow machine."""
ROUNDS = 3
"""Number of measurements; the minimum counts, because other load only makes a wait longer."""
DEEP = '{"a":' * 1000 + "1" + "}" * 1000
VALUE, TYPE, KEY = "metadataValue", "metadataValueType", "metadataKey"

REFUSED: dict[str, tuple[dict[str, str], int, str]] = {
    "NaN": ({VALUE: "NaN", TYPE: "number"}, 400, VALUE),
    "1e400": ({VALUE: "1e400", TYPE: "number"}, 400, VALUE),
    "39 digits": ({VALUE: "1" * 39, TYPE: "number"}, 400, VALUE),
    "year 0": ({VALUE: "0000-01-01", TYPE: "date"}, 400, VALUE),
    "year 10000": ({VALUE: "10000-01-01", TYPE: "date"}, 400, VALUE),
    "no such day": ({VALUE: "2026-02-30", TYPE: "date"}, 400, VALUE),
    "latitude 91": ({VALUE: '{"lat": 91, "long": 0, "alt": 0}', TYPE: "lla"}, 400, VALUE),
    "longitude 181": (
        {VALUE: '{"type": "Point", "coordinates": [181, 0]}', TYPE: "geopoint"},
        400,
        VALUE,
    ),
    "NaN in JSON": ({VALUE: '{"lat": NaN, "long": 0, "alt": 0}', TYPE: "lla"}, 400, VALUE),
    "1,000 levels": ({VALUE: DEEP, TYPE: "json"}, 400, VALUE),
    "1,000 levels of GeoJSON": ({VALUE: DEEP, TYPE: "geojson"}, 400, VALUE),
    "a lone surrogate": ({VALUE: "a\ud800b"}, 400, "body"),
    "a lone surrogate in a key": ({KEY: "a\udc00"}, 400, "body"),
    "a key of 1,024 bytes": ({KEY: "k" * 1024}, 400, KEY),
    "NUL in a key": ({KEY: "a\u0000b"}, 400, KEY),
    "an item over 400 KB": ({VALUE: "x" * 410_000}, 413, VALUE),
    "an unknown type": ({TYPE: "nonsense"}, 400, TYPE),
}

TAKEN: dict[str, list[dict[str, str]]] = {
    "32,767 bytes without a blank": [{VALUE: "x" * 32_767}],
    "an item near 400 KB": [{VALUE: "x" * 400_000}],
    "a.b against a": [{KEY: "a"}, {KEY: "a.b"}, {KEY: "a.b.c"}],
    "years 1 and 9999": [
        {KEY: "a", VALUE: "0001-01-01", TYPE: "date"},
        {KEY: "b", VALUE: "9999-12-31T23:59:59Z", TYPE: "date"},
    ],
    "38 digits": [{VALUE: "9" * 38, TYPE: "number"}],
    "the edges of numbers": [
        {KEY: "a", VALUE: "9.99e125", TYPE: "number"},
        {KEY: "b", VALUE: "1e-130", TYPE: "number"},
    ],
    "the edges of the earth": [
        {KEY: "a", VALUE: '{"lat": 90, "long": -180, "alt": 0}', TYPE: "lla"},
        {KEY: "b", VALUE: '{"type": "Point", "coordinates": [180, -90]}', TYPE: "geopoint"},
    ],
    "100 levels of JSON": [{VALUE: '{"a":' * 99 + "1" + "}" * 99, TYPE: "json"}],
    "keys of 256 odd characters": [{KEY: "é😀. *?=:/\\" * 25}],
    "markup and queries": [{KEY: "<b>", VALUE: '{"query": {"match_all": {}}} OR *:*'}],
}


def record(fields: dict[str, str]) -> dict[str, str]:
    return {KEY: "k", VALUE: "v", TYPE: "string", **fields}


def sent(api: Api, path: str, records: list[dict[str, str]]) -> Any:
    """Sent as it is: JSON takes lone surrogates escaped."""
    body = json.dumps({"metadata": records})
    headers = {"Content-Type": "application/json"}
    return api.send("POST", path, content=body, headers=headers)


@pytest.mark.parametrize("name", REFUSED)
def test_poison_is_refused_by_the_name_of_its_field(api: Api, database: str, name: str) -> None:
    fields, status, field = REFUSED[name]
    path = f"/database/{database}/assets/{api.new_asset(database, 'poisoned')}/metadata"
    answer = sent(api, path, [record(fields)])
    assert answer.status_code == status, answer.text[:500]
    output = answer.json()
    named = {error["field"] for error in output.get("errors", [])}
    assert any(field in item for item in named) or field in output["message"], output
    assert api.ok("GET", path)["metadata"] == []


def test_what_is_taken_is_found_and_others_hardly_wait(runtime: Runtime, database: str) -> None:
    api = runtime.client()
    names: dict[str, list[dict[str, str]]] = {}
    waits: list[float] = []
    while len(waits) < ROUNDS and min(waits, default=1) > 0:
        turn = len(waits)
        usual = _seconds_until_found(api, database, f"before{turn}")
        for number, records in enumerate(TAKEN.values()):
            name = f"taken{turn} {number}"
            names[name] = records
            _take(api, database, name, records)
        behind = _seconds_until_found(api, database, f"behind{turn}")
        waits.append(behind - usual - max(OTHERS_WAIT_SECONDS, SLOW * usual))
    assert min(waits) <= 0, "others wait too long each time"

    def keys() -> dict[str, set[str]]:
        hits = api.search(databaseId=database, assetName="taken*", entityTypes=["asset"])
        return {
            item["str_assetname"]: {pair["key"] for pair in item.get("metadata", ())}
            for item in hits
        }

    wait_for(
        keys,
        {name: {record(item)[KEY] for item in records} for name, records in names.items()},
    )


def _take(api: Api, database: str, name: str, records: list[dict[str, str]]) -> None:
    asset = api.new_asset(database, name)
    path = f"/database/{database}/assets/{quote(asset)}/metadata"
    answer = sent(api, path, [record(fields) for fields in records])
    assert answer.status_code == 200, answer.text[:500]


def _seconds_until_found(api: Api, database: str, name: str) -> float:
    """The time from a new asset's reply until a search finds it."""
    api.new_asset(database, name)
    begun = time.monotonic()
    wait_until(lambda: len(api.search(databaseId=database, assetName=name)) == 1)
    return time.monotonic() - begun
