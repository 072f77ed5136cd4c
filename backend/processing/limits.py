"""Limits on the size of a file and of its results. Files that exceed them are rejected."""

from backend.spec.inspection_outputs import GLB

MIB = 1 << 20

INPUT_BYTES = 512 * MIB
"""Size of one file, and of all files together that one model references."""
REFERENCED_FILES = 512
JSON_BYTES = 64 * MIB
VERTICES = 12_000_000
TRIANGLES = 16_000_000
NODES = 1_000_000
POINTS = 400_000_000
SAMPLED_POINTS = 1_000_000
"""Points of a point cloud that are drawn and written to the GLB. Of more, every nth is."""
PIXELS = 100_000_000
TEXTURE_PIXELS = 2048
THUMBNAIL_PIXELS = 512
SMALL_PIXELS = 256
TURNTABLE_FRAMES, TURNTABLE_PIXELS = 8, 256
GLB_BYTES = GLB.most_bytes
REFERENCES = 1000
"""References in a result."""
REASON_CHARACTERS = 300

CHILD_MEMORY_BYTES = 1536 * MIB
CHILD_ADDRESS_BYTES = 3072 * MIB
CHILD_CPU_SECONDS = 120
"""Maximum processor time of any file. Smaller files have less, see `cpu_seconds_for`."""
CHILD_SECONDS = 150
"""Maximum elapsed time of a file, for readers that get or use no processor time."""
_CPU_SECONDS, _MIB_OF_8_SECONDS, _TIMES = 8, 5, 8


def cpu_seconds_for(size: int) -> int:
    """Return the processor time for a file of which `size` bytes are needed, with its references.

    A file that needs more is refused, because any machine would exceed the limit again.
    """
    return min(CHILD_CPU_SECONDS, _CPU_SECONDS + _CPU_SECONDS * size // (_MIB_OF_8_SECONDS * MIB))


def seconds_for(size: int) -> int:
    """Return the time for such a file. The processors of a busy machine are shared by several.

    A file that needs more is not refused, but read again later.
    """
    return min(CHILD_SECONDS, _TIMES * cpu_seconds_for(size))
