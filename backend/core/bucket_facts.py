"""The port that checks whether a bucket can store assets; see `backend.aws.bucket_facts`."""

from typing import Literal, Protocol

BucketFact = Literal["usable", "absent", "elsewhere", "forbidden", "locked", "unversioned"]
"""A usable bucket exists and keeps versions, and its objects can be listed and read.

A bucket elsewhere is in another region. In a locked bucket, objects are encrypted with a key that
the deployment may not use.
"""


class BucketFacts(Protocol):
    """Checks buckets; may raise UnavailableError."""

    def look_at(self, bucket: str, prefix: str) -> BucketFact:
        """Return the state of a bucket; objects below the prefix are listed as a check."""
        ...
