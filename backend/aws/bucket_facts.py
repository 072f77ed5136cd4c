"""S3's facts about a bucket behind the port `core.bucket_facts.BucketFacts`."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError, ParamValidationError

from backend.aws.errors import code_of, translated
from backend.core.bucket_facts import BucketFact
from backend.core.wired import wired

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_REFUSED: dict[str, BucketFact] = {
    "403": "forbidden",
    "404": "absent",
    "AccessDenied": "forbidden",
    "AllAccessDisabled": "forbidden",
    "InvalidBucketName": "absent",
    "NoSuchBucket": "absent",
}


@wired
class S3BucketFacts:
    """Facts as S3 tells them to this function's role (see the port).

    Of others than the `allowed` buckets S3 would tell nothing but that they are forbidden.
    """

    client: "S3Client"
    allowed: Collection[str]

    def look_at(self, bucket: str, prefix: str) -> BucketFact:
        if bucket not in self.allowed:
            return "forbidden"
        try:
            with translated("S3"):
                self.client.list_objects_v2(Bucket=bucket, Prefix=prefix, MaxKeys=1)
                reply = self.client.get_bucket_versioning(Bucket=bucket)
        except ParamValidationError:
            return "absent"
        except ClientError as error:
            if code_of(error) not in _REFUSED:
                raise
            return _REFUSED[code_of(error)]
        return "usable" if reply.get("Status") == "Enabled" else "unversioned"
