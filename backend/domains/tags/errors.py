"""The errors of tags."""

from backend.core.errors import (
    AlreadyExistsError,
    NotEmptyError,
    NotFoundError,
    RevisionConflictError,
    StateForbidsError,
)
from backend.domains.tags.models import MAX_TAGS_OF_TYPE, Scoped


class TagNotFoundError(NotFoundError):
    code = "TagNotFound"

    def __init__(self, tag: Scoped) -> None:
        super().__init__(f"Tag {tag} does not exist")


class TagExistsError(AlreadyExistsError):
    code = "TagExists"

    def __init__(self, tag: Scoped) -> None:
        super().__init__(f"Tag {tag} already exists")


class TagRevisionError(RevisionConflictError):
    code = "TagRevisionConflict"

    def __init__(self, tag: Scoped) -> None:
        super().__init__(f"Tag {tag} was changed by someone else; read it again")


class TagTypeNotFoundError(NotFoundError):
    code = "TagTypeNotFound"

    def __init__(self, tag_type: Scoped) -> None:
        super().__init__(f"Tag type {tag_type} does not exist")


class TagTypeExistsError(AlreadyExistsError):
    code = "TagTypeExists"

    def __init__(self, tag_type: Scoped) -> None:
        super().__init__(f"Tag type {tag_type} already exists")


class TagTypeInUseError(NotEmptyError):
    """Tags of this type exist; delete or change them first."""

    code = "TagTypeInUse"

    def __init__(self, tag_type: Scoped) -> None:
        super().__init__(f"Tag type {tag_type} is used by tags; delete or change them first")


class TagTypeFullError(StateForbidsError):
    """The tag type has the maximum number of tags."""

    code = "TagTypeFull"

    def __init__(self, tag_type: Scoped) -> None:
        super().__init__(f"Tag type {tag_type} has {MAX_TAGS_OF_TYPE} tags, which is the maximum")


class TagTypeRevisionError(RevisionConflictError):
    code = "TagTypeRevisionConflict"

    def __init__(self, tag_type: Scoped) -> None:
        super().__init__(f"Tag type {tag_type} was changed by someone else; read it again")
