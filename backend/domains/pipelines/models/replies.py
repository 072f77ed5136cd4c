"""Parameters and replies of the routes of pipelines; no other slice loads it."""

from typing import Annotated

from pydantic import Field

from backend.core.models import PageQuery, WireModel
from backend.core.names import Id
from backend.domains.pipelines.models import (
    Callback,
    DatabaseOrGlobal,
    ExecutionType,
    Pipeline,
    PipelineType,
)


class DatabasePipelinesPath(WireModel):
    database_id: DatabaseOrGlobal


class PipelinePath(DatabasePipelinesPath):
    pipeline_id: Id


class PipelineQuery(WireModel):
    show_deleted: bool = False


class PipelinesQuery(PageQuery):
    show_deleted: bool = Field(
        default=False, description="List the deleted pipelines instead of the active ones"
    )


class PipelineItem(WireModel):
    """A pipeline. The resource is also in the field named after the execution type."""

    pipeline_id: str
    database_id: str
    pipeline_type: PipelineType
    pipeline_execution_type: ExecutionType
    description: str
    asset_type: str
    output_type: str
    wait_for_callback: Callback
    task_timeout: str | None = None
    task_heartbeat_timeout: str | None = None
    user_provided_resource: str
    lambda_name: str | None = None
    sqs_queue_url: str | None = None
    event_bridge_bus_arn: str | None = None
    event_bridge_source: str | None = None
    event_bridge_detail_type: str | None = None
    input_parameters: str
    enabled: bool
    date_created: str
    date_updated: str
    deleted_at: str | None = None
    deleted_by: str | None = None

    @classmethod
    def of(cls, pipeline: Pipeline) -> "PipelineItem":
        resource = pipeline.resource
        field = {
            "Lambda": "lambda_name",
            "SQS": "sqs_queue_url",
            "EventBridge": "event_bridge_bus_arn",
        }[pipeline.pipeline_execution_type]
        named = {
            field: resource.resource_id,
            "event_bridge_source": resource.event_source,
            "event_bridge_detail_type": resource.event_detail_type,
        }
        return cls.model_validate(pipeline.model_dump() | named)


class PipelinePage(WireModel):
    items: Annotated[list[PipelineItem], Field(alias="Items")]
    next_token: Annotated[str | None, Field(alias="NextToken")] = None


class PipelinesReply(WireModel):
    message: PipelinePage


class PipelineReply(WireModel):
    message: PipelineItem


class PipelineDoneReply(WireModel):
    message: str
