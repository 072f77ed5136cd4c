"""Pipelines and workflows in requests and replies of the API."""

from collections.abc import Sequence
from typing import Self

from pydantic import JsonValue

from vitrine import api_models
from vitrine.models import GLOBAL as GLOBAL
from vitrine.models import Wire
from vitrine.wire import Body


class PipelineSettings(api_models.PutPipelineBody):
    """A pipeline in a request.

    `lambda_name`, `sqs_queue_url` or the event bus's fields name what it calls, by its execution
    type. Timeouts are seconds as text. `update_associated_workflows` copies the settings into the
    workflows that use the pipeline.
    """


class Pipeline(api_models.Pipeline):
    @property
    def resource(self) -> str | None:
        """Return the function, queue or event bus that it calls."""
        return self.lambda_name or self.sqs_queue_url or self.event_bridge_bus_arn

    def settings(self) -> PipelineSettings:
        """Return the request that would store it unchanged."""
        names = PipelineSettings.model_fields.keys() & type(self).model_fields.keys()
        values = {name: getattr(self, name) for name in names}
        return PipelineSettings.model_validate(
            {name: value for name, value in values.items() if value is not None}
        )


class WorkflowPipeline(Body):
    """A pipeline of a workflow; `input_parameters` are the workflow's own, if it has any."""

    name: str
    database_id: str
    input_parameters: str | None = None
    pipeline_type: str | None = None
    pipeline_execution_type: str | None = None
    output_type: str | None = None

    @classmethod
    def of(cls, text: str, database_id: str) -> Self:
        """Parse `PIPELINE` or `DATABASE:PIPELINE`."""
        database, colon, name = text.rpartition(":")
        return cls(name=name, database_id=database if colon else database_id)


class SpecifiedPipelines(Wire):
    functions: tuple[WorkflowPipeline, ...]


class Workflow(Wire):
    workflow_id: str
    database_id: str
    description: str | None = None
    specified_pipelines: SpecifiedPipelines = SpecifiedPipelines(functions=())
    auto_trigger_on_file_extensions_upload: str | None = None
    date_created: str | None = None
    date_modified: str | None = None
    deleted_at: str | None = None
    deleted_by: str | None = None
    stored_by: str | None = None
    trigger_stopped: str | None = None
    """Why uploads do not start the workflow although it has a trigger."""


def functions_of(pipelines: Sequence[WorkflowPipeline]) -> JsonValue:
    """Return pipelines as the body of a workflow contains them."""
    sent: list[JsonValue] = [
        pipeline.model_dump(
            mode="json",
            by_alias=True,
            exclude_none=True,
            include={"name", "database_id", "input_parameters"},
        )
        for pipeline in pipelines
    ]
    return {"functions": sent}
