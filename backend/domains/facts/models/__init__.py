"""The result of an inspection, and facts as they are stored."""

from typing import Any, Literal

from pydantic import StrictBool, StrictFloat, StrictInt, StrictStr

from backend.core.models import WireModel
from backend.core.references import FileRef
from backend.values import frozen

ReferenceKind = Literal["texture", "buffer", "material", "model", "other"]
ReferenceState = Literal[
    "found", "missing", "absolute", "otherCase", "outside", "external", "embedded"
]
Value = StrictBool | StrictInt | StrictFloat | StrictStr


class Source(WireModel):
    """The object that was inspected, and its path in the asset."""

    bucket: str = ""
    key: str = ""
    version_id: str
    relative_path: str = ""


class Reference(WireModel):
    """A reference of a file: the path as written in it, and whether the asset has that file."""

    path: str
    kind: ReferenceKind = "other"
    state: ReferenceState


class Inspection(WireModel):
    """The result of inspecting a file, which may be malicious."""

    version: Literal[1]
    source: Source
    readers_version: StrictInt | None = None
    facts: dict[str, Value | None] = {}
    refused: str | None = None
    descriptor: list[Any] | None = None
    references: list[Reference] = []


class StoredReferences(WireModel):
    """References as stored in an attribute; `omitted` counts those that did not fit."""

    references: list[Reference] = []
    omitted: int = 0


@frozen
class FileReferences:
    """A file of an asset with its references."""

    path: str
    stored: StoredReferences


@frozen
class InspectedFile:
    """A file with stored facts.

    `is_old` if an older version of the readers read it, or none because its inspection failed.
    """

    ref: FileRef
    is_old: bool


class FailedInspection(WireModel):
    """An inspection that ended without a result, by the key and version of its object."""

    database_id: str
    asset_id: str
    key: str
    version_id: str
    reason: str


@frozen
class SimilarShape:
    """A document of a file whose shape is similar; `key` is its object's."""

    database_id: str
    asset_id: str
    key: str
    similarity: float
