"""The errors of buckets."""

from backend.core.errors import AlreadyExistsError, ConflictError, NotFoundError


class RegistryChangedError(ConflictError):
    """Another request registered a prefix of the same bucket at the same time."""

    code = "BucketRegistryChanged"

    def __init__(self, name: str) -> None:
        super().__init__(f"Another request is registering prefixes of the bucket {name}; try again")


class BucketNotFoundError(NotFoundError):
    code = "BucketNotFound"

    def __init__(self, bucket_id: str) -> None:
        super().__init__(f"Bucket {bucket_id} does not exist")


class BucketOverlapsError(AlreadyExistsError):
    """The prefix overlaps another registered prefix of the bucket."""

    code = "BucketOverlaps"

    def __init__(self, name: str, prefix: str, other: str) -> None:
        super().__init__(
            f"The prefix {prefix} of the bucket {name} overlaps {other or '/'}, which is "
            "already registered"
        )
