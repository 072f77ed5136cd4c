"""`make demo-tracking`: DynamoDB Local, a table in it, and the sample that trains a model on it."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import boto3
from vitrine_mlflow.table import create_request

from local.engines import Options, prepare_all, start_all, stop_all
from local.state import tools_folder

_ENGINE, _TABLE = "dynamodb", "demo"
_SAMPLE = Path(__file__).parents[1] / "samples" / "tracking" / "train.py"


def demo(say: Callable[[str], None]) -> int:
    """Run the sample; return its exit code. All its data is removed.

    Raises:
        EngineError: the engine cannot be downloaded or started.
    """
    prepare_all(tools_folder(), say, names=[_ENGINE])
    with tempfile.TemporaryDirectory(prefix="vitrine-tracking-") as name:
        folder = Path(name)
        running = start_all(tools_folder(), folder / "data", folder, say, names=[_ENGINE])
        try:
            return _train(running[_ENGINE].endpoint.url, folder)
        finally:
            stop_all(running)


def _train(url: str, folder: Path) -> int:
    options = Options()
    client = boto3.client(
        _ENGINE,
        endpoint_url=url,
        region_name=options.region,
        aws_access_key_id=options.access_key,
        aws_secret_access_key=options.secret_key,
    )
    client.create_table(**create_request(_TABLE))
    variables = {
        "AWS_ACCESS_KEY_ID": options.access_key,
        "AWS_SECRET_ACCESS_KEY": options.secret_key,
        "MLFLOW_TRACKING_URI": f"dynamodb://{_TABLE}?region={options.region}&endpoint={url}",
        "MLFLOW_DISABLE_TELEMETRY": "true",
    }
    command = [sys.executable, str(_SAMPLE), "--artifacts", (folder / "artifacts").as_uri()]
    return subprocess.run(command, env={**os.environ, **variables}, check=False).returncode
