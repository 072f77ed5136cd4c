"""The port that tells whether a bucket can hold assets; see `backend.aws.bucket_facts`."""

from typing import Literal, Protocol

BucketFact = Literal["usable", "absent", "forbidden", "locked", "unversioned"]
"""A usable bucket exists and keeps versions, and its objects can be listed and read.

In a locked one, objects are encrypted with a key that the deployment may not use.
"""


class BucketFacts(Protocol):
    """Looks at buckets; may raise UnavailableError."""

    def look_at(self, bucket: str, prefix: str) -> BucketFact:
        """What is true of a bucket; the objects below the prefix are those to be listed."""
        ...
