"""The settings of a deployment about executions of workflows."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from backend.spec import settings as declared
from infra.setting_types import SETTINGS_CONFIG, field_of, flag_field

# Instances of functions per execution: its pipeline, and the reader for which it waits. Queues may
# use the other half of the account's instances (decision 79).
_INSTANCES = 2


class ExecutionSettings(BaseModel):
    """The settings of a stage about executions."""

    model_config = SETTINGS_CONFIG

    processing: bool = flag_field(declared.PROCESSING)
    turntables: bool = flag_field(declared.TURNTABLES)
    readers: Literal["off", "fallback", "always"] = field_of(declared.READERS)

    readers_in_vpc: bool = False
    """Whether these functions run in a network (VPC) of their own, from which they reach only the
    objects of the deployment's buckets. Without it they have internet access, as other functions of
    Lambda have. The network itself costs nothing."""

    probe: bool = False
    """Whether to create a stack with a function that reports what Lambda allows its functions."""

    executions_at_once: int = field_of(declared.EXECUTIONS_AT_ONCE)
    execution_silence_seconds: int = field_of(declared.EXECUTION_SILENCE_SECONDS)

    reconcile_minutes: Annotated[int, Field(ge=1)] = 5
    """Minutes between two comparisons of executions with their state in Step Functions."""

    def concurrent_executions(self, instances: int) -> int:
        """Return the maximum number of concurrent executions for an account's concurrency."""
        return min(self.executions_at_once, max(1, instances // 2 // _INSTANCES))
