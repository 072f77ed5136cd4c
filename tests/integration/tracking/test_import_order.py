"""Any module of the package can be the first that a process imports, before MLflow.

Each of those that load MLflow takes over a second: a few in CI, all in `make prove PART=mlflow`.
"""

import json
import subprocess
import sys
from pathlib import Path

from tests.amounts import amount

MODULES = amount("IMPORTED_MODULES")
PROGRAM = Path(__file__).with_name("import_order.py")


def test_any_module_can_be_imported_before_mlflow() -> None:
    result = subprocess.run(
        [sys.executable, str(PROGRAM), str(MODULES)], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    reply = json.loads(result.stdout)
    assert len(reply["modules"]) >= min(MODULES, 80)
    assert not reply["faults"]
