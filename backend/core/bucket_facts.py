"""The port that tells whether a bucket can hold assets; see `backend.aws.bucket_facts`."""

from typing import Literal, Protocol

BucketFact = Literal["usable", "absent", "forbidden", "unversioned"]
"""`usable` is a bucket that is there, whose objects may be listed, and that keeps versions."""


class BucketFacts(Protocol):
    """Looks at buckets; may raise UnavailableError."""

    def look_at(self, bucket: str, prefix: str) -> BucketFact:
        """What is true of a bucket; the objects below the prefix are those to be listed."""
        ...
