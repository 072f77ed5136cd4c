"""The size of a list of files, and the requests to S3 that it takes."""

from backend.aws.clients import s3
from backend.aws.objects import S3Objects
from backend.core.tables import Tables
from tests.factories.files import gallery
from tests.fakes.counting import requests_of


def test_a_list_sends_two_requests_to_s3_and_two_more_for_a_thousand_files(
    tables: Tables, objects: S3Objects
) -> None:
    museum = gallery(tables, objects)
    for number in range(303):
        museum.put(f"/{number:03}.glb", b"")
    museum.list_files()  # notes that no file has a primary type
    with requests_of(s3()) as counted:
        assert len(museum.list_files(pageSize="300").body["items"]) == 300
    assert counted == {"ListObjectsV2": 1, "ListObjectVersions": 1}


def test_a_page_has_a_hundred_rows_unless_more_are_requested_and_basic_ones_have_more(
    tables: Tables, objects: S3Objects
) -> None:
    museum = gallery(tables, objects)
    for number in range(103):
        museum.put(f"/{number:03}.glb", b"")
    first = museum.list_files()
    assert len(first.body["items"]) == 100
    assert first.body["NextToken"]
    assert len(museum.list_files(maxItems="5000").body["items"]) == 103
    assert len(museum.list_files(maxItems="5000", pageSize="101").body["items"]) == 101
    assert len(museum.list_files(basic="true").body["items"]) == 103
