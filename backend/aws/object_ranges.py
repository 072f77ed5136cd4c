"""S3's ranged reads behind the port `core.object_ranges.ObjectRanges`."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from backend.aws.errors import NOT_RESTORED, code_of, translated
from backend.core.objects import NotRestoredError

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

# S3's error codes for an object that was replaced, shortened, archived or deleted meanwhile.
_CHANGED = frozenset(
    {"InvalidRange", "MethodNotAllowed", "NoSuchKey", "NoSuchVersion", "PreconditionFailed"}
)


@dataclass(eq=False, repr=False)
class S3ObjectRanges:
    """Ranged reads (see the port for what is promised)."""

    client: "S3Client"

    def read(
        self,
        bucket: str,
        key: str,
        *,
        version_id: str | None,
        etag: str,
        span: tuple[int, int],
    ) -> bytes | None:
        version: Any = {} if version_id is None else {"VersionId": version_id}
        try:
            with translated("S3"):
                reply = self.client.get_object(
                    Bucket=bucket,
                    Key=key,
                    Range=f"bytes={span[0]}-{span[1] - 1}",
                    IfMatch=f'"{etag}"',
                    **version,
                )
                return reply["Body"].read()
        except ClientError as error:
            if code_of(error) in _CHANGED:
                return None
            if code_of(error) == NOT_RESTORED:
                raise NotRestoredError from error
            raise
