"""The engines of the local runtime: download, install, start, check health, stop.

`prepare_all`, `start_all` and `stop_all` take the names `opensearch`, `dynamodb`, `s3`, `queues`
(SQS), `states` (Step Functions) and `aws` (Secrets Manager, SNS, EventBridge, SSM and more, in
memory only).
"""

from local.engines.base import Options, Progress
from local.engines.engine import Engine
from local.engines.errors import EngineError
from local.engines.fleet import ENGINES, prepare_all, start_all, stop_all
from local.engines.ports import LOOPBACK, free_port, free_ports, is_free
from local.engines.process import Endpoint, Running, stop_leftovers

__all__ = [
    "ENGINES",
    "LOOPBACK",
    "Endpoint",
    "Engine",
    "EngineError",
    "Options",
    "Progress",
    "Running",
    "free_port",
    "free_ports",
    "is_free",
    "prepare_all",
    "start_all",
    "stop_all",
    "stop_leftovers",
]
