"""Workflows as stored, and the body that creates or changes one."""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from backend.core.definitions import DefinitionRef, StoredDefinition
from backend.core.models import SentModel, WireModel
from backend.core.names import (
    ALL_EXTENSIONS,
    GLOBAL,
    MAX_EXTENSION_LIST_CHARS,
    Description,
    Id,
    Line,
    Text,
    check_extension,
    extension_of,
)
from backend.domains.pipelines.models import (
    Callback,
    DatabaseOrGlobal,
    ExecutionType,
    Parameters,
    Pipeline,
    PipelineType,
    Resource,
)
from backend.spec.keys import WORKFLOW
from backend.spec.shipped import SHIPPED

# Pipelines of one workflow. Its transaction writes all of them.
MAX_PIPELINES = 20


def _check_triggers(value: str) -> str:
    """Normalise extensions with dots, in lower case: `glb, .E57` becomes `.glb,.e57`.

    Raises:
        ValueError: an element is not an extension.
    """
    extensions = [extension.strip().lower() for extension in value.split(",") if extension.strip()]
    dotted = [
        extension if extension.startswith(".") else f".{extension}" for extension in extensions
    ]
    return ",".join(dict.fromkeys(check_extension(extension) for extension in dotted))


Triggers = Annotated[
    str, Field(max_length=MAX_EXTENSION_LIST_CHARS), AfterValidator(_check_triggers)
]


class WorkflowFunction(WireModel):
    """A pipeline with the settings that the workflow copied when it was stored."""

    name: str
    database_id: str
    pipeline_type: PipelineType
    pipeline_execution_type: ExecutionType
    output_type: str = ""
    wait_for_callback: Callback = "Disabled"
    task_timeout: str | None = None
    task_heartbeat_timeout: str | None = None
    user_provided_resource: str
    input_parameters: str = ""

    @classmethod
    def of(cls, pipeline: Pipeline, input_parameters: str | None = None) -> "WorkflowFunction":
        """Return the copy of a pipeline, with the workflow's own `input_parameters`, if any."""
        copied = pipeline.model_dump(include=set(cls.model_fields)) | {"name": pipeline.pipeline_id}
        if input_parameters:
            copied["input_parameters"] = input_parameters
        return cls.model_validate(copied)

    @property
    def pipeline(self) -> DefinitionRef:
        return DefinitionRef(self.database_id, self.name)

    @property
    def resource(self) -> Resource:
        return Resource.model_validate_json(self.user_provided_resource)

    @property
    def inspects(self) -> bool:
        """Return whether it calls a function of the product, which reads a single file."""
        return self.resource in _OWN_FUNCTIONS


class SpecifiedPipelines(WireModel):
    functions: list[WorkflowFunction]


class Workflow(StoredDefinition):
    """A workflow as stored. `shipped` and `revision` are ours, as for pipelines.

    `stored_by` and `stored_at` are of the last user who put it, for whom its trigger runs. Rows of
    earlier releases have neither.
    """

    workflow_id: str
    description: str
    specified_pipelines: SpecifiedPipelines
    auto_trigger_on_file_extensions_upload: str = ""
    date_created: str
    date_modified: str
    stored_by: str | None = None
    stored_at: str | None = None

    @property
    def key(self) -> str:
        """Return the workflow's id with its database, as executions and pipelines name it."""
        return WORKFLOW.build(self.database_id, self.workflow_id)

    @property
    def functions(self) -> Sequence[WorkflowFunction]:
        return self.specified_pipelines.functions

    @property
    def is_shipped(self) -> bool:
        """Return whether it runs only the product's own function, even if the rest was changed.

        Its results are stored as the system's. A workflow of the same id that calls anything else
        must not have that permission.
        """
        called = [
            (function.database_id, function.name, function.resource) for function in self.functions
        ]
        return self.has_shipped_id and called == [
            (GLOBAL, shipped.id, own_function(shipped.function))
            for shipped in SHIPPED
            if shipped.id == self.workflow_id
        ]

    @property
    def stores_inspection(self) -> bool:
        """Return whether it runs only a function of the product, also by a pipeline of a user.

        Its results are stored as the system's: no other program has written into its folders.
        """
        return len(self.functions) == 1 and self.functions[0].inspects

    @property
    def has_shipped_id(self) -> bool:
        """Return whether it has the id of a workflow that ships with the product."""
        return self.database_id == GLOBAL and any(
            shipped.id == self.workflow_id for shipped in SHIPPED
        )

    @property
    def has_trigger(self) -> bool:
        return any(self.auto_trigger_on_file_extensions_upload.split(","))

    def is_triggered_by(self, path: str) -> bool:
        """Return whether an upload of the file starts it."""
        wanted = self.auto_trigger_on_file_extensions_upload.split(",")
        extension = extension_of(path)
        return ALL_EXTENSIONS in wanted or (extension != "" and extension in wanted)


def own_function(name: str) -> Resource:
    """Return the resource of a pipeline function of the product."""
    return Resource(resource_id=name, resource_type="Lambda", is_provided=False)


_OWN_FUNCTIONS = [own_function(shipped.function) for shipped in SHIPPED]


class SentFunction(SentModel):
    """A pipeline in a workflow.

    Its settings are copied from the stored pipeline; of the settings sent here only
    `inputParameters` are used.
    """

    name: Id
    database_id: DatabaseOrGlobal
    pipeline_type: Line = ""
    pipeline_execution_type: Line = ""
    output_type: Line = ""
    wait_for_callback: Line = ""
    task_timeout: Line = ""
    task_heartbeat_timeout: Line = ""
    user_provided_resource: Text = ""
    input_parameters: Parameters = ""

    @property
    def pipeline(self) -> DefinitionRef:
        return DefinitionRef(self.database_id, self.name)


class SentPipelines(WireModel):
    functions: Annotated[list[SentFunction], Field(min_length=1, max_length=MAX_PIPELINES)]


class PutWorkflowBody(SentModel):
    workflow_id: Annotated[Id, Field(min_length=4)]
    database_id: DatabaseOrGlobal
    description: Description
    specified_pipelines: SentPipelines
    auto_trigger_on_file_extensions_upload: Triggers = ""

    def stored_attributes(self) -> dict[str, Any]:
        """Return the attributes that are stored unchanged."""
        names = (
            *("workflow_id", "database_id", "description"),
            "auto_trigger_on_file_extensions_upload",
        )
        return {name: getattr(self, name) for name in names}
