"""Limits on the size of a file and of its results. Files that exceed them are rejected."""

from backend.spec.inspection_outputs import GLB, STRUCTURE

MIB = 1 << 20

# Of one file, and of all files together that one model references: a reader holds them in
# `CHILD_MEMORY_BYTES`, and the function on a disk of 2 GiB, with the GLB.
INPUT_BYTES = 512 * MIB
# Files that one model may open: each is a request to S3 and, for a reader function, a presigned URL
# in the call (decision 49).
REFERENCED_FILES = 512
# Of a glTF without its buffers: as objects of Python, JSON takes several times its size.
JSON_BYTES = 64 * MIB
# As 64-bit numbers, these vertices take 288 MB and these triangles 384 MB of the child's memory.
VERTICES = 12_000_000
TRIANGLES = 16_000_000
# Places of meshes or blocks, each of which costs a step of Python. A few nested lines of text can
# place a mesh any number of times.
NODES = 1_000_000
# Elements of an SVG picture, which take 12 seconds per million to draw.
ELEMENTS = 500_000
# Only counted and measured, in chunks; it is the time that bounds them, not the memory.
POINTS = 400_000_000
# Points of a point cloud that are drawn and written to the GLB. Of more, every nth is. Each takes
# up to 32 bytes of the GLB, with its colour.
SAMPLED_POINTS = 1_000_000
# Decoded as RGBA, this many take 400 MB. Pillow warns above it, too (`Image.MAX_IMAGE_PIXELS`).
PIXELS = 100_000_000
# As many as a segment of JPEG has. Each entry of EXIF may name almost all of it, so that reading a
# larger one could take gigabytes.
EXIF_BYTES = 65_536
# Of the name of a camera or lens; a longer one is left out.
EXIF_CHARACTERS = 200
# Of a frame of a film, of which a decoder holds up to 16. 8K has 33 million.
FRAME_PIXELS = 36_000_000
# Edge of a texture in the GLB: uncompressed, a viewer needs 16 MiB for it.
TEXTURE_PIXELS = 2048
# Edges of the pictures. The small one must fit `SMALL.most_bytes`, the turntable
# `TURNTABLE.most_bytes` (decisions 88, 83).
THUMBNAIL_PIXELS = 512
SMALL_PIXELS = 256
TURNTABLE_FRAMES, TURNTABLE_PIXELS = 8, 256
GLB_BYTES = GLB.most_bytes
# Nodes of a GLB that shows the elements of a building by themselves, each of which a viewer draws
# by itself. Larger buildings are drawn as one mesh.
GLB_NODES = 20_000
# Of the structure of a building before it is compressed, which a viewer reads into its memory.
STRUCTURE_BYTES = STRUCTURE.most_bytes
# References in a result. The product stores as many (`MAX_REFERENCES` of facts, decision 50).
REFERENCES = 1000
# As much as the product shows of a reason (`_MAX_REASON_CHARS` of outputs).
REASON_CHARACTERS = 300

# Of the function's 2,048 MB; its parent and the template of children have the rest.
CHILD_MEMORY_BYTES = 1536 * MIB
# Twice the memory: mapped libraries and freed blocks have addresses but use no memory.
CHILD_ADDRESS_BYTES = 3072 * MIB
# Maximum processor time of any file. Smaller files have less, see `cpu_seconds_for`. Beyond it the
# file is refused (decision 49).
CHILD_CPU_SECONDS = 120
# Maximum elapsed time, for readers that get or use no processor time. It is below `READER_SECONDS`
# (240), the rest of which is for transfers.
CHILD_SECONDS = 150
# 8 s and 8 s for each 5 MiB; the clock may take eight times that. On a machine with twenty busy
# processes a file of 1.1 kB took more than 10 s (decision 49).
_CPU_SECONDS, _MIB_OF_8_SECONDS, _TIMES = 8, 5, 8


def cpu_seconds_for(size: int) -> int:
    """Return the processor time for a file of which `size` bytes are needed, and its references."""
    # Processor time, not time: a file that needs more would exceed it on any machine, so it is
    # refused.
    return min(CHILD_CPU_SECONDS, _CPU_SECONDS + _CPU_SECONDS * size // (_MIB_OF_8_SECONDS * MIB))


def seconds_for(size: int) -> int:
    """Return the time for such a file. The processors of a busy machine are shared by several.

    A file that needs more is not refused, but read again later.
    """
    return min(CHILD_SECONDS, _TIMES * cpu_seconds_for(size))
