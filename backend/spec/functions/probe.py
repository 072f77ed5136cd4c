"""A function that reports what Lambda allows. It is deployed only with the setting `probe`."""

from backend.spec.functions.model import Function

PROBE = Function(
    "Probe",
    "probe",
    "backend.entrypoints.probe.handler",
    "Reports which system calls, memory and disk functions have.",
    uses={},
    memory_mb=2048,
    timeout_seconds=60,
    storage_mb=2048,
)
