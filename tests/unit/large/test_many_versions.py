"""A list of files does not read all old versions of a file."""

from tests.factories.files import gallery
from tests.unit.domains.files.changes import memory
from tests.unit.domains.files.test_listing_requests import put, requests_of


def test_old_versions_of_a_file_are_not_all_read() -> None:
    museum = gallery(*memory())
    for _ in range(2500):
        museum.put("/a.glb", b"x")
    latest = put(museum, "/a.glb", "/b.glb")
    assert len(requests_of(museum)) <= 1 + 2
    rows = museum.list_files().body["items"]
    assert {one["relativePath"]: one["versionId"] for one in rows} == latest
