"""The shipped pipelines: functions that read users' files, with a dependency layer of their own."""

from backend.spec import settings
from backend.spec.buckets import ASSET_BUCKET, AUXILIARY_BUCKET
from backend.spec.functions.model import Function
from backend.spec.functions.request_parts import Requests

# 1.5 GiB for the child that reads a file, the rest for its parent and the template of children.
_MEMORY_MB = 2048
# A file of 512 MiB, what it refers to, and its GLB.
_STORAGE_MB = 2048
# Reading takes at most 150 seconds (`limits.CHILD_SECONDS`); the rest is for transfers of objects.
READER_SECONDS = 240
# Two rounds of a reader at their longest, and transfers of objects.
_TIMEOUT_SECONDS = 600
WAITING_MEMORY_MB = 512
# Storage of a pipeline that only calls its reader; the GLB, of up to 256 MiB, passes through it.
WAITING_STORAGE_MB = 1024

_INSPECTS: Requests = {
    ASSET_BUCKET: ("GetObject", "GetObjectVersion", "ListBucket"),
    AUXILIARY_BUCKET: ("GetObject", "ListBucket", "PutObject"),
}
"""Requests of the shipped pipelines: they read files of assets and of runs, and write the results
of a run."""

INSPECT_READER = Function(
    "InspectReader",
    "reader",
    "backend.entrypoints.readers.inspect.handler",
    "Reads one file for Inspect, without permissions.",
    uses={},
    settings=(settings.READERS,),
    memory_mb=_MEMORY_MB,
    timeout_seconds=READER_SECONDS,
    packages="inspect",
    storage_mb=_STORAGE_MB,
    tenant_isolation=True,
)

INSPECT_CAD_READER = Function(
    "InspectCadReader",
    "reader",
    "backend.entrypoints.readers.inspect_cad.handler",
    "Reads one file for InspectCad, without permissions.",
    uses={},
    settings=(settings.READERS,),
    memory_mb=_MEMORY_MB,
    timeout_seconds=READER_SECONDS,
    packages="inspect-cad",
    storage_mb=_STORAGE_MB,
    tenant_isolation=True,
)

INSPECT_IFC_READER = Function(
    "InspectIfcReader",
    "reader",
    "backend.entrypoints.readers.inspect_ifc.handler",
    "Reads one file for InspectIfc, without permissions.",
    uses={},
    settings=(settings.READERS,),
    memory_mb=_MEMORY_MB,
    timeout_seconds=READER_SECONDS,
    packages="inspect-ifc",
    storage_mb=_STORAGE_MB,
    tenant_isolation=True,
)

INSPECT = Function(
    "Inspect",
    "pipeline",
    "backend.entrypoints.pipelines.inspect.handler",
    "Reads models, point clouds, images and documents: facts, a thumbnail, a GLB.",
    uses=_INSPECTS,
    settings=(settings.TURNTABLES, settings.READERS),
    memory_mb=_MEMORY_MB,
    timeout_seconds=_TIMEOUT_SECONDS,
    packages="inspect",
    storage_mb=_STORAGE_MB,
    calls=(INSPECT_READER,),
)

INSPECT_CAD = Function(
    "InspectCad",
    "pipeline",
    "backend.entrypoints.pipelines.inspect_cad.handler",
    "Reads CAD models: facts, a thumbnail, a GLB.",
    uses=_INSPECTS,
    settings=(settings.TURNTABLES, settings.READERS),
    memory_mb=_MEMORY_MB,
    timeout_seconds=_TIMEOUT_SECONDS,
    packages="inspect-cad",
    storage_mb=_STORAGE_MB,
    calls=(INSPECT_CAD_READER,),
)

INSPECT_IFC = Function(
    "InspectIfc",
    "pipeline",
    "backend.entrypoints.pipelines.inspect_ifc.handler",
    "Reads IFC models of buildings: facts, a thumbnail, a GLB.",
    uses=_INSPECTS,
    settings=(settings.TURNTABLES, settings.READERS),
    memory_mb=_MEMORY_MB,
    timeout_seconds=_TIMEOUT_SECONDS,
    packages="inspect-ifc",
    storage_mb=_STORAGE_MB,
    calls=(INSPECT_IFC_READER,),
)
