"""The settings of a deployment about executions of workflows."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from backend.spec import settings as declared


class ExecutionSettings(BaseModel):
    """The settings of a stage about executions."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        extra="forbid",
        frozen=True,
        validate_by_name=False,
        use_attribute_docstrings=True,
    )

    processing: bool = True
    """Whether uploads of supported formats run the product's own workflows, unless a database
    switches that off: facts, thumbnails and GLBs."""

    turntables: bool = False
    """Whether these workflows also make an animated PNG of each model, from eight sides, beside its
    GLB: a fifth of a second more for a small model."""

    executions_at_once: Annotated[int, Field(ge=1, le=10_000)] = 50
    """How many executions of workflows run at once. Further ones wait, and start as others end."""

    execution_silence_seconds: Annotated[int, Field(ge=1)] = 300
    """How long after its start Step Functions is asked about an execution whose end no event has
    reported."""

    reconcile_minutes: Annotated[int, Field(ge=1)] = 5
    """How often executions are compared with what Step Functions reports of them."""

    def of_executions(self) -> dict[declared.Setting, int]:
        """Return the values of the settings that functions read."""
        return {
            declared.PROCESSING: int(self.processing),
            declared.TURNTABLES: int(self.turntables),
            declared.EXECUTIONS_AT_ONCE: self.executions_at_once,
            declared.EXECUTION_SILENCE_SECONDS: self.execution_silence_seconds,
        }
