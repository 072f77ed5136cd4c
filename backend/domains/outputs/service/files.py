"""Stores the files and previews that the pipelines of an execution wrote."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from backend.core.file_kinds import is_preview
from backend.core.objects import ObjectRef, Objects
from backend.core.parallel import in_parallel
from backend.domains.assets.models import Asset
from backend.domains.assets.service.commands import AssetService
from backend.domains.executions.models import Execution
from backend.domains.files.models import VersionOrigin
from backend.domains.outputs import rules
from backend.domains.outputs.models import Phase, Sort
from backend.domains.outputs.rules import Outcome
from backend.domains.uploads.service.deposits import Deposit, Deposited, DepositPlace, Deposits
from backend.spec.buckets import WORKFLOWS_METADATA
from backend.spec.key_layouts import run_folder


class Written(NamedTuple):
    """An object that the nth pipeline wrote; `name` is its key below that pipeline's folder."""

    sort: Sort
    pipeline: int
    name: str
    key: str
    size: int

    @property
    def label(self) -> str:
        """The key below the prefix of the run."""
        return f"{self.pipeline}/{self.sort}/{self.name}"


@dataclass(eq=False, repr=False)
class RunFolder:
    """The objects that an execution wrote, in the auxiliary bucket."""

    objects: Objects
    bucket: str
    execution: Execution

    def folder(self, pipeline: int, sort: Sort) -> str:
        return f"{run_folder(self.execution.execution_id)}{pipeline}/{sort}/"

    def page(
        self, pipeline: int, sort: Sort, *, limit: int, after: str | None
    ) -> tuple[list[Written], str | None]:
        """Return the next objects of a folder, and where the page after them begins.

        Objects that a later pipeline wrote under the same name are left out: pipelines of VAMS
        share one folder, in which the last one to write a name wins.
        """
        folder = self.folder(pipeline, sort)
        page = self.objects.list_objects(self.bucket, folder, limit=limit, after=after)
        outputs = [
            Written(sort, pipeline, item.key.removeprefix(folder), item.key, item.size)
            for item in page.objects
            if not item.key.endswith("/")
        ]
        last = len(self.execution.pipelines)
        if pipeline == last:
            return outputs, page.next_key
        later = range(pipeline + 1, last + 1)

        def is_replaced(output: Written) -> bool:
            # No HEAD: for a missing object it would also look for a delete marker.
            return any(
                row.key == key
                for key in (self.folder(number, sort) + output.name for number in later)
                for row in self.objects.list_objects(self.bucket, key, limit=1).objects
            )

        replaced = in_parallel(is_replaced, outputs)
        kept = [output for output, is_old in zip(outputs, replaced, strict=True) if not is_old]
        return kept, page.next_key


@dataclass(eq=False, repr=False)
class FileOutputs:
    """Stores files of one execution in its asset. `repeated`: an earlier call may have started."""

    deposits: Deposits
    assets: AssetService
    execution: Execution
    asset: Asset
    bucket: str
    repeated: bool

    @cached_property
    def place(self) -> DepositPlace:
        return self.deposits.place(self.asset)

    @cached_property
    def preview_place(self) -> DepositPlace:
        """Return where previews of the asset with names of their own are stored."""
        return self.deposits.place(self.asset, "assetPreview")

    def of_phase(self, phase: Phase, outputs: Sequence[Written]) -> list[Written]:
        """Return those of some objects that a phase stores."""
        if phase == "files":
            return [
                output
                for output in outputs
                if not is_preview(output.name) and not self.is_large(output)
            ]
        if phase == "largeFiles":
            return [output for output in outputs if self.is_large(output)]
        if phase == "previews":
            return [
                output for output in outputs if output.sort == "previews" or is_preview(output.name)
            ]
        return list(outputs)

    def store_files(self, outputs: Sequence[Written]) -> list[Outcome]:
        """Store files that one request can copy."""
        return in_parallel(self._stored_file, outputs)

    def store_large(self, output: Written, copy_id: str | None) -> Outcome | str:
        """Continue with a large file: return its result, or the copy that was started."""
        stored = self.deposits.store(self.place, self._deposit(output, copy_id))
        return stored.copy_id or _outcome(output, stored)

    def store_previews(self, outputs: Sequence[Written]) -> list[Outcome]:
        """Store previews of files, and of the asset, after the files."""
        outcomes = in_parallel(
            self._stored_file, [output for output in outputs if is_preview(output.name)]
        )
        others = [output for output in outputs if not is_preview(output.name)]
        return outcomes + [self._stored_asset_preview(other) for other in others]

    def is_large(self, output: Written) -> bool:
        return output.size > self.deposits.parts.large_bytes and not is_preview(output.name)

    def _stored_file(self, output: Written) -> Outcome:
        return _outcome(output, self.deposits.store(self.place, self._deposit(output)))

    def _stored_asset_preview(self, output: Written) -> Outcome:
        if not rules.is_asset_preview_output(output.name):
            return Outcome(
                "previews", output.label, output.name, "is not an image in a preview format"
            )
        if rules.is_at_root(output.name):
            return self._stored_file(output)
        stored = self.deposits.store(self.preview_place, self._deposit(output))
        if stored.refused is None:
            key = self.preview_place.key_of("/" + output.name)
            self.assets.set_content(self.asset, preview_key=key)
        return _outcome(output, stored)

    def _deposit(self, output: Written, copy_id: str | None = None) -> Deposit:
        return Deposit(
            source=ObjectRef(self.bucket, output.key),
            size=output.size,
            path="/" + output.name,
            change=self.execution.execution_id,
            metadata=self._metadata,
            origin=VersionOrigin(
                change_source="workflowExecution",
                change_user_id=self.execution.started_by,
                change_workflow_database_id=self.execution.workflow_database_id,
                change_workflow_id=self.execution.workflow_id,
                change_workflow_execution_id=self.execution.execution_id,
            ),
            repeated=self.repeated,
            copy_id=copy_id,
        )

    @cached_property
    def _metadata(self) -> Mapping[str, str]:
        return {WORKFLOWS_METADATA: ",".join(self.execution.chain)}


def _outcome(output: Written, stored: Deposited) -> Outcome:
    sort: Sort = "previews" if is_preview(output.name) else output.sort
    return Outcome(sort, output.label, "/" + output.name, stored.refused)
