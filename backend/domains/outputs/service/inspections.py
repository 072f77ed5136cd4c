"""Stores the results of the shipped pipelines for a file, as the product itself.

These are facts, the file's thumbnail, GLB and turntable, and the asset's preview. A result is
dropped if the file has another version meanwhile, or is archived, deleted or quarantined, or its
asset is; this is checked again after each write, and a late result is removed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from pydantic import ValidationError

from backend.core.errors import InvalidInputError, NotFoundError
from backend.core.objects import ObjectHead, ObjectRef, ObjectRefusedError, Objects, VersionRef
from backend.domains.assets.models import Asset
from backend.domains.assets.service.commands import AssetService
from backend.domains.executions.models import Execution
from backend.domains.facts.service.commands import FactCommands
from backend.domains.files.service.queries import FileQueries
from backend.domains.files.service.rows import FileTarget
from backend.domains.outputs import rules
from backend.domains.outputs.models import InspectionFile, Sort
from backend.domains.outputs.rules import Outcome
from backend.domains.outputs.service.previews import GeneratedPreviews, Pictures
from backend.spec.inspection_outputs import (
    GLB,
    MAGIC_BYTES,
    SMALL,
    THUMBNAIL,
    TURNTABLE,
    InspectionOutput,
)
from backend.spec.key_layouts import glb_key, run_folder, turntable_key

RESULT = "inspection.json"
# 1,000 references of 1,000 characters, which JSON may escape, and the facts.
MAX_RESULT_BYTES = 4 * 1024**2


class _Kind(NamedTuple):
    """An object that is stored with a version of a file: its form and place."""

    form: InspectionOutput
    key: Callable[[str, str, str], str]


_GLB = _Kind(GLB, glb_key)
_TURNTABLE = _Kind(TURNTABLE, turntable_key)


class _Made(NamedTuple):
    """An object that a pipeline wrote, if it did, and its kind."""

    sort: Sort
    name: str | None
    kind: _Kind


@dataclass(eq=False, repr=False)
class Inspections:
    """Stores inspections. `auxiliary` is the bucket that executions write to, and of the GLBs."""

    assets: AssetService
    files: FileQueries
    facts: FactCommands
    previews: GeneratedPreviews
    objects: Objects
    auxiliary: str

    def record(self, execution: Execution) -> list[Outcome]:
        """Store the result of an execution; no effect if the file has changed since.

        Raises:
            UnavailableError: a service does not respond; call it again.
        """
        target = self._target(execution)
        if target is None or self._current(target, execution.input_version_id) is None:
            return []
        name = f"{self._number(execution)}/metadata/{RESULT}"
        try:
            file = self._result(execution)
        except InvalidInputError as error:
            return [Outcome("metadata", name, name, error.message)]
        if file.source.version_id != execution.input_version_id:
            fact = f"belongs to version {file.source.version_id[:100]}, which was not read"
            return [Outcome("metadata", name, name, fact)]
        outcomes = [
            *self._thumbnail(execution, target, file),
            *self._beside(execution, target, _Made("files", file.glb, _GLB)),
            *self._beside(execution, target, _Made("previews", file.turntable, _TURNTABLE)),
        ]
        # Last: a file with facts and without a GLB is described as one without a model.
        if self.facts.record(execution.database_id, execution.asset_id, target.path, file):
            outcomes.insert(0, Outcome("metadata", name, target.path))
        return outcomes

    def _target(self, execution: Execution) -> FileTarget | None:
        asset: Asset | None = self.assets.find_asset(execution.database_id, execution.asset_id)
        if asset is None or asset.is_archived or not execution.input_asset_file_key:
            return None
        return self.files.target(asset, execution.input_asset_file_key, field="inputAssetFileKey")

    def _current(self, target: FileTarget, version_id: str) -> ObjectHead | None:
        """Return the file, if this is its latest version and not quarantined."""
        head = self.objects.head(target.bucket, target.key)
        if not isinstance(head, ObjectHead) or head.version.version_id != version_id:
            return None
        held = self.files.find_quarantined(target.bucket, [VersionRef(target.key, version_id)])
        return None if held else head

    def _number(self, execution: Execution) -> int:
        """Return the number of the pipeline whose result is used: the last one."""
        return max(1, len(execution.pipelines))

    def _key(self, execution: Execution, sort: Sort, name: str) -> str:
        folder = run_folder(execution.execution_id)
        return f"{folder}{self._number(execution)}/{sort}/{name}"

    def _result(self, execution: Execution) -> InspectionFile:
        key, body = self._key(execution, "metadata", RESULT), b""
        try:
            for chunk in self.objects.read_chunks(self.auxiliary, key):
                body += chunk
                if len(body) > MAX_RESULT_BYTES:
                    raise InvalidInputError(f"has more than {MAX_RESULT_BYTES} bytes")
            return InspectionFile.model_validate_json(body)
        except NotFoundError:
            raise InvalidInputError("was not written") from None
        except ValidationError as error:
            raise InvalidInputError(rules.validation_reason(error)) from None

    def _thumbnail(
        self, execution: Execution, target: FileTarget, file: InspectionFile
    ) -> list[Outcome]:
        version_id = execution.input_version_id
        if file.thumbnail is None:
            self.previews.withdraw(target, execution)
            return []
        key = self._key(execution, "previews", file.thumbnail)
        name = key.removeprefix(run_folder(execution.execution_id))
        problem = self._problem(key, THUMBNAIL)
        if problem is not None:
            return [Outcome("previews", name, name, problem)]
        small, outcomes = self._small(execution, file)
        pictures = Pictures(ObjectRef(self.auxiliary, key), small)
        shown = self.previews.show(
            target, pictures, execution, lambda: self._current(target, version_id) is not None
        )
        head = self._current(target, version_id)
        if head is not None:
            self.previews.show_asset(target, pictures, execution, head)
            if self._current(target, version_id) is None:
                # Archived or deleted meanwhile, perhaps after the change chose another picture.
                self.previews.pictures.withdraw(target, execution.execution_id)
        return [*outcomes, Outcome("previews", name, target.path)] if shown else outcomes

    def _small(
        self, execution: Execution, file: InspectionFile
    ) -> tuple[ObjectRef | None, list[Outcome]]:
        """Return the small picture of the thumbnail; the preview is shown without it, too."""
        if file.small is None:
            return None, []
        key = self._key(execution, "previews", file.small)
        problem = self._problem(key, SMALL)
        if problem is None:
            return ObjectRef(self.auxiliary, key), []
        name = key.removeprefix(run_folder(execution.execution_id))
        return None, [Outcome("previews", name, name, problem)]

    def _beside(self, execution: Execution, target: FileTarget, made: _Made) -> list[Outcome]:
        """Store the GLB or the turntable of a version in the auxiliary folder of the file."""
        if made.name is None:
            return []
        version_id = execution.input_version_id
        key = self._key(execution, made.sort, made.name)
        name = key.removeprefix(run_folder(execution.execution_id))
        problem = self._problem(key, made.kind.form)
        if problem is not None:
            return [Outcome(made.sort, name, name, problem)]
        stored = made.kind.key(target.asset.asset_id, target.path, version_id)
        content_type = made.kind.form.content_type
        try:
            self.objects.copy(
                ObjectRef(self.auxiliary, key),
                ObjectRef(self.auxiliary, stored),
                content_type=content_type,
                metadata={},
            )
        except ObjectRefusedError:  # the key is too long: the file has facts and no GLB
            return []
        # Those of old versions remain. That of a version which was deleted meanwhile is deleted
        # too.
        head = self.objects.head(target.bucket, target.key, version_id=version_id)
        if not isinstance(head, ObjectHead):
            self.objects.delete(self.auxiliary, stored)
            return []
        return [Outcome(made.sort, name, stored)]

    def _problem(self, key: str, form: InspectionOutput) -> str | None:
        """Return why an object does not match the result."""
        head = self.objects.head(self.auxiliary, key)
        if not isinstance(head, ObjectHead):
            return "was not written"
        if head.version.size > form.most_bytes:
            return f"has {head.version.size} bytes; at most {form.most_bytes} are allowed"
        if not form.begins(self.objects.read_start(self.auxiliary, key, length=MAGIC_BYTES)):
            return "has an invalid format"
        return None
