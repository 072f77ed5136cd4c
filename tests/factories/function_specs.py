"""A function of the local runtime, as declared by tests."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from local.function_process import FunctionSpec

_SPEC = FunctionSpec(
    name="f",
    arn="arn:aws:lambda:us-east-1:000000000000:function:f",
    role="arn:aws:iam::000000000000:role/f",
    handler="f.handler",
    runtime="python3.13",
    code=Path("code"),
    layers=(),
    environment={},
    timeout=3,
    memory=128,
    concurrency=None,
)


def function_spec(**changed: Any) -> FunctionSpec:
    """The function `f`, with other values where a test needs them."""
    return replace(_SPEC, **changed)
