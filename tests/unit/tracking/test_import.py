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


_FUNCTION = """
import sys
import vitrine_mlflow.archive
assert "mlflow" not in sys.modules
"""


def _run(script: str) -> None:
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr


def test_importing_takes_under_50_ms_and_loads_no_mlflow() -> None:
    _run(_SCRIPT)


def test_the_function_of_the_archive_loads_no_mlflow() -> None:
    _run(_FUNCTION)
