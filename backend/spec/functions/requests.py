"""Which requests each function makes to its tables and buckets: its grants, to the letter.

An entry for each table and bucket of each function. `up --record-grants` with `local grants`
tells the ones that nothing uses; the local runtime refuses the ones that are missing.
"""

from collections.abc import Mapping

from backend.spec.buckets import Bucket
from backend.spec.requests import Request
from backend.spec.tables.model import Table

REQUESTS: Mapping[str, Mapping[Table | Bucket, tuple[Request, ...]]] = {}
