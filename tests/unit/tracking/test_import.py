"""The package is light to import: MLflow's plugins are found without loading MLflow."""

import subprocess
import sys

_SCRIPT = """
import sys, time
before = time.process_time()
import vitrine_mlflow
took = time.process_time() - before
import vitrine_mlflow.table
assert took < 0.05, f"{took:.3f} s"
loaded = [name for name in sys.modules if name.split(".")[0] in {"mlflow", "boto3", "flask"}]
assert not loaded, loaded
"""


def test_importing_takes_under_50_ms_and_loads_no_mlflow() -> None:
    result = subprocess.run(
        [sys.executable, "-c", _SCRIPT], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
