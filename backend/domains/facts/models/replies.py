"""What the routes of facts take and return."""

from typing import Annotated, Literal

from pydantic import Field

from backend.core.models import PageQuery, WireModel
from backend.core.names import RelativePath
from backend.domains.facts.models import ReferenceKind, ReferenceState

MAX_SIMILAR = 100


class DependenciesQuery(PageQuery):
    file_path: RelativePath | None = None


class DependentsQuery(PageQuery):
    """`is_prefix`: the path is a folder's."""

    file_path: RelativePath
    is_prefix: bool = False


class SimilarQuery(WireModel):
    file_path: RelativePath
    size: Annotated[int, Field(ge=1, le=MAX_SIMILAR)] = 10


class DependencyReply(WireModel):
    """A reference of a file: as the file has it, and the file of the asset that it leads to now.

    `circular`: the file that it leads to refers back, also by way of others.
    """

    path: str
    kind: ReferenceKind
    state: ReferenceState
    file_path: str | None = None
    circular: bool = False


class FileDependenciesReply(WireModel):
    """The references of one file; `omitted` counts those that were too many to be stored."""

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
    """A file of a similar shape; `similarity` is 1 for the same shape, and near 0 for others."""

    database_id: str
    asset_id: str
    asset_name: str
    file_path: str
    similarity: float


class SimilarFilesReply(WireModel):
    """Files by the similarity of their shape, which says nothing of size, material or purpose."""

    similarity_of: Literal["shape"] = "shape"
    items: list[SimilarFileReply]
