"""The settings of a deployment about executions of workflows."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field, model_validator

from backend.spec import settings as declared
from infra.setting_types import SETTINGS_CONFIG

_INSTANCES = 2
"""Of an execution: its pipeline, and the reader for which it waits. Queues may take the other half
of the account's."""


class ExecutionSettings(BaseModel):
    """The settings of a stage about executions."""

    model_config = SETTINGS_CONFIG

    processing: bool = True
    """Whether uploads of supported formats run the product's own workflows, unless a database
    switches that off: facts, thumbnails and GLBs."""

    turntables: bool = False
    """Whether these workflows also make an animated PNG of each model, from eight sides, beside its
    GLB: a fifth of a second more for a small model."""

    readers: Literal["off", "fallback", "always"] = "fallback"
    """Where files are read. `fallback`: in the pipeline, in a confined process, or where the kernel
    of Lambda refuses to confine it, in a function without permissions that serves one file.
    `always`: in that function, so that the pipeline is small. `off`: such functions are not
    created, and files that cannot be read in a confined process are not read. Not every region has
    the tenant isolation of Lambda that these functions need."""

    readers_in_vpc: bool = False
    """Whether these functions run in a network (VPC) of their own, from which they reach only the
    objects of the deployment's buckets. Elsewhere they have the internet, as functions of Lambda
    have. The network itself costs nothing."""

    probe: bool = False
    """Whether to create a stack with a function that reports what Lambda allows its functions."""

    executions_at_once: Annotated[int, Field(ge=1, le=10_000)] = 50
    """How many executions of workflows run at once. Further ones wait, and start as others end. An
    execution takes two instances of functions where a pipeline waits for a reader, so that at most
    a quarter of `accountConcurrency` run at once."""

    execution_silence_seconds: Annotated[int, Field(ge=1)] = 300
    """How long after its start Step Functions is asked about an execution whose end no event has
    reported."""

    reconcile_minutes: Annotated[int, Field(ge=1)] = 5
    """How often executions are compared with what Step Functions reports of them."""

    @model_validator(mode="after")
    def _check_readers(self) -> Self:
        if self.readers_in_vpc and self.readers == "off":
            raise ValueError("readersInVpc needs readers, which are off")
        return self

    def of_executions(self, instances: int) -> dict[declared.Setting, int | str]:
        """Return the values of the settings that functions read.

        `instances` is how many functions the account runs at once.
        """
        fitting = max(1, instances // 2 // _INSTANCES)
        return {
            declared.PROCESSING: int(self.processing),
            declared.TURNTABLES: int(self.turntables),
            declared.EXECUTIONS_AT_ONCE: min(self.executions_at_once, fitting),
            declared.READERS: self.readers,
            declared.EXECUTION_SILENCE_SECONDS: self.execution_silence_seconds,
        }
