"""S3's facts about a bucket behind the port `core.bucket_facts.BucketFacts`."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError, ParamValidationError

from backend.aws.errors import code_of, translated
from backend.core.bucket_facts import BucketFact

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_REFUSED: dict[str, BucketFact] = {
    "301": "elsewhere",
    "403": "forbidden",
    "404": "absent",
    "AccessDenied": "forbidden",
    "AllAccessDisabled": "forbidden",
    "InvalidBucketName": "absent",
    "NoSuchBucket": "absent",
    "PermanentRedirect": "elsewhere",
}

_NOT_READ = frozenset({"InvalidObjectState", "InvalidRange", "NoSuchKey"})
"""Errors that show nothing about the encryption key: the object is archived, empty, or deleted
meanwhile."""


@dataclass(eq=False, repr=False)
class S3BucketFacts:
    """Facts as S3 returns them to this function's role (see the port).

    For buckets that are not `allowed`, S3 would only return that access is denied.
    """

    client: "S3Client"
    allowed: Collection[str]

    def state_of(self, bucket: str, prefix: str) -> BucketFact:
        if bucket not in self.allowed:
            return "forbidden"
        try:
            with translated("S3"):
                # The SDK follows a bucket into its region; presigned URLs name that of the client.
                region = self.client.head_bucket(Bucket=bucket).get("BucketRegion")
                if region not in {None, self.client.meta.region_name}:
                    return "elsewhere"
                listed = self.client.list_objects_v2(Bucket=bucket, Prefix=prefix, MaxKeys=1)
                reply = self.client.get_bucket_versioning(Bucket=bucket)
                # HEAD and listings succeed without the key that an object is encrypted with.
                for key in [entry.get("Key", "") for entry in listed.get("Contents", [])]:
                    try:
                        self.client.get_object(Bucket=bucket, Key=key, Range="bytes=0-0")
                    except ClientError as error:
                        if code_of(error) not in _NOT_READ:
                            raise
        except ParamValidationError:
            return "absent"
        except ClientError as error:
            code, reason = code_of(error), error.response.get("Error", {}).get("Message", "")
            # S3 reports a denial of KMS as its own, with the action of KMS in the message.
            if code.startswith("KMS.") or (code == "AccessDenied" and "kms:" in reason):
                return "locked"
            if code not in _REFUSED:
                raise
            return _REFUSED[code]
        return "usable" if reply.get("Status") == "Enabled" else "unversioned"
