"""The progress of storing outputs, and the JSON files that pipelines write."""

from typing import Annotated, Any, Literal, cast

from pydantic import AfterValidator, Field, model_validator

from backend.core.models import SentModel, WireModel
from backend.core.quoting import quoted
from backend.domains.executions.models import RunOutputs
from backend.domains.facts.models import Inspection, Reference, Value
from backend.domains.metadata.models import MAX_RECORDS, SentRecord, UpdateType
from backend.numbers import is_finite

Sort = Literal["files", "previews", "metadata"]
"""The folders of a pipeline's outputs, and the lists of stored outputs."""
Phase = Literal["files", "largeFiles", "previews", "metadata", "done"]


class Cursor(WireModel):
    """The position: folder, pipeline, and the key to continue after.

    `copy_id` is the copy by parts of the next large file.
    """

    phase: Phase = "files"
    pipeline: int = 1
    folder: int = 0
    after: str | None = None
    copy_id: str | None = None


class Progress(WireModel):
    """The progress of storing the outputs of an execution; `attempts` counts the calls."""

    attempts: int
    cursor: Cursor = Cursor()
    outputs: RunOutputs = RunOutputs()


class MetadataFile(SentModel):
    """A metadata file: `{"type", "updateType", "metadata": [{key, value, type}]}`.

    An object without such a list has a value for each key instead; numbers and booleans become
    strings, as earlier pipelines expect.
    """

    type: Literal["metadata", "attribute"] | None = None
    update_type: UpdateType = "update"
    metadata: Annotated[list[SentRecord], Field(min_length=1, max_length=MAX_RECORDS)]

    @model_validator(mode="before")
    @classmethod
    def as_list(cls, sent: Any) -> Any:
        if not isinstance(sent, dict):
            return sent
        values = cast("dict[str, Any]", sent)
        if isinstance(values.get("metadata"), list):
            return values
        records = [
            {"metadataKey": key, "metadataValue": _as_string(key, value)}
            for key, value in values.items()
        ]
        return {"metadata": records}


def _as_string(key: str, value: Any) -> str:
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int() | float() if is_finite(value):
            return str(value)
        case _:
            raise ValueError(f"the value of {quoted(key)} is not a text, finite number or boolean")


def _is_name(value: str) -> str:
    """Require a file name in the folder itself."""
    # No path leads out of the folder.
    if "/" in value or "\\" in value or value in {".", ".."}:
        raise ValueError("must be a file name")
    return value


ResultName = Annotated[str, Field(min_length=1, max_length=255), AfterValidator(_is_name)]


class InspectionFile(Inspection):
    """`inspection.json`: the results of a shipped pipeline, and the objects that it created.

    Untrusted input: the pipeline reads files of any origin.
    """

    facts: Annotated[dict[str, Value | None], Field(max_length=200)] = {}
    refused: Annotated[str | None, Field(max_length=4096)] = None
    references: Annotated[list[Reference], Field(max_length=20_000)] = []
    thumbnail: ResultName | None = None
    glb: ResultName | None = None
    turntable: ResultName | None = None
    small: ResultName | None = None
    structure: ResultName | None = None
