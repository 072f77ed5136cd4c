"""Outputs of executions, and the service that stores them, over any ports."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from backend.core.authorization import Authorization, SystemOr
from backend.core.clock import Clock
from backend.core.objects import ObjectHead, Objects
from backend.core.part_copies import PartCopies
from backend.core.tables import Tables
from backend.domains.executions.models import Execution, RunOutputs
from backend.domains.executions.repository.rows import ExecutionRepository
from backend.domains.executions.service.records import ExecutionRecords
from backend.domains.facts.service.commands import FactCommands
from backend.domains.files.repository import FileRepository
from backend.domains.files.service.asset_pictures import AssetPictures
from backend.domains.files.service.origin_records import OriginRecords
from backend.domains.outputs.repository import ProgressRepository
from backend.domains.outputs.service.commands import OutputCommands, Stored
from backend.domains.outputs.service.inspections import Inspections
from backend.domains.outputs.service.previews import GeneratedPreviews
from backend.domains.uploads.service.deposits import Deposits
from backend.spec.key_layouts import run_folder
from tests.factories.access import OnlyUser
from tests.factories.executions import new_execution, pipeline_snapshot
from tests.factories.files import AUXILIARY, BUCKET, Gallery
from tests.factories.metadata import metadata_service

MIB = 1024**2
PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)


@dataclass
class OutputSetup:
    """The gallery's asset `statue`, and executions whose outputs are stored with it."""

    museum: Gallery
    tables: Tables
    clock: Clock
    authorization: Authorization = field(default_factory=OnlyUser)
    large_bytes: int = 6 * MIB

    @property
    def objects(self) -> Objects:
        return self.museum.objects

    @property
    def commands(self) -> OutputCommands:
        allowed = SystemOr(self.authorization)
        assets, objects = replace(self.museum.assets, authorization=allowed), self.objects
        metadata = metadata_service(assets, self.tables, objects)
        return OutputCommands(
            executions=ExecutionRecords(self.executions),
            progress=ProgressRepository(self.tables, self.clock),
            assets=assets,
            files=self.museum.files,
            deposits=Deposits(
                assets,
                assets.databases,
                objects,
                PartCopies(objects, self.large_bytes, self.clock),
                OriginRecords(FileRepository(self.tables)),
            ),
            metadata=metadata,
            inspections=Inspections(
                assets=assets,
                files=self.museum.files,
                facts=FactCommands(assets, metadata.records, objects),
                previews=GeneratedPreviews(
                    assets, objects, AssetPictures(assets, self.museum.files, objects)
                ),
                objects=objects,
                auxiliary=AUXILIARY,
            ),
            objects=objects,
            authorization=allowed,
            audit=assets.audit,
            auxiliary=AUXILIARY,
            clock=self.clock,
        )

    @property
    def executions(self) -> ExecutionRepository:
        return ExecutionRepository(self.tables)

    def started(self, execution_id: str = "e1", pipelines: int = 1, **more: Any) -> Execution:
        """A running execution with this many pipelines."""
        values: dict[str, Any] = {
            "execution_status": "RUNNING",
            "started_by": "admin",
            "pipelines": [pipeline_snapshot(f"p{number}") for number in range(pipelines)],
        }
        execution = new_execution(execution_id, **values | more)
        self.executions.create(execution)
        return execution

    def inspected(
        self, path: str, version_id: str, execution_id: str = "e1", **more: Any
    ) -> Execution:
        """A shipped workflow's execution on a version of a file."""
        return self.started(
            execution_id,
            started_by="SYSTEM",
            shipped=True,
            # a file may have one active execution of each workflow
            workflow_id=f"inspect-{execution_id}",
            input_asset_file_key="statue" + path,
            input_version_id=version_id,
            **more,
        )

    def wrote(self, name: str, body: bytes | object = b"glTF", execution_id: str = "e1") -> str:
        """Put an output of an execution, such as `1/files/a.glb`; values become JSON."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        key = run_folder(execution_id) + name
        self.objects.put(AUXILIARY, key, content, content_type="", metadata={})
        return key

    def stores(self, execution_id: str = "e1") -> Stored:
        """Call the function until it has stored all outputs."""
        for _ in range(100):
            stored = self.commands.store_outputs(execution_id)
            if stored.state != "more":
                return stored
        raise AssertionError("there is no end to it")

    def run(self, outputs: Mapping[str, bytes | object], **started: Any) -> Stored:
        """Store these outputs of a new execution."""
        execution = self.started(**started)
        for name, body in outputs.items():
            self.wrote(name, body, execution.execution_id)
        return self.stores(execution.execution_id)

    def outputs(self, execution_id: str = "e1") -> RunOutputs:
        outcome = self.executions.find(execution_id)
        assert outcome is not None
        assert outcome.outputs is not None
        return outcome.outputs

    def head(self, path: str) -> ObjectHead | None:
        outcome = self.objects.head(BUCKET, "statue" + path)
        return outcome if isinstance(outcome, ObjectHead) else None

    def versions(self, path: str) -> int:
        outcome = self.objects.list_versions(BUCKET, "statue" + path).versions
        return sum(item.key == "statue" + path for item in outcome)

    def body(self, path: str) -> bytes:
        return self.objects.read_start(BUCKET, "statue" + path, length=10_000)


def result(version_id: str, **more: Any) -> dict[str, Any]:
    """The output of a shipped pipeline for a version of a file."""
    return {
        "version": 1,
        "source": {"versionId": version_id},
        "facts": {"format": "glTF2", "triangles": 12},
        "refused": None,
        "descriptor": None,
        "references": [],
        "thumbnail": None,
        "glb": None,
        **more,
    }
