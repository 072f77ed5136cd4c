"""The operations of the API cost what their page states, and no more than agreed.

This takes a minute: the deployed handlers carry out every operation of the page on moto, most of
them twice. `make prove PART=costs` runs it, and so does continuous integration.
"""

from collections.abc import Mapping

import pytest

from benchmarks.versioned import MANY_RECORDS
from docs.costs import Figures, measured
from docs.generate import COSTS, REFERENCE, costs_page


@pytest.fixture(scope="module")
def figures() -> Mapping[str, Figures]:
    return measured()


SCANS = {
    "list 3 databases": 1,  # the databases
    "create an asset": 1,  # the types of tags, of which some may be required
    "create an asset in a database of a million": 1,
}
"""Requests that scan: each scans a registry (`test_table_scans.py`), and once."""


def dynamodb_requests(figures: Figures) -> int:
    return sum(figures["requests"]["dynamodb"].values())


def test_the_page_on_costs_is_up_to_date(figures: Mapping[str, Figures]) -> None:
    page = (REFERENCE / COSTS).read_text(encoding="utf-8")
    assert page == costs_page(figures), "run `make docs-costs`, and look at what grew"


@pytest.mark.parametrize(
    "operation", ["create an asset", "create an asset in a database of a million"]
)
def test_an_asset_is_created_for_16_write_and_3_read_units(
    figures: Mapping[str, Figures], operation: str
) -> None:
    request = figures[operation]["request"]
    entry = figures[operation]["after"]["AuditCreations"]  # the stream creates its entry
    assert request["writeUnits"] + entry["writeUnits"] <= 16
    assert request["readUnits"] <= 3


def test_the_size_of_a_database_does_not_matter_to_a_creation(
    figures: Mapping[str, Figures],
) -> None:
    small, large = (
        figures[name]["request"]
        for name in ("create an asset", "create an asset in a database of a million")
    )
    assert small == large


def test_an_asset_is_read_for_2_units(figures: Mapping[str, Figures]) -> None:
    assert figures["get an asset"]["request"]["readUnits"] <= 2


@pytest.mark.parametrize("part", ["request", "cold"])
def test_just_requests_that_need_a_whole_registry_scan_one(
    figures: Mapping[str, Figures], part: str
) -> None:
    counted = {
        operation: measured[part]["requests"].get("dynamodb", {}).get("Scan", 0)
        for operation, measured in figures.items()
        if part in measured
    }
    assert {operation: scans for operation, scans in counted.items() if scans} == SCANS


def test_a_hundred_assets_are_listed_for_25_units_in_2_requests(
    figures: Mapping[str, Figures],
) -> None:
    request = figures["list 100 assets"]["request"]
    assert request["readUnits"] <= 25
    assert dynamodb_requests(request) <= 2


def test_a_record_of_metadata_is_edited_for_8_write_units_and_counted_for_2_more(
    figures: Mapping[str, Figures],
) -> None:
    limits = {f"edit 1 metadata record{edit}": 8 for edit in ("", " under a schema")}
    # the condition that the file is not being moved has 2 units
    limits |= {"edit 1 metadata record of a file": 10, "add 1 metadata record": 10}
    for operation, limit in limits.items():
        assert figures[operation]["request"]["writeUnits"] <= limit


def test_a_version_costs_a_fifth_more_than_its_rows_and_2_requests_to_s3(
    figures: Mapping[str, Figures],
) -> None:
    request = figures[MANY_RECORDS]["request"]
    rows = 2 * (50 + 510)  # each of them, and its entry in the index by asset
    assert request["writeUnits"] + request["readUnits"] <= 1.2 * rows
    assert sum(request["requests"]["s3"].values()) <= 2


def test_a_list_of_files_takes_2_requests_to_s3(figures: Mapping[str, Figures]) -> None:
    requests = figures["list 50 files"]["request"]["requests"]
    assert sum(requests["s3"].values()) <= 2 + 50 / 1000


@pytest.mark.parametrize(("files", "most"), [("1 file", 37), ("50 files", 5 * 50)])
def test_an_upload_takes_few_requests_to_dynamodb(
    figures: Mapping[str, Figures], files: str, most: int
) -> None:
    """Decision 11 describes what bounds those of one file, the first of its asset."""
    whole = [figures[f"{verb} an upload of {files}"] for verb in ("start", "complete")]
    taken = sum(dynamodb_requests(item["request"]) for item in whole)
    taken += sum(
        sum(after["requests"].get("dynamodb", {}).values())
        for item in whole
        for after in item["after"].values()
    )
    assert taken <= most
