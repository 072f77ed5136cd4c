"""Stores the results of the shipped pipelines for a file, as the product itself.

These are facts, the file's thumbnail, GLB, turntable and structure, and the asset's preview. A
result is dropped if the file has another version meanwhile, or is archived, deleted or quarantined,
or its asset is; this is checked again after each write, and a late result is removed.
"""

from collections.abc import Callable, Set
from dataclasses import dataclass
from typing import NamedTuple

from pydantic import ValidationError

from backend.core.errors import InvalidInputError, NotFoundError
from backend.core.objects import ObjectHead, ObjectRef, ObjectRefusedError, Objects, VersionRef
from backend.domains.assets.service.commands import AssetService
from backend.domains.executions.models import Execution
from backend.domains.facts.service.commands import FactCommands
from backend.domains.files.service.queries import FileQueries
from backend.domains.files.service.rows import FileTarget
from backend.domains.outputs import rules
from backend.domains.outputs.models import InspectionFile, Sort
from backend.domains.outputs.rules import Outcome
from backend.domains.outputs.service.previews import GeneratedPreviews, Pictures, is_made_by
from backend.spec.inspection_outputs import (
    GLB,
    MAGIC_BYTES,
    SMALL,
    STRUCTURE,
    THUMBNAIL,
    TURNTABLE,
    InspectionOutput,
)
from backend.spec.key_layouts import glb_key, run_folder, structure_key, turntable_key

RESULT = "inspection.json"
# 1,000 references of 1,000 characters, which JSON may escape, and the facts.
MAX_RESULT_BYTES = 4 * 1024**2


class _Kind(NamedTuple):
    """An object that is stored with a version of a file: its form and place."""

    form: InspectionOutput
    key: Callable[[str, str, str], str]


_GLB = _Kind(GLB, glb_key)
_TURNTABLE = _Kind(TURNTABLE, turntable_key)
_STRUCTURE = _Kind(STRUCTURE, structure_key)


class _Run(NamedTuple):
    """One pipeline of an execution, and the version of a file that its objects belong to."""

    execution: Execution
    pipeline: int
    version_id: str

    def key(self, sort: Sort, name: str) -> str:
        return f"{run_folder(self.execution.execution_id)}{self.pipeline}/{sort}/{name}"


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
        asset = self.assets.find_asset(execution.database_id, execution.asset_id)
        if asset is None or asset.is_archived or not execution.input_asset_file_key:
            return []
        target = self.files.target(asset, execution.input_asset_file_key, field="inputAssetFileKey")
        if self._current(target, execution.input_version_id) is None:
            return []
        # The result of the last pipeline counts.
        run = _Run(execution, max(1, len(execution.pipelines)), execution.input_version_id)
        name = f"{run.pipeline}/metadata/{RESULT}"
        try:
            file = self._result(run.key("metadata", RESULT))
        except InvalidInputError as error:
            return [Outcome("metadata", name, name, error.message)]
        if file.source.version_id != execution.input_version_id:
            fact = f"belongs to version {file.source.version_id[:100]}, which was not read"
            return [Outcome("metadata", name, name, fact)]
        outcomes = [
            *self._thumbnail(run, target, file),
            *self._beside(run, target, _Made("files", file.glb, _GLB)),
            *self._beside(run, target, _Made("previews", file.turntable, _TURNTABLE)),
            *self._beside(run, target, _Made("files", file.structure, _STRUCTURE)),
        ]
        # Last: a file with facts and without a GLB is described as one without a model.
        if self.facts.record(execution.database_id, execution.asset_id, target.path, file):
            outcomes.insert(0, Outcome("metadata", name, target.path))
        return outcomes

    def record_among_others(
        self, execution: Execution, pipeline: int, names: Set[str]
    ) -> list[Outcome]:
        """Store the small picture and the turntable that an inspection among others wrote.

        `names` are its outputs that no later pipeline replaced. Its thumbnail and GLB are stored
        already: as a preview of the asset, and as the file that the turntable shows.
        """
        asset = self.assets.find_asset(execution.database_id, execution.asset_id)
        if asset is None or asset.is_archived:
            return []
        run = _Run(execution, pipeline, "")
        outcomes: list[Outcome] = []
        if {THUMBNAIL.file, SMALL.file} <= names:
            small, outcomes = self._small(run, SMALL.file)
            self.previews.show_small(asset, THUMBNAIL.file, small, execution)
        if {GLB.file, TURNTABLE.file} <= names:
            target = self.files.target(asset, f"/{GLB.file}", field="key")
            head = self.objects.head(target.bucket, target.key)
            if isinstance(head, ObjectHead) and is_made_by(head, execution):
                run = run._replace(version_id=head.version.version_id)
                # Turntables are shown with the GLB of their version.
                self._beside(run, target, _Made("files", GLB.file, _GLB))
                outcomes += self._beside(run, target, _Made("previews", TURNTABLE.file, _TURNTABLE))
        return outcomes

    def _current(self, target: FileTarget, version_id: str) -> ObjectHead | None:
        """Return the file, if this is its latest version and not quarantined."""
        head = self.objects.head(target.bucket, target.key)
        if not isinstance(head, ObjectHead) or head.version.version_id != version_id:
            return None
        held = self.files.find_quarantined(target.bucket, [VersionRef(target.key, version_id)])
        return None if held else head

    def _result(self, key: str) -> InspectionFile:
        body = b""
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

    def _thumbnail(self, run: _Run, target: FileTarget, file: InspectionFile) -> list[Outcome]:
        execution, version_id = run.execution, run.version_id
        if file.thumbnail is None:
            self.previews.withdraw(target, execution)
            return []
        key = run.key("previews", file.thumbnail)
        name = key.removeprefix(run_folder(execution.execution_id))
        problem = self._problem(key, THUMBNAIL)
        if problem is not None:
            return [Outcome("previews", name, name, problem)]
        small, outcomes = self._small(run, file.small)
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

    def _small(self, run: _Run, name: str | None) -> tuple[ObjectRef | None, list[Outcome]]:
        """Return the small picture of the thumbnail; the preview is shown without it, too."""
        if name is None:
            return None, []
        key = run.key("previews", name)
        problem = self._problem(key, SMALL)
        if problem is None:
            return ObjectRef(self.auxiliary, key), []
        name = key.removeprefix(run_folder(run.execution.execution_id))
        return None, [Outcome("previews", name, name, problem)]

    def _beside(self, run: _Run, target: FileTarget, made: _Made) -> list[Outcome]:
        """Store an object of a version in the auxiliary folder of the file."""
        if made.name is None:
            return []
        key = run.key(made.sort, made.name)
        name = key.removeprefix(run_folder(run.execution.execution_id))
        problem = self._problem(key, made.kind.form)
        if problem is not None:
            return [Outcome(made.sort, name, name, problem)]
        stored = made.kind.key(target.asset.asset_id, target.path, run.version_id)
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
        head = self.objects.head(target.bucket, target.key, version_id=run.version_id)
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
