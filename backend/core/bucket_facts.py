"""The port that checks whether a bucket can store assets; see `backend.aws.bucket_facts`."""

from typing import Literal, Protocol

BucketFact = Literal["usable", "absent", "elsewhere", "forbidden", "locked", "unversioned"]
"""The state of a bucket. `usable`: it exists, is versioned, and can be listed and read.
`elsewhere`: it is in another region. `locked`: its objects are encrypted with a key that the
deployment may not use."""


class BucketFacts(Protocol):
    """Checks buckets; may raise UnavailableError."""

    def state_of(self, bucket: str, prefix: str) -> BucketFact:
        """Return the state of a bucket; objects below the prefix are listed as a check."""
        ...
