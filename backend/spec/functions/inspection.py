"""The shipped pipelines: functions that read users' files, with a dependency layer of their own."""

from backend.spec import buckets, settings
from backend.spec.functions.model import Function

# 1.5 GiB for the child that reads a file, the rest for its parent and the template of children.
_MEMORY_MB = 2048
# Reading takes 150 seconds at most, the rest is for objects.
_TIMEOUT_SECONDS = 300
# A file of 512 MiB, what it refers to, and its GLB.
_STORAGE_MB = 2048

INSPECT = Function(
    "Inspect",
    "pipeline",
    "backend.entrypoints.pipelines.inspect.handler",
    "Reads models, point clouds, images and documents: facts, a thumbnail, a GLB.",
    reads=(buckets.ASSET_BUCKET,),
    writes=(buckets.AUXILIARY_BUCKET,),
    settings=(settings.TURNTABLES,),
    memory_mb=_MEMORY_MB,
    timeout_seconds=_TIMEOUT_SECONDS,
    packages="inspect",
    storage_mb=_STORAGE_MB,
)

INSPECT_CAD = Function(
    "InspectCad",
    "pipeline",
    "backend.entrypoints.pipelines.inspect_cad.handler",
    "Reads CAD models: facts, a thumbnail, a GLB.",
    reads=(buckets.ASSET_BUCKET,),
    writes=(buckets.AUXILIARY_BUCKET,),
    settings=(settings.TURNTABLES,),
    memory_mb=_MEMORY_MB,
    timeout_seconds=_TIMEOUT_SECONDS,
    packages="inspect-cad",
    storage_mb=_STORAGE_MB,
)
