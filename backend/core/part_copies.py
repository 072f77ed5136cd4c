"""Copies of objects that are too large for one request: part after part, in steps.

S3 lists the parts that are copied, so a copy continues where a stopped process ended.
"""

from dataclasses import KW_ONLY, dataclass
from datetime import datetime, timedelta

from backend.core.clock import Clock
from backend.core.objects import ObjectRef, Objects, Part, Written
from backend.core.parallel import WORKERS, in_parallel
from backend.values import frozen

_MIB = 1024**2
MIN_PART_BYTES = 5 * _MIB  # S3's limit for all parts but the last
MAX_PARTS = 10_000  # S3's limit for one object
# Size of a copied part. It takes some seconds, so that an interruption repeats little.
PART_BYTES = 256 * _MIB
# Time after which a step starts no further part. A part takes seconds, and a lease lasts half a
# minute.
COPY_TIME = timedelta(seconds=10)


def copy_spans(
    size: int, large_bytes: int, *, least: int = MIN_PART_BYTES
) -> list[tuple[int, int]]:
    """Return the parts of a large copy: the first byte of each, and the one after its last.

    The size of a part is a quarter of the limit for large objects, or the usual size, or what
    10,000 parts require.
    """
    usual = min(PART_BYTES, max(least, large_bytes // 4))
    # Whole mebibytes: the parts of 5 TiB are then 9,987 (decision 14).
    needed = -(-size // MAX_PARTS // _MIB) * _MIB
    length = max(usual, needed)
    return [(start, min(start + length, size)) for start in range(0, size, length)]


@frozen
class PartCopy:
    """A copy that was started. `copy_id` is the id of the multipart upload to the target.

    `version_id` and `size` are those of the source.
    """

    _: KW_ONLY
    source: ObjectRef
    version_id: str | None
    size: int
    target: ObjectRef
    copy_id: str


@dataclass(eq=False, repr=False)
class PartCopies:
    objects: Objects
    large_bytes: int
    clock: Clock

    def copy_parts(self, copy: PartCopy) -> Written | None:
        """Copy parts until time is up; return the written object once all parts are copied.

        Raises:
            NotFoundError: the source no longer exists, or the copy was completed or aborted before.
            ObjectRefusedError: the store does not accept the object.
        """
        copied = self.objects.list_parts(*copy.target, copy.copy_id)
        spans = copy_spans(copy.size, self.large_bytes)
        parts = self._finished_parts(copy, spans, copied, self.clock() + COPY_TIME)
        if len(parts) < len(spans):
            return None
        return self.objects.complete_multipart(*copy.target, copy.copy_id, parts)

    def abort(self, copy: PartCopy) -> None:
        """Abort the copy and remove its parts."""
        self.objects.abort_multipart(*copy.target, copy.copy_id)

    def _finished_parts(
        self, copy: PartCopy, spans: list[tuple[int, int]], copied: list[Part], stop_at: datetime
    ) -> list[Part]:
        """Return the parts that are stored when time is up, in order.

        Parts of another size were copied under another setting.
        """
        lengths = {number: end - start for number, (start, end) in enumerate(spans, start=1)}
        there = {part.number: part for part in copied if lengths.get(part.number) == part.size}
        missing = [number for number in lengths if number not in there]

        def copied_part(number: int) -> Part:
            return self.objects.copy_part(
                copy.source,
                copy.target,
                upload_id=copy.copy_id,
                number=number,
                span=spans[number - 1],
                version_id=copy.version_id,
            )

        for start in range(0, len(missing), WORKERS):
            for part in in_parallel(copied_part, missing[start : start + WORKERS]):
                there[part.number] = part
            if self.clock() >= stop_at:
                break
        return [there[number] for number in sorted(there)]
