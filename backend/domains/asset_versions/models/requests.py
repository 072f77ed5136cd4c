"""The bodies and queries of the routes of versions."""

from typing import Annotated

from pydantic import Field, model_validator

from backend.core.models import PageQuery, SentModel, WrongFieldError
from backend.core.names import VersionIdText, Words
from backend.domains.asset_versions.models import Alias, NamedFile

# Files that one request may name, in a body of 5 MiB; they are stored as pages of
# `NAMED_ON_A_PAGE`. `useLatestFiles` has no limit.
MAX_FILES = 10_000
# The contract's limit.
MAX_COMMENT_CHARS = 256

Comment = Annotated[Words, Field(min_length=1, max_length=MAX_COMMENT_CHARS)]


class CreateVersionBody(SentModel):
    """Either all current files, or the files that are listed."""

    comment: Comment
    use_latest_files: bool = False
    files: Annotated[list[NamedFile] | None, Field(max_length=MAX_FILES)] = None
    version_alias: Alias | None = None

    @model_validator(mode="after")
    def check_files(self) -> "CreateVersionBody":
        if self.use_latest_files == bool(self.files):
            fact = "either useLatestFiles (true) or files is required, not both"
            raise WrongFieldError("files", fact)
        return self


class RevertBody(SentModel):
    comment: Comment
    revert_metadata: bool = False


class VersionsQuery(PageQuery):
    show_archived: bool = False


class WholeVersionQuery(PageQuery):
    """A version is returned whole, or in pages if it is large."""

    most_items = 20_000  # files and records; the size of the reply ends it before


class CompareQuery(PageQuery):
    """The two versions, by their ids."""

    before: Annotated[VersionIdText, Field(alias="from")]
    after: Annotated[VersionIdText, Field(alias="to")]
