"""The shipped pipelines: functions that read users' files, with a dependency layer of their own."""

from collections.abc import Mapping

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


# By the dependency layer that gives a function its name.
_DESCRIPTIONS: Mapping[Packages, str] = {
    "inspect": "Reads models, point clouds, images and documents: facts, a thumbnail, a GLB.",
    "inspect-cad": "Reads CAD models: facts, a thumbnail, a GLB.",
    "inspect-ifc": "Reads IFC models of buildings: facts, a thumbnail, a GLB.",
    "inspect-usd": "Reads USD stages: facts, a thumbnail, a GLB.",
    "inspect-media": "Reads films and sound: facts, a thumbnail.",
}


def _name(packages: Packages) -> str:
    return "".join(map(str.title, packages.split("-")))


READERS = tuple(
    Function(
        f"{_name(packages)}Reader",
        "reader",
        "backend.entrypoints.readers.handler",
        f"Reads one file for {_name(packages)}, without permissions.",
        uses={},
        settings=(settings.READERS,),
        memory_mb=_MEMORY_MB,
        timeout_seconds=READER_SECONDS,
        packages=packages,
        storage_mb=_STORAGE_MB,
        tenant_isolation=True,
    )
    for packages in _DESCRIPTIONS
)
"""Functions without permissions, each called by a pipeline where it cannot read by itself."""
PIPELINES = tuple(
    Function(
        _name(packages),
        "pipeline",
        "backend.entrypoints.pipelines.inspect.handler",
        description,
        uses=_INSPECTS,
        settings=(settings.TURNTABLES, settings.READERS),
        memory_mb=_MEMORY_MB,
        timeout_seconds=_TIMEOUT_SECONDS,
        packages=packages,
        storage_mb=_STORAGE_MB,
        calls=(called,),
    )
    for (packages, description), called in zip(_DESCRIPTIONS.items(), READERS, strict=True)
)
