"""S3's conditional writes behind the port `core.guarded_objects.GuardedObjects`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from backend.aws.errors import code_of, translated

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

# S3's error codes if a condition does not hold, or another request changes the object at the same
# time.
_CHANGED = frozenset({"ConditionalRequestConflict", "NoSuchKey", "PreconditionFailed"})


@dataclass(eq=False, repr=False)
class S3GuardedObjects:
    """Conditional writes (see the port for what each method promises)."""

    client: "S3Client"

    def replace(self, bucket: str, key: str, body: bytes, *, etag: str, content_type: str) -> bool:
        return _written_if_unchanged(
            lambda: self.client.put_object(
                Bucket=bucket,
                Key=key,
                Body=body,
                ContentType=content_type,
                IfMatch=f'"{etag}"',
            )
        )

    def delete(self, bucket: str, key: str, *, etag: str) -> bool:
        return _written_if_unchanged(
            lambda: self.client.delete_object(Bucket=bucket, Key=key, IfMatch=f'"{etag}"')
        )


def _written_if_unchanged(write: Callable[[], object]) -> bool:
    """Carry out a write; return whether its condition was met."""
    try:
        with translated("S3"):
            write()
    except ClientError as error:
        if code_of(error) not in _CHANGED:
            raise
        return False
    return True
