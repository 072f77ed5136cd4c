"""Pipelines as stored, and the body that creates or changes one."""

import json
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from backend.core.definitions import StoredDefinition
from backend.core.models import SentModel, WireModel
from backend.core.names import (
    DatabaseOrGlobal,
    Description,
    Extension,
    Id,
    Line,
    Text,
    check_extension,
)

PipelineType = Literal["standardFile", "previewFile"]
ExecutionType = Literal["Lambda", "SQS", "EventBridge"]
Callback = Literal["Enabled", "Disabled"]

# A workflow contains the parameters of all its pipelines, and a payload has 256 KiB.
MAX_PARAMETERS_CHARS = 16_384
# The longest task timeout of the contract: a week.
MAX_SECONDS = 604_800
# Workflows that may use one pipeline. The pipeline's row contains their ids.
MAX_USES = 500


def _check_parameters(value: str) -> str:
    if value:
        try:
            json.loads(value)
        except (ValueError, RecursionError):
            raise ValueError("must be JSON") from None
    return value


def _check_seconds(value: str) -> str:
    if value and not (value.isascii() and value.isdecimal() and 1 <= int(value) <= MAX_SECONDS):
        raise ValueError(f"must be a number of seconds from 1 to {MAX_SECONDS}, as text")
    return value


def _check_output(value: str) -> str:
    return check_extension(value) if value else value


OutputType = Annotated[Line, AfterValidator(_check_output)]
"""The extension of a pipeline's output. Empty if it has several formats."""
Parameters = Annotated[
    Text, Field(max_length=MAX_PARAMETERS_CHARS), AfterValidator(_check_parameters)
]
"""A JSON text that is passed to the pipeline unchanged."""
Seconds = Annotated[str, Field(max_length=8), AfterValidator(_check_seconds)]
"""Seconds as text. Empty: no value."""
ResourceName = Annotated[Line, Field(max_length=512)]
"""The name of a function, a queue or an event bus. Empty: none."""
EventName = Annotated[Line, Field(max_length=128)]


class Resource(WireModel):
    """The resource that a pipeline calls: a function, a queue or an event bus.

    Stored as JSON text under the data model's name `userProvidedResource`.
    """

    resource_id: str
    resource_type: ExecutionType
    is_provided: bool = True
    """Whether a user provides the pipeline; false for pipelines of the product."""
    event_source: str | None = None
    event_detail_type: str | None = None

    @property
    def text(self) -> str:
        return self.model_dump_json(by_alias=True, exclude_none=True)


class Pipeline(StoredDefinition):
    """A pipeline as stored.

    `used_by`, `shipped` and `revision` are ours: the keys (`databaseId:workflowId`) of active
    workflows that use it, and whether it is unchanged since the product created it.
    """

    pipeline_id: str
    pipeline_type: PipelineType
    pipeline_execution_type: ExecutionType
    description: str
    asset_type: str
    output_type: str = ""
    wait_for_callback: Callback = "Disabled"
    task_timeout: str | None = None
    task_heartbeat_timeout: str | None = None
    user_provided_resource: str
    input_parameters: str = ""
    enabled: bool = True
    date_created: str
    date_updated: str
    used_by: list[str] = Field(default_factory=list[str])

    @property
    def resource(self) -> Resource:
        return Resource.model_validate_json(self.user_provided_resource)


class PutPipelineBody(SentModel):
    """A whole pipeline: omitted fields get their defaults, except `enabled`, which remains
    unchanged.
    """

    pipeline_id: Annotated[Id, Field(min_length=4)]
    database_id: DatabaseOrGlobal
    pipeline_type: PipelineType
    pipeline_execution_type: ExecutionType
    description: Description
    asset_type: Extension
    output_type: OutputType
    wait_for_callback: Callback = "Disabled"
    task_timeout: Seconds = ""
    task_heartbeat_timeout: Seconds = ""
    lambda_name: ResourceName = ""
    sqs_queue_url: ResourceName = ""
    event_bridge_bus_arn: ResourceName = ""
    event_bridge_source: EventName = ""
    event_bridge_detail_type: EventName = ""
    input_parameters: Parameters = ""
    update_associated_workflows: bool = False
    enabled: bool | None = None

    def stored_attributes(self) -> dict[str, Any]:
        """Return the attributes that are stored unchanged."""
        names = (
            *("pipeline_id", "database_id", "pipeline_type", "pipeline_execution_type"),
            *("description", "asset_type", "output_type", "wait_for_callback"),
            "input_parameters",
        )
        seconds = {
            "task_timeout": self.task_timeout or None,
            "task_heartbeat_timeout": self.task_heartbeat_timeout or None,
        }
        return {name: getattr(self, name) for name in names} | seconds
