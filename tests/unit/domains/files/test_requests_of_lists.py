"""The requests to S3 that a list of files takes."""

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
