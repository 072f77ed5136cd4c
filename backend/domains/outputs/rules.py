"""Classifies outputs, and describes those that were not stored. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from pydantic import ValidationError

from backend.core.errors import InvalidInputError
from backend.core.field_errors import field_errors
from backend.core.file_kinds import is_preview
from backend.core.names import check_relative_path, extension_of
from backend.domains.executions.models import RefusedOutput, RunOutputs
from backend.domains.metadata.models import ASSET_LEVEL, Kind
from backend.domains.outputs.models import MetadataFile, Sort
from backend.spec.key_layouts import ASSET_PREVIEW_NAMES, PREVIEW_EXTENSIONS
from backend.values import frozen

# A metadata file has up to 500 records of 8 kB.
MAX_METADATA_BYTES = 4 * 1024**2
# As much of a cause as an execution's row stores (`MAX_MESSAGE_CHARS`).
MAX_CAUSE_CHARS = 2000
# Names in a list of outputs, which is a part of the execution's row. Counts include all outputs.
SHOWN = 200
# The cause names the first files that were refused; all together are cut to `MAX_CAUSE_CHARS`.
_MAX_REASON_CHARS = 300
_REASONS_SHOWN = 10
_METADATA, _ATTRIBUTE = ".metadata.json", ".attribute.json"
_OF_ASSET = frozenset({"asset.metadata.json", "metadata.json"})
_OF_FOLDER = "/metadata.json"


class Described(NamedTuple):
    """The subject of a metadata file: a path in the asset (`/`.

    The asset), and the kind of records.

    `or_folder`: the path may also be that of a folder.
    """

    path: str
    kind: Kind = "metadata"
    or_folder: bool = False


def described_by(name: str) -> Described:
    """Return what a file below the metadata folder describes, by its relative path.

    Raises:
        InvalidInputError: its name is not that of a metadata file, or names no path.
    """
    if name in _OF_ASSET:
        return Described(ASSET_LEVEL)
    if name.endswith(_OF_FOLDER):
        return Described(_path(name.removesuffix(_OF_FOLDER)), or_folder=True)
    if name.endswith(_METADATA):
        return Described(_path(name.removesuffix(_METADATA)))
    if name.endswith(_ATTRIBUTE):
        return Described(_path(name.removesuffix(_ATTRIBUTE)), "attribute")
    raise InvalidInputError(
        "is not named metadata.json, asset.metadata.json, <file>.metadata.json or "
        "<file>.attribute.json"
    )


def parsed_metadata(body: bytes) -> MetadataFile:
    """Return the records of a metadata file.

    Raises:
        InvalidInputError: it is not JSON, or not a valid metadata file.
    """
    try:
        return MetadataFile.model_validate_json(body)
    except ValidationError as error:
        raise InvalidInputError(validation_reason(error)) from None


def validation_reason(error: ValidationError) -> str:
    """Return the first errors of a validation; the input itself is not repeated."""
    errors = list(field_errors(error, None, place=""))
    parts = [
        f"{error.field}: {error.message}" if error.field else error.message for error in errors[:3]
    ]
    more = f"; and {len(errors) - 3} more" if len(errors) > 3 else ""
    return "; ".join(parts) + more


def is_asset_preview_output(name: str) -> bool:
    """Return whether a file of the previews folder becomes a preview of the asset."""
    # Every image that is not named as the preview of a file: pipelines of VAMS may choose any name.
    return extension_of(name) in PREVIEW_EXTENSIONS and not is_preview(name)


def is_at_root(name: str) -> bool:
    """Return whether an asset's preview is stored at the asset's root, under its own name."""
    return name in ASSET_PREVIEW_NAMES


@frozen
class Outcome:
    """The result for one output; `name` is its key below the prefix of the run."""

    sort: Sort
    name: str
    path: str
    refused: str | None = None


def with_outcomes(outputs: RunOutputs, outcomes: Sequence[Outcome]) -> RunOutputs:
    """Return the outputs with more results."""

    def stored(sort: Sort) -> list[str]:
        return [
            outcome.path for outcome in outcomes if outcome.sort == sort and outcome.refused is None
        ]

    files, previews, metadata = stored("files"), stored("previews"), stored("metadata")
    refused = [
        RefusedOutput(path=outcome.name, reason=outcome.refused[:_MAX_REASON_CHARS])
        for outcome in outcomes
        if outcome.refused is not None
    ]
    return RunOutputs(
        files=[*outputs.files, *files][:SHOWN],
        previews=[*outputs.previews, *previews][:SHOWN],
        metadata=[*outputs.metadata, *metadata][:SHOWN],
        refused=[*outputs.refused, *refused][:SHOWN],
        file_count=outputs.file_count + len(files),
        preview_count=outputs.preview_count + len(previews),
        metadata_count=outputs.metadata_count + len(metadata),
        refused_count=outputs.refused_count + len(refused),
    )


def cause_of(outputs: RunOutputs) -> str:
    """Return why an execution fails whose outputs were not all stored, and what was stored."""
    shown = [f"{output.path}: {output.reason}" for output in outputs.refused[:_REASONS_SHOWN]]
    more = outputs.refused_count - len(shown)
    text = (
        f"{outputs.refused_count} of the outputs could not be stored. Stored: "
        f"{outputs.file_count} files, {outputs.preview_count} previews, "
        f"{outputs.metadata_count} metadata files. Not stored: {'; '.join(shown)}"
    )
    return (text + (f"; and {more} more" if more > 0 else ""))[:MAX_CAUSE_CHARS]


def _path(relative: str) -> str:
    try:
        return check_relative_path("/" + relative)
    except ValueError as error:
        raise InvalidInputError(f"names a path that {error}") from None
