"""What the port of objects makes of the errors that S3 tells key by key."""

from typing import Any

import pytest
from botocore.stub import Stubber

from backend.aws.clients import s3
from backend.aws.objects import S3Objects
from backend.core.errors import UnavailableError
from backend.core.objects import ObjectRefusedError


def delete_with(code: str) -> None:
    """Delete two keys while S3 deletes one and answers with the code for the other."""
    client = s3()
    reply = {"Errors": [{"Key": "a/b.txt", "Code": code, "Message": "its reason"}]}
    with Stubber(client) as stub:
        stub.add_response("delete_objects", reply)
        S3Objects(client).delete_many("bucket", [("a/b.txt", "1"), ("a/c.txt", "2")])


def test_a_key_that_may_not_be_deleted_is_an_error_with_its_reason() -> None:
    with pytest.raises(ObjectRefusedError, match=r"a/b\.txt.*AccessDenied its reason"):
        delete_with("AccessDenied")


@pytest.mark.parametrize("code", ["InternalError", "SlowDown", "ServiceUnavailable"])
def test_a_key_that_s3_failed_to_delete_is_an_outage(code: str) -> None:
    with pytest.raises(UnavailableError):
        delete_with(code)


def test_a_version_that_is_gone_is_as_good_as_deleted() -> None:
    delete_with("NoSuchVersion")


def test_a_copy_has_no_tags_of_its_source(objects: S3Objects) -> None:
    """Its scan has no result yet; and S3 demands further rights of who copies tags."""
    place = ("assetbucket", "statue/a.glb")
    objects.put(*place, b"points", content_type="text/plain", metadata={})
    tags: Any = {"TagSet": [{"Key": "GuardDutyMalwareScanStatus", "Value": "NO_THREATS_FOUND"}]}
    objects.client.put_object_tagging(Bucket=place[0], Key=place[1], Tagging=tags)
    objects.copy(place, (place[0], "statue/b.glb"), content_type="text/plain", metadata={})
    found = objects.client.get_object_tagging(Bucket=place[0], Key="statue/b.glb")
    assert found["TagSet"] == []
