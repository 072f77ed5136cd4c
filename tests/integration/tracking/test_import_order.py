"""Every module of the package can be the first that a process imports, before MLflow."""

import json
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).with_name("import_order.py")


def test_any_module_can_be_imported_before_mlflow() -> None:
    result = subprocess.run(
        [sys.executable, str(PROGRAM)], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert len(found["modules"]) > 80
    assert not found["faults"]
