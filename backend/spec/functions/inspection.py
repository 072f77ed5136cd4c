"""The shipped pipelines: functions that read users' files, with a dependency layer of their own."""

from backend.spec import settings
from backend.spec.buckets import ASSET_BUCKET, AUXILIARY_BUCKET
from backend.spec.functions.model import Function, Packages
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


def _reading(name: str, packages: Packages, description: str) -> tuple[Function, Function]:
    """Return a reader without permissions, and the pipeline that calls it where it cannot read.

    Both have the dependency layer `packages`, after which their modules are named.
    """
    module = packages.replace("-", "_")
    called = Function(
        f"{name}Reader",
        "reader",
        f"backend.entrypoints.readers.{module}.handler",
        f"Reads one file for {name}, without permissions.",
        uses={},
        settings=(settings.READERS,),
        memory_mb=_MEMORY_MB,
        timeout_seconds=READER_SECONDS,
        packages=packages,
        storage_mb=_STORAGE_MB,
        tenant_isolation=True,
    )
    pipeline = Function(
        name,
        "pipeline",
        f"backend.entrypoints.pipelines.{module}.handler",
        description,
        uses=_INSPECTS,
        settings=(settings.TURNTABLES, settings.READERS),
        memory_mb=_MEMORY_MB,
        timeout_seconds=_TIMEOUT_SECONDS,
        packages=packages,
        storage_mb=_STORAGE_MB,
        calls=(called,),
    )
    return called, pipeline


INSPECT_READER, INSPECT = _reading(
    *("Inspect", "inspect"),
    "Reads models, point clouds, images and documents: facts, a thumbnail, a GLB.",
)
INSPECT_CAD_READER, INSPECT_CAD = _reading(
    "InspectCad", "inspect-cad", "Reads CAD models: facts, a thumbnail, a GLB."
)
INSPECT_IFC_READER, INSPECT_IFC = _reading(
    "InspectIfc", "inspect-ifc", "Reads IFC models of buildings: facts, a thumbnail, a GLB."
)
INSPECT_USD_READER, INSPECT_USD = _reading(
    "InspectUsd", "inspect-usd", "Reads USD stages: facts, a thumbnail, a GLB."
)
