"""Queries and replies of the routes of facts."""

from typing import Annotated, Literal

from pydantic import Field

from backend.core.models import PageQuery, WireModel
from backend.core.names import Line, RelativePath
from backend.core.previews import Missing
from backend.domains.facts.models import ReferenceKind, ReferenceState

MAX_SIMILAR = 100


class DependenciesQuery(PageQuery):
    file_path: RelativePath | None = None


class DependentsQuery(PageQuery):
    """`is_prefix`: the path is a folder."""

    file_path: RelativePath
    is_prefix: bool = False


class SimilarQuery(WireModel):
    file_path: RelativePath
    size: Annotated[int, Field(ge=1, le=MAX_SIMILAR)] = 10


class GlbQuery(WireModel):
    """`key` is a path in the asset, or the key of one of its files."""

    key: Annotated[Line, Field(min_length=1)]


class DependencyReply(WireModel):
    """A reference in a file: the text as stored, and the file of the asset that it resolves to.

    `circular` is true if that file refers back to this one, directly or through other files.
    """

    path: str
    kind: ReferenceKind
    state: ReferenceState
    file_path: str | None = None
    circular: bool = False


class FileDependenciesReply(WireModel):
    """The references of one file; `omitted` counts references beyond the number stored."""

    file_path: str
    references: list[DependencyReply]
    omitted: int = 0


class DependenciesReply(WireModel):
    items: list[FileDependenciesReply]
    next_token: Annotated[str | None, Field(alias="NextToken")] = None


class DependentReply(WireModel):
    file_path: str


class DependentsReply(WireModel):
    """The files that refer to a file."""

    items: list[DependentReply]
    next_token: Annotated[str | None, Field(alias="NextToken")] = None


class SimilarFileReply(WireModel):
    """A file with a similar shape; `similarity` is 1 for the same shape and near 0 for unrelated
    ones.
    """

    database_id: str
    asset_id: str
    asset_name: str
    file_path: str
    similarity: float


class SimilarFilesReply(WireModel):
    """Files by similarity of shape. Size, material and purpose are not compared."""

    similarity_of: Literal["shape"] = "shape"
    items: list[SimilarFileReply]


class GlbAddress(WireModel):
    """A GLB of a file. `version_id` is the version that it was made of, `current` whether that is
    the file's current version.
    """

    url: str
    expires_at: str
    version_id: str
    size: int
    current: bool


class TurntableAddress(WireModel):
    """An animated PNG: the version of the GLB from eight sides, or ten frames of a film."""

    url: str
    expires_at: str


class StructureAddress(WireModel):
    """Types and properties of the elements of an IFC model, as compressed JSON.

    Its `elements` have the ids that nodes of the GLB have as `extras.ifcId`.
    """

    url: str
    expires_at: str


class GlbReply(WireModel):
    """The newest GLB of a file; `glb_missing` is why its current version has none.

    `turntable` is absent if that version has none: the setting `turntables` was off. Only IFC
    models have a `structure`.
    """

    glb: GlbAddress | None = None
    turntable: TurntableAddress | None = None
    structure: StructureAddress | None = None
    glb_missing: Missing | None = None
